// The timeline canvas with its controls: wheel, drag, pinch, keys and buttons.
import type { Signal } from "@preact/signals";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { LEFT, type Scene, type Span, draw, height, hit } from "../plots/timeline.ts";
import { theme } from "./theme.tsx";

// Minimum span: a little more than an 802.11 slot at 5 GHz.
const LEAST_NS = 9_000;

interface Props {
  scene: Scene;
  span: Signal<Span>;
  walk: Set<number>;
  instants: number[];
}

export function Timeline({ scene, span, walk, instants }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const hover = useSignal<number | null>(null);
  const width = useSignal(0);
  const pointers = useRef(new Map<number, number>());
  const { from_ns, until_ns } = scene.exchanges;
  const put = ({ from, to }: Span) => {
    const wide = Math.min(Math.max(LEAST_NS, to - from), until_ns - from_ns);
    const left = Math.min(Math.max(from_ns, from), until_ns - wide);
    span.value = { from: left, to: left + wide };
  };
  const zoom = (times: number, part = 0.5) => {
    const { from, to } = span.value;
    const wide = Math.min(Math.max(LEAST_NS, (to - from) * times), until_ns - from_ns);
    const at = from + (to - from) * part;
    put({ from: at - wide * part, to: at + wide * (1 - part) });
  };
  const pan = (part: number) => {
    const { from, to } = span.value;
    const by = (to - from) * part;
    put({ from: from + by, to: to + by });
  };

  useEffect(() => {
    const at = canvas.current!;
    const sized = new ResizeObserver(() => (width.value = at.clientWidth));
    sized.observe(at);
    const wheel = (event: WheelEvent) => {
      event.preventDefault();
      const box = at.getBoundingClientRect();
      if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return pan((event.deltaX || event.deltaY) / 1200);
      zoom(1.0016 ** event.deltaY, Math.max(0, (event.clientX - box.left - LEFT) / (box.width - LEFT)));
    };
    at.addEventListener("wheel", wheel, { passive: false });
    return () => {
      sized.disconnect();
      at.removeEventListener("wheel", wheel);
    };
  }, [scene]);

  const { from, to } = span.value;
  useEffect(() => {
    const drawn = requestAnimationFrame(() => draw(canvas.current!, scene, { from, to }, { hover: hover.value, walk, instants }));
    return () => cancelAnimationFrame(drawn);
  }, [scene, from, to, hover.value, width.value, theme.value, walk, instants]);

  const key = (event: KeyboardEvent) => {
    const moves: Record<string, () => void> = {
      ArrowLeft: () => pan(-0.2),
      ArrowRight: () => pan(0.2),
      "+": () => zoom(0.5),
      "=": () => zoom(0.5),
      "-": () => zoom(2),
      Home: () => put({ from: from_ns, to: until_ns }),
      n: () => next(1),
      p: () => next(-1),
    };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    move();
  };
  // Centres the next or the previous exchange.
  const next = (by: number) => {
    const { order, exchanges } = scene;
    const middle = (from + to) / 2;
    const now = hover.value === null ? order.findIndex((n) => exchanges.start_ns[n]! >= middle) - by : order.indexOf(hover.value);
    const n = order[Math.min(order.length - 1, Math.max(0, now + by))];
    if (n === undefined) return;
    hover.value = n;
    const at = exchanges.start_ns[n]! + exchanges.airtime_ns[n]! / 2;
    if (at < from || at > to) put({ from: at - (to - from) / 2, to: at + (to - from) / 2 });
  };
  const move = (event: PointerEvent) => {
    const box = canvas.current!.getBoundingClientRect();
    const all = pointers.current;
    const before = all.get(event.pointerId);
    if (before === undefined) {
      hover.value = hit(scene, span.value, box.width, event.clientX - box.left, event.clientY - box.top);
      return;
    }
    if (all.size === 2) {
      const [a, b] = [...all.values()] as [number, number];
      all.set(event.pointerId, event.clientX);
      const [c, d] = [...all.values()] as [number, number];
      if (Math.abs(c - d) > 4) zoom(Math.abs(a - b) / Math.abs(c - d), Math.max(0, ((c + d) / 2 - box.left - LEFT) / (box.width - LEFT)));
      return;
    }
    all.set(event.pointerId, event.clientX);
    pan((before - event.clientX) / (box.width - LEFT));
  };
  const release = (event: PointerEvent) => pointers.current.delete(event.pointerId);

  return (
    <>
      <div class="buttons">
        <button type="button" onClick={() => zoom(0.5)}>Zoom in</button>
        <button type="button" onClick={() => zoom(2)}>Zoom out</button>
        <button type="button" onClick={() => put({ from: from_ns, to: until_ns })}>All</button>
        <button type="button" onClick={() => pan(-0.5)} aria-label="Earlier">◀</button>
        <button type="button" onClick={() => pan(0.5)} aria-label="Later">▶</button>
        <button type="button" onClick={() => next(-1)}>Previous frame</button>
        <button type="button" onClick={() => next(1)}>Next frame</button>
        <span class="faint small" data-span={to - from}>{duration(to - from)} shown</span>
      </div>
      <canvas
        ref={canvas}
        class="timeline"
        style={{ height: `${height(scene)}px` }}
        tabIndex={0}
        role="application"
        aria-label="Transmissions over time. Arrow keys move, plus and minus zoom, n and p select the next and the previous frame, Home shows all."
        onKeyDown={key}
        onPointerDown={(event) => {
          event.currentTarget.setPointerCapture(event.pointerId);
          pointers.current.set(event.pointerId, event.clientX);
          const box = event.currentTarget.getBoundingClientRect();
          hover.value = hit(scene, span.value, box.width, event.clientX - box.left, event.clientY - box.top);
        }}
        onPointerMove={move}
        onPointerUp={release}
        onPointerCancel={release}
      />
      <p class="told" role="status">{hover.value === null ? "Point at a frame or press n to show its details. Scroll to zoom, drag to move." : words(scene, hover.value)}</p>
    </>
  );
}

export function duration(ns: number): string {
  const [size, unit] = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : [1e3, "µs"];
  return `${+(ns / size).toPrecision(4)} ${unit}`;
}

const KINDS: Record<string, string> = { single: "a frame", aggregate: "an A-MPDU", bar: "a Block Ack request", management: "a management frame", beacon: "a beacon", group: "a group-addressed frame" };

export function words({ exchanges: e }: Scene, n: number): string {
  const to = e.to[n];
  const aggregate = e.kind[n] === "aggregate" ? ` of ${e.frames[n]} frames (${e.received[n]} received)` : "";
  const again = e.attempt[n]! > 0 ? `, retry ${e.attempt[n]}` : "";
  const end = e.collided[n] ? "collided" : e.acknowledged[n] ? "acknowledged" : e.kind[n] === "beacon" || e.kind[n] === "group" ? "not acknowledged by design" : "no acknowledgement";
  const whom = to === null || to === undefined ? "all stations" : e.interfaces[to];
  return `${(e.start_ns[n]! / 1e6).toFixed(3)} ms: ${KINDS[e.kind[n]!] ?? e.kind[n]}${aggregate} from ${e.interfaces[e.from[n]!]} to ${whom}, ${e.ac[n]}, ${(e.rate_bps[n]! / 1e6).toFixed(1)} Mbit/s, ${duration(e.airtime_ns[n]!)} on the air${again}; ${end}.`;
}
