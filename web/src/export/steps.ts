// Values per step, computed as in python/stillair/results/series.py.
import type { FlowSeries, Sample, Series } from "../engine/protocol.ts";

export type Values = (number | null)[];

export const end = (series: Series, step: number): number => Math.min((step + 1) * series.step_ns, series.duration_ns);

// Payload received per step, in Mbit/s.
export function mbps(series: Series, { bytes }: FlowSeries): number[] {
  return (bytes ?? []).map((count, step) => (count * 8000) / (end(series, step) - step * series.step_ns));
}

export const stepOf = (series: Series, ns: number): number => Math.min(Math.floor(ns / series.step_ns), series.steps - 1);

// Mean of the samples received in each step, in ms; null without samples.
export function meanMs(series: Series, samples: Sample[]): Values {
  const [total, count] = [new Float64Array(series.steps), new Uint32Array(series.steps)];
  for (const [at, took] of samples) {
    const step = stepOf(series, at);
    total[step]! += took;
    count[step]! += 1;
  }
  return Array.from(total, (ns, step) => (count[step] ? ns / (count[step]! * 1_000_000) : null));
}

export interface VoiceStep {
  delay_ms: number | null;
  jitter_ms: number | null;
  lost: number;
}

// Call packets received per step. A gap between two packets counts in the step of the second.
export function voice(series: Series, { voip }: FlowSeries): VoiceStep[] {
  const steps = Array.from({ length: series.steps }, () => ({ delays: [] as number[], jitters: [] as number[], lost: 0 }));
  let highest: number | null = null;
  let before = 0;
  for (const [at, delay, seq] of voip ?? []) {
    if (seq === highest) continue;
    const step = steps[stepOf(series, at)]!;
    step.delays.push(delay);
    if (highest !== null) {
      step.jitters.push(Math.abs(delay - before));
      // A late packet was counted as lost when its successor arrived.
      step.lost += seq > highest ? seq - highest - 1 : -1;
    }
    highest = highest === null ? seq : Math.max(highest, seq);
    before = delay;
  }
  const mean = (ns: number[]) => (ns.length ? ns.reduce((sum, one) => sum + one, 0) / (ns.length * 1_000_000) : null);
  return steps.map(({ delays, jitters, lost }) => ({ delay_ms: mean(delays), jitter_ms: mean(jitters), lost }));
}

export const mean = (values: number[]): number | null => (values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : null);
export const jain = (values: number[]): number | null => {
  const sum = values.reduce((all, one) => all + one, 0);
  const squares = values.length * values.reduce((all, one) => all + one * one, 0);
  return squares ? (sum * sum) / squares : null;
};
