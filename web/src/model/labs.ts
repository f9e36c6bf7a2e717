// Guided labs. Each is a data file in web/labs; the code contains no lab names.
import type { Outcome } from "./outcome.ts";
import { p } from "./outcome.ts";
import { mean } from "./quantile.ts";
import type { State } from "./state.ts";

// A value of an outcome.
export interface Metric {
  // "goodput" in Mbit/s, "share" in %, "total" in Mbit/s; or a latency percentile in ms.
  of: "goodput" | "share" | "total" | "p50" | "p95" | "p99";
  // The station. Unset for `total`, and for the largest value over all stations.
  station?: string;
}

export interface Variant {
  name: string;
  set: [string, string][];
}

export interface Question {
  ask: string;
  answers: string[];
  // Index of the correct answer, from 0.
  right: number;
  // Explanation of the answer.
  because: string;
  // Measurements in each variant, and the condition that makes the answer correct; a test checks it with these seeds.
  measure: Metric;
  unit: string;
  holds: { variant: string; than: string; times: number }[];
}

export interface Lab {
  id: string;
  title: string;
  about: string;
  scenario: string;
  // Introduction, one entry per paragraph.
  story: string[];
  variants: Variant[];
  questions: Question[];
  // Suggestions for what to try next.
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
