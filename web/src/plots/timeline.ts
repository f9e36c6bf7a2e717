// The air as a canvas: one lane per radio, with its transmissions as boxes. An ACK is in the lane of its sender.
import type { Exchanges, QueueSeries } from "../engine/protocol.ts";
import { byName } from "../model/outcome.ts";
import { colour, token } from "./colours.ts";

export interface Span {
  from: number;
  to: number;
}

// Width for lane names.
export const LEFT = 132;
const LANE = 30;
const TOP = 26;
const QUEUE_HEIGHT = 110;
const GAP = 30;
// Time from a PPDU to its acknowledgement (SIFS).
// spec: 802.11 10.3.2.3 - 16 us at 5 GHz; at 2.4 GHz 10 us, after a signal extension of 6 us behind HT frames.
const SIFS_NS = 16_000;

export interface Scene {
  exchanges: Exchanges;
  // Interfaces from top to bottom.
  lanes: number[];
  // Index in `lanes` of each interface.
  row: number[];
  // Station number, for its colour; -1 for an access point.
  station: number[];
  // Running maximum of end times, to find where to start drawing.
  reach: Float64Array;
  order: Uint32Array;
  queues: { name: string; values: number[] }[];
  interval: number;
}

export function scene(exchanges: Exchanges, queues: QueueSeries[], interval: number): Scene {
  const names = exchanges.interfaces.map((name, at) => ({ name, at }));
  const aps = names.filter(({ at }) => exchanges.access_points[at]);
  const stations = names.filter(({ at }) => !exchanges.access_points[at]).sort(byName);
  const used = new Set<number>();
  exchanges.from.forEach((from, n) => {
    used.add(from);
    const to = exchanges.to[n];
    if (to !== null && to !== undefined) used.add(to);
  });
  const lanes = [...aps, ...stations].map(({ at }) => at).filter((at) => used.has(at));
  const row = exchanges.interfaces.map((_, at) => lanes.indexOf(at));
  const station = exchanges.interfaces.map((_, at) => stations.findIndex((one) => one.at === at));
  const order = Uint32Array.from(exchanges.start_ns.keys()).sort((a, b) => exchanges.start_ns[a]! - exchanges.start_ns[b]!);
  const reach = new Float64Array(order.length);
  let end = 0;
  order.forEach((n, at) => (reach[at] = end = Math.max(end, exchanges.end_ns[n]!)));
  const shown = queues
    .filter(({ layer }) => layer !== "wire")
    .map(({ interface: name, layer, bytes }) => ({ name: `${name} ${layer}`, values: bytes, most: bytes.reduce((a, b) => Math.max(a, b), 0) }))
    .filter(({ most }) => most > 0)
    .sort((a, b) => b.most - a.most)
    .slice(0, 6);
  return { exchanges, lanes, row, station, order, reach, queues: shown, interval };
}

export const height = ({ lanes, queues }: Scene): number => TOP + lanes.length * LANE + (queues.length ? GAP + QUEUE_HEIGHT : 0) + 10;

// First exchange in `order` that may overlap a span.
function first({ reach }: Scene, from: number): number {
  let [low, high] = [0, reach.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (reach[middle]! < from) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface Marks {
  hover: number | null;
  // Exchanges and other events of the followed packet.
  walk: Set<number>;
  instants: number[];
}

export function draw(canvas: HTMLCanvasElement, of: Scene, span: Span, marks: Marks): void {
  const ratio = devicePixelRatio || 1;
  const [width, tall] = [canvas.clientWidth, height(of)];
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(tall * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(tall * ratio);
  }
  const pen = canvas.getContext("2d")!;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, tall);
  pen.font = "12px system-ui, sans-serif";
  const x = (ns: number) => LEFT + ((ns - span.from) / (span.to - span.from)) * (width - LEFT);
  grid(pen, of, span, x, width);
  pen.save();
  pen.beginPath();
  pen.rect(LEFT, 0, width - LEFT, tall);
  pen.clip();
  boxes(pen, of, span, x, marks);
  instants(pen, of, x, marks);
  pen.restore();
  if (of.queues.length) queues(pen, of, span, x, width);
}

const y = (row: number): number => TOP + row * LANE;

function grid(pen: CanvasRenderingContext2D, of: Scene, span: Span, x: (ns: number) => number, width: number): void {
  const [ink, faint, line] = [token("ink"), token("faint"), token("line")];
  const step = tick((span.to - span.from) / Math.max(2, (width - LEFT) / 110));
  pen.textBaseline = "middle";
  pen.textAlign = "center";
  for (let ns = Math.ceil(span.from / step) * step; ns <= span.to; ns += step) {
    pen.fillStyle = line;
    pen.fillRect(Math.round(x(ns)), TOP - 6, 1, height(of) - TOP);
    pen.fillStyle = faint;
    pen.fillText(instant(ns, step), Math.min(width - 30, Math.max(LEFT + 30, x(ns))), 11);
  }
  pen.textAlign = "right";
  of.lanes.forEach((at, row) => {
    pen.fillStyle = line;
    pen.fillRect(0, y(row) + LANE - 1, width, 1);
    pen.fillStyle = ink;
    pen.fillText(fitted(pen, of.exchanges.interfaces[at]!), LEFT - 10, y(row) + LANE / 2 - 1);
  });
}

function fitted(pen: CanvasRenderingContext2D, name: string): string {
  let text = name;
  while (text.length > 3 && pen.measureText(text).width > LEFT - 14) text = `${text.slice(0, -2)}…`;
  return text;
}

// 1, 2 or 5 times a power of ten.
function tick(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= least)!;
}

