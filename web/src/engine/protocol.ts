// Engine requests and responses, as in crates/sim/src/api/ask.rs. Names carry units.

export type Override = [key: string, value: string];

export interface Of {
  text: string;
  file: string;
  overrides: Override[];
  files: Override[];
  seed: number | null;
  run: number;
}

export type Asked =
  | { do: "schema" }
  | { do: "survey"; of: Of }
  | { do: "resolve"; of: Of }
  | { do: "run"; of: Of }
  | { do: "capture"; of: Of; points: string[]; from: string | null; until: string | null }
  | { do: "walk"; of: Of; flow: string; at: string };

export interface Mistake {
  file: string;
  line: number | null;
  key: string;
  found: string;
  expected: string;
}

export interface Told {
  kind: "request" | "input" | "scenario" | "run" | "limit" | "broken";
  message: string;
  mistakes?: Mistake[];
  // Number of further errors.
  more?: number;
}

// An error response.
export class EngineError extends Error {
  constructor(readonly told: Told) {
    super(told.message);
  }
}

export interface Engine {
  // "in this browser" or "native", as displayed by the page.
  readonly place: string;
  // Maximum concurrent requests.
  readonly slots: number;
  // The bytes of the response. An aborted request ends promptly.
  ask(asked: Asked, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>>;
}

const decoder = new TextDecoder();

export async function askJson<T>(engine: Engine, asked: Asked, signal: AbortSignal): Promise<T> {
  return JSON.parse(decoder.decode(await engine.ask(asked, signal))) as T;
}

export interface Interface {
  name: string;
  kind: "wired" | "ap" | "station";
  address: string;
  qdisc: string;
  scheme?: string;
  link?: string;
  channel?: string;
  ap?: string;
}

export interface Way {
  control: string;
  rate: { name: string; mbps: number; loss: number } | null;
}

export interface Survey {
  name: string;
  duration_s: number;
  warm_up_s: number;
  cool_down_s: number;
  notes: string[];
  nodes: { name: string; profile: string; forward: boolean; position_m: number[] | null; interfaces: Interface[] }[];
  paths: { ap: string; station: string; down: Way; up: Way }[];
  flows: { name: string; kind: string; from: string; to: string[]; rates_bps: number[] | null }[];
  links: { name: string; ends: string[]; rates_bps: number[]; delays_ms: number[] }[];
}

export type Sample = [at_ns: number, took_ns: number, seq: number];

export interface FlowSeries {
  name: string;
  flent?: string;
  kind: string;
  from: string;
  to: string;
  station: string | null;
  tos: number;
  dscp: number;
  ac: string;
  bytes?: number[];
  pings?: Sample[];
  voip?: Sample[];
  loads?: Sample[];
  delay_percentiles_ns?: number[];
}

export interface QueueSeries {
  interface: string;
  layer: string;
  packets: number[];
  bytes: number[];
}

export interface StationSeries {
  name: string;
  ac: string;
  airtime_down_ns: number[];
  airtime_up_ns: number[];
  ppdus_down: number[];
  ppdus_up: number[];
  mpdus_down: number[];
  mpdus_up: number[];
}

export interface Series {
  step_ns: number;
  steps: number;
  gone?: number;
  duration_ns: number;
  warm_up_ns: number;
  cool_down_ns: number;
  test?: { name: string; from: string; to: string; length_ns: number; delay_ns: number; streams: number | null };
  flows: FlowSeries[];
  stations: StationSeries[];
  drops: { place: string; reason: string; steps: [number, number][] }[];
  queues: QueueSeries[];
}

export interface Exchanges {
  from_ns: number;
  until_ns: number;
  interfaces: string[];
  access_points: boolean[];
  channels: string[];
  start_ns: number[];
  airtime_ns: number[];
  end_ns: number[];
  from: number[];
  to: (number | null)[];
  ac: string[];
  kind: string[];
  frames: number[];
  received: number[];
  attempt: number[];
  collided: boolean[];
  acknowledged: boolean[];
  rate_bps: number[];
}

// Output of `[record] sojourn`: packets by delay, each bucket with a breakdown of the time.
export interface Histogram {
  cells: [layer: number, cause: number][];
  // Buckets by increasing delay.
  packets: number[];
  delay_ns: number[];
  parts_ns: number[][];
}

export interface Sojourn {
  layers: string[];
  causes: string[];
  flows: Record<string, Histogram>;
  slowest: Record<string, Slowest>;
}

// The slowest packet of a flow, with the layers it passed in order.
export interface Slowest {
  sent_ns: number;
  delay_ns: number;
  steps: { layer: string; interface: string | null; from_ns: number; until_ns: number; causes_ns: Record<string, number> }[];
}

export interface StationSummary {
  goodput_mbps: number;
  airtime_share: number | null;
  mean_aggregate: number | null;
  airtime_tx_us: number;
  airtime_rx_us: number;
}

export interface FlowSummary {
  protocol: string;
  from: string;
  to: string;
  goodput_mbps: number;
  delay_p50_ms: number | null;
  delay_p95_ms: number | null;
  delay_p99_ms: number | null;
  retransmissions?: number;
}

export interface Run {
  run: number;
  seed: number;
  trace_hash: string;
  goodput_total_mbps: number;
  jain_airtime: number | null;
  mos?: number | null;
  stations: Record<string, StationSummary>;
  flows?: Record<string, FlowSummary>;
  drops: { place: string; reason: string; packets: number }[];
  air: Record<string, Record<string, number>>;
  series: Series;
  exchanges?: Exchanges;
  sojourn?: Sojourn;
  queues?: { interval_ns: number; samples: number; queues: QueueSeries[] };
  [more: string]: unknown;
}

export interface Result {
  version: string;
  scenario: string;
  notes?: string[];
  runs: Run[];
}

export type Step =
  | { what: "created"; at_ns: number; bytes: number }
  | { what: "sent"; at_ns: number; wire: number; segments: number }
  | { what: "wire" | "received"; at_ns: number; wire: number }
  | {
      what: "air";
      at_ns: number;
      end_ns: number;
      device: number;
      sequence: number;
      position: number;
      frames: number;
      attempt: number;
      retry: boolean;
      whole: boolean;
      collided: boolean;
      acknowledged: boolean;
      rate: string;
    }
  | { what: "delivered"; at_ns: number; delay_ns: number }
  | { what: "dropped"; at_ns: number; place: number; reason: string };

export interface Walk {
  flow: string;
  seq: number | null;
  steps: Step[];
  wires: [string, string][];
  devices: string[];
  places: string[];
}
