// The path of one packet: locations, and the wait before each step.
import { useSignal } from "@preact/signals";
import type { Step, Walk } from "../engine/protocol.ts";
import type { Scene } from "../plots/timeline.ts";
import { duration } from "./timeline.tsx";

interface Props {
  flows: string[];
  walk: Walk | null;
  waits: boolean;
  follow(flow: string): void;
}

export function WalkTable({ flows, walk, waits, follow }: Props) {
  const chosen = useSignal(flows[0] ?? "");
  const flow = flows.includes(chosen.value) ? chosen.value : flows[0] ?? "";
  const steps = walk?.steps ?? [];
  return (
    <section class="card wide" aria-labelledby="walk-title">
      <h2 id="walk-title">Path of one packet</h2>
      <div class="buttons">
        <label for="walk-flow">Flow</label>
        <select id="walk-flow" value={flow} onChange={(event) => (chosen.value = event.currentTarget.value)}>
          {flows.map((one) => <option key={one} value={one}>{one}</option>)}
        </select>
        <button type="button" disabled={waits || !flow} onClick={() => follow(flow)}>{waits ? "…" : "Follow the packet that arrives at the centre of the view"}</button>
      </div>
      {walk && steps.length === 0 && <p class="faint">No packet of this flow arrives after that time.</p>}
      {walk && steps.length > 0 && (
        <div class="scroll" tabIndex={0} role="group" aria-label={`Steps of packet ${walk.seq}`}>
          <table data-walk={walk.seq}>
            <thead><tr><th scope="col" class="number">time</th><th scope="col" class="number">since previous</th><th scope="col">where</th><th scope="col">event</th></tr></thead>
            <tbody>
              {steps.map((step, n) => (
                <tr key={n}>
                  <td class="number">{(step.at_ns / 1e6).toFixed(3)} ms</td>
                  <td class="number">{n === 0 ? "" : duration(step.at_ns - steps[n - 1]!.at_ns)}</td>
                  <td>{where(step, walk)}</td>
                  <td>{what(step)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function where(step: Step, walk: Walk): string {
  switch (step.what) {
    case "created":
    case "delivered":
      return walk.flow;
    case "sent":
      return walk.wires[step.wire]![0];
    case "wire":
    case "received":
      return walk.wires[step.wire]![1];
    case "air":
      return walk.devices[step.device]!;
    case "dropped":
      return walk.places[step.place] ?? "";
  }
}

function what(step: Step): string {
  switch (step.what) {
    case "created":
      return `created by the sender: ${step.bytes} bytes`;
    case "sent":
      return step.segments > 1 ? `passed to the device, ${step.segments} segments (GSO)` : "passed to the device";
    case "wire":
      return "at the end of the wire";
    case "received":
      return "received by the host";
    case "delivered":
      return `delivered, delay ${duration(step.delay_ns)}`;
    case "dropped":
      return `dropped: ${step.reason}`;
    case "air": {
      const place = step.frames > 1 ? `, frame ${step.position + 1} of ${step.frames}` : "";
      const again = step.retry ? ", retry" : "";
      const end = step.collided ? "collided" : step.whole ? (step.acknowledged ? "received, acknowledged" : "received, acknowledgement lost") : "lost";
      return `on the air for ${duration(step.end_ns - step.at_ns)} at ${step.rate}${place}, sequence ${step.sequence}${again}: ${end}`;
    }
  }
}

// Exchanges on the timeline that contained the packet.
export function exchangesOf(walk: Walk | null, { exchanges }: Scene): Set<number> {
  const found = new Set<number>();
  for (const step of walk?.steps ?? []) {
    if (step.what !== "air") continue;
    const name = walk!.devices[step.device];
    exchanges.start_ns.forEach((start, n) => {
      if (start === step.at_ns && exchanges.interfaces[exchanges.from[n]!] === name) found.add(n);
    });
  }
  return found;
}

export function instantsOf(walk: Walk | null): number[] {
  return (walk?.steps ?? []).filter(({ what }) => what !== "air").map(({ at_ns }) => at_ns);
}