export function instant(ns: number, step: number): string {
  if (step >= 1e9) return `${(ns / 1e9).toFixed(0)} s`;
  if (step >= 1e6) return `${(ns / 1e9).toFixed(step >= 1e8 ? 1 : step >= 1e7 ? 2 : 3)} s`;
  return `${(ns / 1e6).toFixed(step >= 1e5 ? 1 : step >= 1e4 ? 2 : 3)} ms`;
}

export function fill(of: Scene, n: number): string {
  const { kind, from, to } = of.exchanges;
  if (kind[n] === "beacon") return token("beacon");
  if (kind[n] === "bar" || kind[n] === "management") return token("control");
  const whose = of.station[from[n]!]! >= 0 ? of.station[from[n]!]! : of.station[to[n] ?? -1] ?? -1;
  return whose >= 0 ? colour(whose) : token("faint");
}

function boxes(pen: CanvasRenderingContext2D, of: Scene, span: Span, x: (ns: number) => number, marks: Marks): void {
  const { start_ns, airtime_ns, end_ns, from, to, frames, received, attempt, collided, acknowledged, kind } = of.exchanges;
  const [ack, wrong, ink, paper] = [token("ack"), token("collided"), token("ink"), token("paper")];
  const tall = LANE - 9;
  const walking = marks.walk.size > 0;
  pen.textAlign = "center";
  // Boxes narrower than a pixel are drawn once per pixel and lane.
  const last = new Int32Array(of.lanes.length).fill(-1);
  for (let at = first(of, span.from); at < of.order.length; at++) {
    const n = of.order[at]!;
    const start = start_ns[n]!;
    if (start > span.to) break;
    const row = of.row[from[n]!]!;
    const [left, right] = [x(start), x(start + airtime_ns[n]!)];
    const thin = right - left < 1;
    if (thin && Math.floor(left) === last[row] && !collided[n] && !marks.walk.has(n)) continue;
    last[row] = Math.floor(left);
    const top = y(row) + 4;
    const wide = Math.max(1, right - left);
    pen.globalAlpha = walking && !marks.walk.has(n) ? 0.25 : 1;
    pen.fillStyle = fill(of, n);
    pen.fillRect(left, top, wide, tall);
    if (collided[n]) hatched(pen, left, top, wide, tall, wrong);
    else if (attempt[n]! > 0 && wide > 4) outlined(pen, left, top, wide, tall, ink);
    if (n === marks.hover || marks.walk.has(n)) outlined(pen, left - 1, top - 1, wide + 2, tall + 2, ink, 2);
    if (wide > 34 && (kind[n] === "aggregate" || kind[n] === "single")) {
      const some = received[n] === frames[n] ? `${frames[n]}` : `${received[n]}/${frames[n]}`;
      const again = attempt[n]! > 0 ? ` r${attempt[n]}` : "";
      pen.fillStyle = paper;
      pen.fillText(`${some}${again}`, left + wide / 2, top + tall / 2 + 1);
    }
    // The acknowledgement, in the receiver's lane.
    const receiver = to[n];
    const begin = start + airtime_ns[n]! + SIFS_NS;
    if (acknowledged[n] && receiver !== null && receiver !== undefined && begin < end_ns[n]!) {
      const [a, b] = [x(begin), x(end_ns[n]!)];
      if (b - a > 0.4) {
        pen.fillStyle = ack;
        pen.fillRect(a, y(of.row[receiver]!) + 8, Math.max(1, b - a), tall - 8);
      }
    }
  }
  pen.globalAlpha = 1;
}

