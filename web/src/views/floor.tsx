// Floor plan of nodes with a `position` (in metres), which can be dragged or moved with the arrow keys.
import { useSignal } from "@preact/signals";
import type { Survey } from "../engine/protocol.ts";
import { change, state } from "../model/app.ts";
import { part } from "../model/document.ts";
import { withSet } from "../model/state.ts";

const WIDTH = 600;
const HEIGHT = 320;

export function FloorPlan({ survey }: { survey: Survey }) {
  const placed = survey.nodes.filter(({ position_m }) => position_m && position_m.length >= 2);
  const held = useSignal<{ name: string; at: [number, number]; frame: Frame } | null>(null);
  if (placed.length < 2) return null;
  const frame = held.value?.frame ?? around(placed.map(({ position_m }) => position_m as [number, number]));
  const at = (name: string, position: number[]): [number, number] => (held.value?.name === name ? held.value.at : (position as [number, number]));
  const put = (name: string, [x, y]: [number, number]) => {
    const text = [x, y].map((m) => `${Math.round(m * 10) / 10} m`).join(", ");
    change(withSet(state.value, { [`node.${part(name)}.position`]: text }));
  };
  const step = (event: KeyboardEvent, name: string, [x, y]: [number, number]) => {
    const by = event.shiftKey ? 10 : 1;
    const moves: Record<string, [number, number]> = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] };
    const move = moves[event.key];
    if (!move) return;
    event.preventDefault();
    put(name, [x + move[0], y + move[1]]);
  };
  const point = (event: PointerEvent): [number, number] => {
    const box = (event.currentTarget as Element).closest("svg")!.getBoundingClientRect();
    return frame.back([((event.clientX - box.left) / box.width) * WIDTH, ((event.clientY - box.top) / box.height) * HEIGHT]);
  };
  return (
    <section class="card" aria-labelledby="floor-title">
      <h2 id="floor-title">Floor plan</h2>
      <svg class="floor" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="group" aria-label="Floor plan with movable nodes">
        {placed.map(({ name, position_m, interfaces }) => {
          const here = at(name, position_m!);
          const [x, y] = frame.to(here);
          const access = interfaces.some(({ kind }) => kind === "ap");
          return (
            <g
              key={name}
              class={`node ${access ? "access" : ""}`}
              transform={`translate(${x} ${y})`}
              tabIndex={0}
              role="button"
              aria-label={`${name} at ${here.map((m) => m.toFixed(1)).join(", ")} m; arrow keys move it`}
              onKeyDown={(event) => step(event, name, here)}
              onPointerDown={(event) => {
                event.currentTarget.setPointerCapture(event.pointerId);
                held.value = { name, at: here, frame };
              }}
              onPointerMove={(event) => {
                if (held.value?.name !== name) return;
                const to = point(event);
                held.value = { name, at: to, frame };
                put(name, to);
              }}
              onPointerUp={() => (held.value = null)}
              onPointerCancel={() => (held.value = null)}
            >
              <circle r={access ? 13 : 10} />
              <text y={28} text-anchor="middle">{name}</text>
            </g>
          );
        })}
        <path class="scale" d={`M 16 ${HEIGHT - 14} h ${frame.metre * frame.ten}`} />
        <text x={16} y={HEIGHT - 20}>{frame.ten} m</text>
      </svg>
      <p class="faint small">Drag a node, or select it with Tab and move it with the arrow keys (10 m with Shift).</p>
    </section>
  );
}

interface Frame {
  // SVG units per metre, and a round number of metres for the scale.
  metre: number;
  ten: number;
  to(position: number[]): [number, number];
  back(point: [number, number]): [number, number];
}

function around(all: [number, number][]): Frame {
  const [xs, ys] = [all.map(([x]) => x), all.map(([, y]) => y)];
  const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
  const metre = Math.min((WIDTH - 140) / Math.max(10, right - left), (HEIGHT - 110) / Math.max(10, bottom - top));
  const [cx, cy] = [(left + right) / 2, (top + bottom) / 2];
  const ten = 10 ** Math.floor(Math.log10(WIDTH / 3 / metre));
  return {
    metre,
    ten,
    to: (position) => [WIDTH / 2 + (position[0]! - cx) * metre, HEIGHT / 2 + (position[1]! - cy) * metre],
    back: ([x, y]) => [cx + (x - WIDTH / 2) / metre, cy + (y - HEIGHT / 2) / metre],
  };
}
