// Explore: effect of a setting on latency, goodput and airtime, compared with the previous setting.
import { useSignal } from "@preact/signals";
import { found, ghost, state, survey } from "../model/app.ts";
import { type Latency, type Outcome, kinds, p } from "../model/outcome.ts";
import { mean } from "../model/quantile.ts";
import { type Bar, Bars, Change, figure } from "../plots/bars.tsx";
import { Cdf, type Line } from "../plots/cdf.tsx";
import { colour } from "../plots/colours.ts";
import { FloorPlan } from "./floor.tsx";
import { theme } from "./theme.tsx";
import { Where } from "./where.tsx";

// Maximum number of lines in a plot; the slowest flows are shown.
const MOST_LINES = 8;

export function Explore() {
  const now = found.value;
  if (!now) return <p class="faint waiting">Running …</p>;
  const before = ghost.value?.outcome ?? null;
  return (
    <div class="cards">
      <Figures now={now} before={before} />
      <LatencyCard now={now} before={before} />
      <Where now={now} before={before} />
      <Goodput now={now} before={before} />
      <Airtime now={now} before={before} />
      {survey.value && <FloorPlan survey={survey.value[1]} />}
      <Losses now={now} />
    </div>
  );
}

// Percentiles overall: the maximum over the flows of the selected kind.
function worst(of: Outcome | null, kind: string, part: number): number {
  const all = (of?.latencies ?? []).filter(({ what }) => what === kind).map((one) => p(one, part));
  return all.length ? Math.max(...all) : NaN;
}

function Figures({ now, before }: { now: Outcome; before: Outcome | null }) {
  const kind = kinds(now)[0] ?? "";
  const jain = now.jain.filter(Number.isFinite);
  const tiles: [title: string, value: number, unit: string, before: number, about: string][] = [
    ["Goodput", mean(now.total), "Mbit/s", mean(before?.total ?? []), "total of all flows"],
    ["Median latency", worst(now, kind, 0.5), "ms", worst(before, kind, 0.5), `slowest flow, ${kind}`],
    ["99th percentile", worst(now, kind, 0.99), "ms", worst(before, kind, 0.99), `slowest flow, ${kind}`],
  ];
  if (jain.length) tiles.push(["Airtime fairness", mean(jain), "", mean(before?.jain.filter(Number.isFinite) ?? []), "Jain's index of the stations' airtime (1: equal shares)"]);
  return (
    <div class="tiles">
      {tiles.filter(([, value]) => Number.isFinite(value)).map(([title, value, unit, was, about]) => (
        <div class="tile" key={title} title={about}>
          <span>{title}</span>
          <b data-figure={title}>{figure(value)} <small>{unit}</small></b>
          <Change now={value} before={Number.isFinite(was) ? was : undefined} />
        </div>
      ))}
    </div>
  );
}

function LatencyCard({ now, before }: { now: Outcome; before: Outcome | null }) {
  const chosen = useSignal("");
  const all = kinds(now);
  const kind = all.includes(chosen.value) ? chosen.value : all[0];
  if (!kind) return <section class="card wide"><h2>Latency</h2><p class="faint">This scenario has no latency samples: no pings, calls or page loads, and no delivered packets.</p></section>;
  const shown = now.latencies.filter(({ what }) => what === kind);
  const slowest = [...shown].sort((a, b) => p(b, 0.99) - p(a, 0.99)).slice(0, MOST_LINES);
  const drawn = shown.filter((one) => slowest.includes(one));
  const number = (one: Latency) => numberOf(now, one, shown);
  const was = (one: Latency) => before?.latencies.find(({ name, what }) => name === one.name && what === kind);
  const ghosts = drawn.flatMap((one): Line[] => {
    const old = was(one);
    return old ? [{ latency: old, number: number(one), ghost: true }] : [];
  });
  const bars = shown.map((one): Bar => ({ name: one.name, value: p(one, 0.99), ghost: was(one) && p(was(one)!, 0.99), colour: colour(number(one)) }));
  return (
    <section class="card wide" aria-labelledby="latency-title">
      <div class="card-head">
        <h2 id="latency-title">Latency</h2>
        {all.length > 1 && (
          <span class="segments" role="group" aria-label="Kind of latency">
            {all.map((one) => <button type="button" key={one} aria-pressed={one === kind} onClick={() => (chosen.value = one)}>{one}</button>)}
          </span>
        )}
      </div>
      <div class="halves">
        <figure>
          <Cdf lines={[...ghosts, ...drawn.map((latency) => ({ latency, number: number(latency), ghost: false }))]} theme={theme.value} />
          <figcaption>
            Cumulative share of {kind === "one way" ? "packets" : "samples"} in %; logarithmic time axis.
            {ghosts.length > 0 && " Wide, pale lines: previous setting."}
            {drawn.length < shown.length && ` Showing the ${drawn.length} slowest of ${shown.length}.`}
          </figcaption>
        </figure>
        <div>
          <h3>99th percentile, {kind}</h3>
          <Bars bars={bars} unit="ms" label={`99th percentile by flow, ${kind}`} />
        </div>
      </div>
    </section>
  );
}

