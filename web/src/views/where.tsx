// Where the slowest packets waited: by layer and cause.
import type { Slowest } from "../engine/protocol.ts";
import type { Outcome } from "../model/outcome.ts";
import { byLayer } from "../model/tail.ts";
import { Change, figure } from "../plots/bars.tsx";
import { colour } from "../plots/colours.ts";
import { duration } from "./timeline.tsx";

// Maximum number of flows shown, slowest first.
const MOST = 8;

// A packet in a layer, with the concurrent activity, longest first.
const meanwhile = (causes: Record<string, number>) =>
  Object.entries(causes).sort(([, a], [, b]) => b - a).map(([cause, ns]) => `${cause} ${duration(ns)}`).join(", ");

function SlowestPacket({ flow, packet }: { flow: string; packet: Slowest }) {
  return (
    <details>
      <summary>The slowest packet of {flow}, step by step</summary>
      <div class="scroll" tabIndex={0} role="group" aria-label={`Path of the slowest packet of ${flow}`}>
        <table data-slowest={packet.delay_ns}>
          <thead><tr><th scope="col" class="number">from</th><th scope="col" class="number">for</th><th scope="col">layer</th><th scope="col">at</th><th scope="col">cause</th></tr></thead>
          <tbody>
            {packet.steps.map((step) => (
              <tr key={`${step.from_ns} ${step.layer}`}>
                <td class="number">{(step.from_ns / 1e6).toFixed(3)} ms</td>
                <td class="number">{duration(step.until_ns - step.from_ns)}</td>
                <td>{step.layer}</td>
                <td>{step.interface}</td>
                <td>{meanwhile(step.causes_ns)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <p class="faint small">Delay {duration(packet.delay_ns)}, not including the time in the socket.</p>
    </details>
  );
}

export function Where({ now, before }: { now: Outcome; before: Outcome | null }) {
  const { tails, layers, slowest } = now;
  if (!tails?.length || !layers) return null;
  const shown = [...tails].sort((a, b) => b.ms - a.ms).slice(0, MOST);
  const most = Math.max(...shown.map(({ ms }) => ms), ...shown.map(({ name }) => before?.tails?.find((one) => one.name === name)?.ms ?? 0));
  const used = layers.filter((layer) => shown.some((one) => one.parts.some((part) => part.layer === layer)));
  return (
    <section class="card wide" aria-labelledby="where-title">
      <h2 id="where-title">Where the slowest 1 % of packets waited</h2>
      <ul class="bars" aria-label="Mean delay of the slowest 1 % of each flow's packets">
        {shown.map((tail) => {
          const was = before?.tails?.find(({ name }) => name === tail.name)?.ms;
          return (
            <li key={tail.name}>
              <span class="bar-name" title={tail.name}>{tail.name}</span>
              <span class="bar-track stacked" aria-hidden="true">
                {byLayer(tail, layers).map(({ layer, ms }) => (
                  <i key={layer} style={{ width: `${(100 * ms) / most}%`, background: colour(layers.indexOf(layer)) }} />
                ))}
                {was !== undefined && <b class="bar-mark" style={{ left: `calc(${(100 * was) / most}% - 2px)` }} />}
              </span>
              <span class="bar-value">{figure(tail.ms)} <small>ms</small> <Change now={tail.ms} before={was} /></span>
            </li>
          );
        })}
      </ul>
      <ul class="legend">
        {used.map((layer) => <li key={layer}><i class="box" style={{ background: colour(layers.indexOf(layer)) }} /> {layer}</li>)}
        {shown.some(({ name }) => before?.tails?.some((one) => one.name === name)) && <li><b class="bar-mark key" /> before</li>}
      </ul>
      {slowest?.[shown[0]!.name] && <SlowestPacket flow={shown[0]!.name} packet={slowest[shown[0]!.name]!} />}
      <details>
        <summary>Causes by layer</summary>
        <div class="scroll" tabIndex={0} role="group" aria-label="Table of layers and causes">
          <table>
            <thead><tr><th scope="col">flow</th><th scope="col">layer</th><th scope="col" class="number">ms</th><th scope="col">cause</th></tr></thead>
            <tbody>
              {shown.flatMap((tail) => byLayer(tail, layers).map(({ layer, ms, causes }) => (
                <tr key={`${tail.name} ${layer}`}>
                  <td>{tail.name}</td>
                  <td>{layer}</td>
                  <td class="number">{figure(ms)}</td>
                  <td>{causes.map((part) => `${part.cause} ${((100 * part.ms) / ms).toFixed(0)} %`).join(", ")}</td>
                </tr>
              )))}
            </tbody>
          </table>
        </div>
        <p class="faint small">First repetition only. docs/sojourn.md defines layers and causes: 'own' is the same flow, 'station' the same station, 'others' other stations.</p>
      </details>
    </section>
  );
}