function hatched(pen: CanvasRenderingContext2D, left: number, top: number, wide: number, tall: number, ink: string): void {
  pen.save();
  pen.beginPath();
  pen.rect(left, top, wide, tall);
  pen.clip();
  pen.strokeStyle = ink;
  pen.lineWidth = 1.5;
  pen.beginPath();
  const begin = Math.max(left - tall, -tall);
  for (let at = begin; at < Math.min(left + wide, 8000); at += 6) {
    pen.moveTo(at, top + tall);
    pen.lineTo(at + tall, top);
  }
  pen.stroke();
  pen.restore();
  outlined(pen, left, top, wide, tall, ink);
}

function outlined(pen: CanvasRenderingContext2D, left: number, top: number, wide: number, tall: number, ink: string, line = 1.2): void {
  pen.strokeStyle = ink;
  pen.lineWidth = line;
  pen.strokeRect(left, top, wide, tall);
}

function instants(pen: CanvasRenderingContext2D, of: Scene, x: (ns: number) => number, { instants: all }: Marks): void {
  pen.fillStyle = token("link");
  for (const ns of all) pen.fillRect(Math.round(x(ns)) - 0.5, TOP - 4, 1.5, of.lanes.length * LANE + 4);
}

function queues(pen: CanvasRenderingContext2D, of: Scene, span: Span, x: (ns: number) => number, width: number): void {
  const [ink, faint, line] = [token("ink"), token("faint"), token("line")];
  const bottom = TOP + of.lanes.length * LANE + GAP + QUEUE_HEIGHT;
  const [firstSample, lastSample] = [Math.max(0, Math.floor(span.from / of.interval) - 1), Math.ceil(span.to / of.interval) + 1];
  const most = Math.max(1, ...of.queues.map(({ values }) => values.slice(firstSample, lastSample).reduce((a, b) => Math.max(a, b), 0)));
  pen.textAlign = "right";
  pen.fillStyle = ink;
  pen.fillText("waiting", LEFT - 10, bottom - QUEUE_HEIGHT + 6);
  pen.fillStyle = faint;
  pen.fillText(most >= 1e6 ? `${(most / 1e6).toFixed(1)} MB` : `${(most / 1e3).toFixed(most < 1e4 ? 1 : 0)} kB`, LEFT - 10, bottom - QUEUE_HEIGHT + 24);
  pen.fillText("0", LEFT - 10, bottom - 4);
  pen.fillStyle = line;
  pen.fillRect(LEFT, bottom, width - LEFT, 1);
  pen.save();
  pen.beginPath();
  pen.rect(LEFT, bottom - QUEUE_HEIGHT - 4, width - LEFT, QUEUE_HEIGHT + 6);
  pen.clip();
  of.queues.forEach(({ values }, number) => {
    pen.strokeStyle = colour(number);
    pen.lineWidth = 1.8;
    pen.beginPath();
    for (let n = firstSample; n < Math.min(lastSample, values.length); n++) {
      const at = [x((n + 1) * of.interval), bottom - (values[n]! / most) * (QUEUE_HEIGHT - 6)] as const;
      if (n === firstSample) pen.moveTo(...at);
      else pen.lineTo(...at);
    }
    pen.stroke();
  });
  pen.restore();
}

// The exchange at a point of the canvas.
export function hit(of: Scene, span: Span, width: number, px: number, py: number): number | null {
  const row = Math.floor((py - TOP) / LANE);
  const near = ((span.to - span.from) / (width - LEFT)) * 4;
  const ns = span.from + ((px - LEFT) / (width - LEFT)) * (span.to - span.from);
  const { start_ns, airtime_ns, end_ns, from, to } = of.exchanges;
  let best: number | null = null;
  for (let at = first(of, ns - near); at < of.order.length; at++) {
    const n = of.order[at]!;
    if (start_ns[n]! > ns + near) break;
    const sent = of.row[from[n]!] === row && ns <= start_ns[n]! + airtime_ns[n]! + near;
    const answered = of.row[to[n] ?? -1] === row && ns >= start_ns[n]! + airtime_ns[n]! - near && ns <= end_ns[n]! + near;
    if (sent || answered) best = n;
  }
  return best;
}
