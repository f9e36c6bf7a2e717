// The tidy table, as written by `stillair export --format csv`. A test compares this file with python/stillair/results/tidy.py.
import type { Run, Series } from "../engine/protocol.ts";
import { type Values, end, mbps, meanMs, voice } from "./steps.ts";

type Rows = [station: string, flow: string, ac: string, metric: string, unit: string, steps: Iterable<[number, number]>];

export const HEADER = "run,scenario,seed,t,station,flow,ac,metric,value,unit";

export function tidy(scenario: string, runs: Run[]): string {
  const lines = [HEADER];
  for (const { run, seed, series } of runs) {
    for (const [station, flow, ac, metric, unit, steps] of [...ofFlows(series), ...ofStations(series), ...ofQueues(series)]) {
      for (const [step, value] of steps) {
        lines.push([run, cell(scenario), seed, float(end(series, step) / 1e9), cell(station), cell(flow), ac, metric, float(value), unit].join(","));
      }
    }
  }
  return `${lines.join("\n")}\n`;
}

export const cell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

// Python's number format: integers with ".0", and two-digit exponents from 1e16 up and below 1e-4.
export function float(value: number): string {
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e16 || size < 1e-4)) {
    return value.toExponential().replace(/e([+-])(\d)$/, "e$10$2");
  }
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

function enumerated(values: number[]): [number, number][] {
  return values.map((value, step) => [step, value]);
}

// Steps with a value.
function known(values: Values): [number, number][] {
  return values.flatMap((value, step): [number, number][] => (value === null ? [] : [[step, value]]));
}

function* ofFlows(series: Series): Generator<Rows> {
  for (const flow of series.flows) {
    const about = [flow.station ?? "", flow.name, flow.ac] as const;
    if (flow.bytes) {
      yield [...about, "delivered_bytes", "bytes", enumerated(flow.bytes)];
      yield [...about, "goodput_mbps", "Mbit/s", enumerated(mbps(series, flow))];
      if (flow.voip) {
        const steps = voice(series, flow);
        yield [...about, "voip_delay_ms", "ms", known(steps.map(({ delay_ms }) => delay_ms))];
        yield [...about, "voip_jitter_ms", "ms", known(steps.map(({ jitter_ms }) => jitter_ms))];
        yield [...about, "voip_lost", "packets", enumerated(steps.map(({ lost }) => lost))];
      }
      if (flow.loads) yield [...about, "page_load_ms", "ms", known(meanMs(series, flow.loads))];
    } else {
      yield [...about, "ping_ms", "ms", known(meanMs(series, flow.pings ?? []))];
    }
  }
}

function* ofStations(series: Series): Generator<Rows> {
  for (const station of series.stations) {
    const about = [station.name, "", station.ac] as const;
    yield [...about, "airtime_down_us", "us", enumerated(station.airtime_down_ns.map((ns) => ns / 1000))];
    yield [...about, "airtime_up_us", "us", enumerated(station.airtime_up_ns.map((ns) => ns / 1000))];
    for (const metric of ["ppdus_down", "ppdus_up", "mpdus_down", "mpdus_up"] as const) {
      yield [...about, metric, "count", enumerated(station[metric])];
    }
  }
}

function* ofQueues(series: Series): Generator<Rows> {
  for (const { place, reason, steps } of series.drops) yield [place, "", "", `drops_${reason}`, "packets", steps];
  for (const queue of series.queues) {
    for (const unit of ["packets", "bytes"] as const) {
      yield [queue.interface, "", "", `queue_${queue.layer}_${unit}`, unit, enumerated(queue[unit])];
    }
  }
}
