// Results shown for a state, combined over its runs.
import type { FlowSeries, Result, Run, Slowest } from "../engine/protocol.ts";
import { mean, quantile } from "./quantile.ts";
import type { Tail } from "./tail.ts";

// A distribution of times in ms.
export interface Latency {
  name: string;
  // Station, for its colour; unset for traffic without a station.
  station: string | null;
  // "round trip", "one way", "call" or "page load".
  what: string;
  // Sorted samples, or percentiles 0 to 100 if there are too many samples to keep.
  ms: Float64Array;
  samples: number;
}

export interface Station {
  name: string;
  // One value per run.
  goodput: number[];
  share: number[];
}

export interface Outcome {
  // Virtual seconds shown, including the warm-up.
  seconds: number;
  whole: boolean;
  runs: Run[];
  latencies: Latency[];
  stations: Station[];
  // Goodput by flow, if there are no stations.
  flows: { name: string; goodput: number[] }[];
  total: number[];
  jain: number[];
  notes: string[];
  // Where the slowest packets waited, and the layers in path order. Filled in after the rest.
  tails?: Tail[];
  layers?: string[];
  // Slowest packet per flow.
  slowest?: Record<string, Slowest>;
  version: string;
  // Notes on the scenario.
  name: string;
}

export const p = (of: Latency, part: number): number => quantile(of.ms, part);

const natural = new Intl.Collator("en", { numeric: true });
export const byName = (a: { name: string }, b: { name: string }): number => natural.compare(a.name, b.name);

export function outcome(results: Result[], seconds: number, whole: boolean): Outcome {
  const runs = results.flatMap((result) => result.runs).sort((a, b) => a.run - b.run);
  const first = runs[0]!;
  const stations = Object.keys(first.stations).map((name) => ({
    name,
    goodput: runs.map((run) => run.stations[name]?.goodput_mbps ?? 0),
    share: runs.map((run) => run.stations[name]?.airtime_share ?? 0),
  }));
  const flows = Object.keys(first.flows ?? {}).map((name) => ({
    name,
    goodput: runs.map((run) => run.flows?.[name]?.goodput_mbps ?? 0),
  }));
  return {
    seconds,
    whole,
    runs,
    latencies: latencies(runs),
    stations: stations.sort(byName),
    flows: flows.sort(byName),
    total: runs.map((run) => run.goodput_total_mbps),
    jain: runs.map((run) => run.jain_airtime ?? NaN),
    notes: results[0]?.notes ?? [],
    version: results[0]?.version ?? "",
    name: results[0]?.scenario ?? "",
  };
}

function latencies(runs: Run[]): Latency[] {
  const first = runs[0]!.series;
  const found: Latency[] = [];
  first.flows.forEach((flow, at) => {
    const all = runs.map((run) => [run, run.series.flows[at]] as const);
    for (const [what, key] of [["round trip", "pings"], ["call", "voip"], ["page load", "loads"]] as const) {
      const ms = all.flatMap(([run, of]) => (of ? measured(run, of, key) : []));
      if (ms.length) add(found, flow, what, Float64Array.from(ms).sort(), ms.length);
    }
    // A call's packets have their own samples.
    const lists = all.flatMap(([, of]) => (of?.delay_percentiles_ns ? [of.delay_percentiles_ns] : []));
    if (lists.length && !flow.voip && !flow.loads) {
      const ms = Float64Array.from({ length: 101 }, (_, n) => mean(lists.map((list) => list[n]! / 1e6)));
      add(found, flow, "one way", ms, NaN);
    }
  });
  return found.sort((a, b) => a.what.localeCompare(b.what) || byName(a, b));
}

function add(found: Latency[], flow: FlowSeries, what: string, ms: Float64Array, samples: number): void {
  found.push({ name: flow.name, station: flow.station, what, ms, samples });
}

// Measured samples, in ms.
function measured({ series }: Run, flow: FlowSeries, key: "pings" | "voip" | "loads"): number[] {
  const end = series.duration_ns - series.cool_down_ns;
  return (flow[key] ?? []).filter(([at]) => at >= series.warm_up_ns && at < end).map(([, took]) => took / 1e6);
}

// Order of preference: round trips if there are pings, else the next available kind.
export const KINDS = ["round trip", "call", "page load", "one way"];
export function kinds(of: Outcome): string[] {
  return KINDS.filter((kind) => of.latencies.some(({ what }) => what === kind));
}