function numberOf(now: Outcome, of: Latency, shown: Latency[]): number {
  const at = now.stations.findIndex(({ name }) => name === of.station);
  return at >= 0 ? at : now.stations.length + shown.indexOf(of);
}

const spread = (values: number[]): [number, number] => [Math.min(...values), Math.max(...values)];

function Goodput({ now, before }: { now: Outcome; before: Outcome | null }) {
  const perStation = now.stations.length > 0;
  const rows = perStation ? now.stations : now.flows;
  const old = perStation ? before?.stations : before?.flows;
  const bars = rows.map(({ name, goodput }, n): Bar => {
    const was = old?.find((one) => one.name === name);
    return { name, value: mean(goodput), range: spread(goodput), ghost: was && mean(was.goodput), colour: colour(n) };
  });
  return (
    <section class="card" aria-labelledby="goodput-title">
      <h2 id="goodput-title">Goodput</h2>
      <Bars bars={bars} unit="Mbit/s" label={`Goodput by ${perStation ? "station" : "flow"}`} />
    </section>
  );
}

function Airtime({ now, before }: { now: Outcome; before: Outcome | null }) {
  if (!now.stations.some(({ share }) => share.some((one) => one > 0))) return null;
  const bars = now.stations.map(({ name, share }, n): Bar => {
    const was = before?.stations.find((one) => one.name === name);
    const [low, high] = spread(share);
    return { name, value: 100 * mean(share), range: [100 * low, 100 * high], ghost: was && 100 * mean(was.share), colour: colour(n) };
  });
  return (
    <section class="card" aria-labelledby="airtime-title">
      <h2 id="airtime-title">Airtime</h2>
      <Bars bars={bars} unit="%" most={100} label="Airtime by station" />
      <Uses now={now} />
    </section>
  );
}

const USES: [key: string, label: string][] = [
  ["data_us", "data"],
  ["ack_us", "acknowledgements"],
  ["contention_us", "contention"],
  ["collision_us", "collisions"],
  ["protection_us", "RTS/CTS"],
  ["management_us", "management"],
  ["overlap_us", "overlapping frames"],
  ["neighbour_us", "neighbours"],
  ["noise_us", "interference"],
  ["beacon_us", "beacons"],
  ["idle_us", "idle"],
];

function Uses({ now }: { now: Outcome }) {
  return (
    <>
      {Object.entries(now.runs[0]!.air).map(([channel, uses]) => {
        const parts = USES.map(([key, label]) => [label, uses[key] ?? 0] as const);
        const total = parts.reduce((sum, [, us]) => sum + us, 0);
        const text = parts.filter(([, us]) => us > 0.0005 * total).map(([label, us]) => `${label} ${((100 * us) / total).toFixed(1)} %`);
        return <p class="faint small" key={channel}>Channel {channel}: {text.join(", ")}.</p>;
      })}
    </>
  );
}

function Losses({ now }: { now: Outcome }) {
  const rows = now.runs[0]!.drops;
  return (
    <section class="card" aria-labelledby="drops-title">
      <h2 id="drops-title">Dropped packets</h2>
      {rows.length === 0 ? <p class="faint">None.</p> : (
        <div class="scroll" tabIndex={0} role="group" aria-label="Table of dropped packets">
          <table>
            <thead><tr><th scope="col">where</th><th scope="col">why</th><th scope="col" class="number">packets</th></tr></thead>
            <tbody>
              {rows.map(({ place, reason, packets }) => (
                <tr key={`${place} ${reason}`}><td>{place}</td><td>{reason}</td><td class="number">{packets}</td></tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {state.value.runs > 1 && <p class="faint small">First repetition only.</p>}
    </section>
  );
}
