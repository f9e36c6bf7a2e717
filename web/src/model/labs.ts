// Guided labs: each is one data file in web/labs, and no code knows its name.
import type { Outcome } from "./outcome.ts";
import { p } from "./outcome.ts";
import { mean } from "./quantile.ts";
import type { State } from "./state.ts";

// A number of an outcome.
export interface Metric {
  // "goodput" in Mbit/s, "share" in per cent, "total" in Mbit/s; or a percentile in ms of what is measured of latency.
  of: "goodput" | "share" | "total" | "p50" | "p95" | "p99";
  // The station; none for `total` and for what no station has: then the largest.
  station?: string;
}

export interface Variant {
  name: string;
  set: [string, string][];
}

export interface Question {
  ask: string;
  answers: string[];
  // Number of the right one, from 0.
  right: number;
  // Why.
  because: string;
  // What is measured in each of the lab's variants, and what must hold for the answer to be right: checked by a test, with these seeds.
  measure: Metric;
  unit: string;
  holds: { variant: string; than: string; times: number }[];
}

export interface Lab {
  id: string;
  title: string;
  about: string;
  scenario: string;
  // What the reader has to know first, a paragraph each.
  story: string[];
  variants: Variant[];
  questions: Question[];
  // Where to go on from here.
  further: string;
}

export function measure({ of, station }: Metric, outcome: Outcome): number {
  if (of === "total") return mean(outcome.total);
  if (of === "goodput" || of === "share") {
    const found = outcome.stations.find(({ name }) => name === station);
    return found ? mean(of === "share" ? found.share.map((part) => 100 * part) : found.goodput) : NaN;
  }
  const part = { p50: 0.5, p95: 0.95, p99: 0.99 }[of];
  const all = outcome.latencies.filter(({ what, station: whose }) => what === "round trip" && (!station || whose === station));
  return Math.max(...all.map((latency) => p(latency, part)));
}

export const stateOf = (lab: Lab, variant: Variant, state: State): State => ({
  ...state,
  scenario: lab.scenario,
  text: null,
  file: "",
  set: variant.set,
  seed: null,
  runs: 1,
});
