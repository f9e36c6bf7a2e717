// Samples that are not per step: those of the Flent test for the scenario, and of TCP senders.
import type { FlowSeries, Run, Series } from "../engine/protocol.ts";
import type { File } from "./flent_file.ts";
import { type Values, end, jain, mean } from "./steps.ts";

export type Taken = [t: number, value: number];

// Intervals longer or shorter than the usual one by this factor are discarded, as in Flent's netperf runner.
const OUTLIER = 10;
// Weight of the last interval in the usual length.
const SMOOTHING = 0.5;

// netperf's output for a TCP flow: Mbit/s since its previous line; it prints a line when there is progress.
export function throughput(series: Series, { bytes = [] }: FlowSeries): Taken[] {
  const samples: Taken[] = [];
  const { test } = series;
  const ends = test ? test.delay_ns + test.length_ns : series.duration_ns;
  let usual: number | null = null;
  let [since, begun] = [0, false];
  bytes.forEach((count, step) => {
    const until = end(series, step);
    // netperf runs only during its load.
    if (!begun && until > (test?.delay_ns ?? 0)) [begun, since] = [true, step * series.step_ns];
    if (!count || !begun || step * series.step_ns >= ends) return;
    const length = until - since;
    if (usual === null || (length / OUTLIER <= usual && usual <= length * OUTLIER)) {
      const first = Math.floor(since / series.step_ns);
      const moved = bytes.reduce((sum, one, at) => (first <= at && end(series, at) <= until ? sum + one : sum), 0);
      samples.push([until / 1e9, (moved * 8000) / length]);
    }
    usual = usual === null ? length : SMOOTHING * length + (1 - SMOOTHING) * usual;
    since = until;
  });
  return samples;
}

export const pings = (flow: FlowSeries): Taken[] => (flow.pings ?? []).map(([at, rtt]) => [at / 1e9, rtt / 1e6]);

// Mean of the samples per step, null without samples. A sample at the end of a step belongs to that step.
export function onGrid(series: Series, samples: Taken[]): Values {
  const found: number[][] = Array.from({ length: series.steps }, () => []);
  for (const [t, value] of samples) {
    const step = Math.ceil(Math.round(t * 1e9) / series.step_ns) - 1;
    found[Math.min(Math.max(step, 0), series.steps - 1)]!.push(value);
  }
  return found.map(mean);
}

function each(parts: Values[], of: (values: number[]) => number | null): Values {
  return parts[0]!.map((_, step) => {
    const values = parts.map((part) => part[step]!).filter((value) => value !== null);
    return values.length ? of(values) : null;
  });
}

const total = (values: number[]): number => values.reduce((sum, one) => sum + one, 0);

// Flent's derived values: averages, sums, fairness, the total, the mean of all pings.
export function made(results: Record<string, Values>): Record<string, Values> {
  const found: Record<string, Values> = {};
  const named = (fits: (name: string) => boolean) => Object.entries(results).flatMap(([name, values]) => (fits(name) ? [values] : []));
  for (const begin of ["TCP upload", "TCP download"]) {
    const parts = named((name) => name.startsWith(`${begin} `) || name.startsWith(`${begin}::`));
    if (!parts.length) continue;
    found[`${begin} avg`] = each(parts, mean);
    found[`${begin} sum`] = each(parts, total);
    if (Object.keys(results).some((name) => name.startsWith(`${begin}::`))) found[`${begin} fairness`] = each(parts, jain);
  }
  const sums = Object.entries(found).flatMap(([name, values]) => (name.endsWith(" sum") ? [values] : []));
  if (sums.length > 1) found["TCP totals"] = each(sums, total);
  const rtts = named((name) => name.startsWith("Ping (ms)"));
  if (sums.length > 1 && rtts.length) found["Ping (ms) avg"] = each(rtts, mean);
  return found;
}

// Fields that Flent reads from ss: packets, ms, Mbit/s.
const KEYS = { cwnd: "tcp_cwnd", srtt_ms: "tcp_rtt", rttvar_ms: "tcp_rtt_var", pacing_mbps: "tcp_pacing_rate", delivery_mbps: "tcp_delivery_rate" };
// Without a pacing rate, the kernel's field holds its maximum, in bytes/s.
const NO_RATE_MBPS = (2 ** 63 * 8) / 1e6;
// In all other states the socket belongs to no process, and Flent finds sockets by process.
const HELD = ["SYN-SENT", "ESTAB", "CLOSE-WAIT"];

// Adds the samples of `[record] ss` to the existing TCP series.
export function sockets(run: Run, series: Series, t0: number, { results, raw, meta }: File): void {
  const all = (run["sockets"] ?? {}) as Record<string, Record<string, (number | string | null)[]>>;
  for (const name of Object.keys(meta).filter((one) => one.startsWith("TCP "))) {
    const columns = all[String(meta[name]!["FLOW"])];
    const times = columns?.["t_s"] ?? [];
    const items = times.flatMap((t, n) => {
      const values: Record<string, number> = {};
      for (const [ours, theirs] of Object.entries(KEYS)) {
        const value = columns![ours]?.[n];
        if (typeof value === "number" && value && value < NO_RATE_MBPS) values[theirs] = value;
      }
      return HELD.includes(String(columns!["state"]?.[n])) && Object.keys(values).length ? [{ t: Number(t), ...values } as Record<string, number>] : [];
    });
    for (const key of Object.values(KEYS)) {
      const samples = items.flatMap((item): Taken[] => (key in item ? [[item["t"]!, item[key]!]] : []));
      if (samples.length) results[`${name}::${key}`] = onGrid(series, samples);
    }
    const moved = items.map((item) => ({ ...item, t: t0 + item["t"]! }));
    raw[name] = [...raw[name]!, ...moved].sort((a, b) => Number(a["t"]) - Number(b["t"]));
  }
}
