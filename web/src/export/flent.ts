// One run as a Flent data file (Flent 2.3, format version 4), as written by `stillair export --format flent`. A test compares this file
// with python/stillair/results/flent. The scenario is mapped to the Flent test that would measure the same.
import type { FlowSeries, Run, Series } from "../engine/protocol.ts";
import type { File, Item } from "./flent_file.ts";
import { macOf, hostOf, stationsOf, wifi, type Resolved } from "./flent_hosts.ts";
import { made, onGrid, pings, sockets, throughput } from "./flent_samples.ts";
import { end, jain, mbps, mean, meanMs, voice } from "./steps.ts";

// Virtual time has no date; this is the default start of a run.
const T0 = Date.UTC(2000, 0, 1) / 1000;
const BEGUN = "2000-01-01T00:00:00.000000Z";
// Flent's plots omit this much at both ends of a test.
const DELAY_S = 5;

export interface Names {
  test: string;
  upload: string;
  ping: string;
}

const host = ({ station, to }: FlowSeries): string => station ?? to;
// Returns true if a station sends the flow. Between two hosts without a station, the sender is the client.
const isUpload = ({ station, from }: FlowSeries): boolean => station === null || from === station;

export function flentOf(version: string, scenario: string, run: Run, resolved: Resolved, title: string): { name: string; json: string } {
  const { series } = run;
  if (!series.flows.some(({ pings, bytes }) => pings || bytes)) throw new Error("found no data flow or ping in the scenario; a Flent file needs one");
  const names = testOf(series);
  const file: File = { results: {}, raw: {}, meta: {} };
  if (series.test) ofTest(series, file);
  else {
    uploads(names, series, file);
    tcp(series, file);
    ofPings(names, series, file);
  }
  sockets(run, series, T0, file);
  const parameters = { ...calls(series, file), ...pages(series, file) };
  const stations = wifi(series, resolved, T0, file);
  qdiscs(series, resolved, file);
  if (!Object.values(file.raw).some(({ length }) => length)) throw new Error("nothing arrived in this run; Flent rejects an empty file");
  const plain = Array.from(title, (c) => (/[A-Za-z0-9-]/.test(c) ? c : "_")).join("");
  const name = `${names.test}-${BEGUN.replaceAll(":", "")}.${plain}.flent.gz`;
  const metadata = metadataOf(version, scenario, run, resolved, title, names, name);
  const all = [...stations.values()];
  Object.assign(metadata["TEST_PARAMETERS"] as Item, parameters, {
    wifi_stats_hosts: [...stations.keys()].join(","),
    wifi_stats_interfaces: all.map(([at]) => at).join(","),
    wifi_stats_stations: all.map(([, macs]) => macs.join(",")).join(","),
  });
  const data = {
    version: 4,
    metadata: { ...metadata, SERIES_META: file.meta },
    x_values: Array.from({ length: series.steps }, (_, step) => end(series, step) / 1e9),
    results: file.results,
    raw_values: Object.fromEntries(Object.entries(file.raw).filter(([, items]) => items.length)),
  };
  return { name, json: JSON.stringify(data) };
}

function testOf(series: Series): Names {
  if (series.test) return { test: series.test.name, upload: "", ping: "" };
  const flows = series.flows.filter(({ kind }) => kind === "tcp");
  if (flows.length) {
    const alone = streams(series);
    if (alone) return { test: alone.up ? "tcp_nup" : "tcp_ndown", upload: "", ping: "Ping (ms) ICMP" };
    const up = flows.map(isUpload);
    const way = up.some(Boolean) ? (up.every(Boolean) ? "_up" : "") : "_down";
    return { test: `rtt_fair_var${way}`, upload: "UDP upload {}", ping: "Ping (ms) ICMP {}" };
  }
  const udp = series.flows.filter(({ kind }) => kind === "udp").length;
  if (!udp) return { test: "ping", upload: "UDP upload {}", ping: "Ping (ms) ICMP {}" };
  if (udp === 1 && series.flows.length - udp <= 1) return { test: "udp_flood", upload: "UDP upload", ping: "Ping (ms) ICMP" };
  return { test: "udp_flood_var_up", upload: "UDP upload {}", ping: "Ping (ms) ICMP {}" };
}

interface Streams {
  flows: FlowSeries[];
  up: boolean;
  local: string;
  remote: string;
}

// TCP streams in one direction between two hosts, with at most one ping between them: `tcp_nup` and `tcp_ndown`.
function streams({ flows }: Series): Streams | null {
  const tcp = flows.filter(({ kind }) => kind === "tcp");
  const others = flows.filter(({ kind }) => kind !== "tcp");
  const [first] = tcp;
  if (!first || others.length > 1 || tcp.some(({ from, to }) => from !== first.from || to !== first.to)) return null;
  const ends = [first.from, first.to].sort().join(" ");
  if (others.some(({ kind, from, to }) => kind !== "ping" || [from, to].sort().join(" ") !== ends)) return null;
  const up = isUpload(first);
  return { flows: tcp, up, local: up ? first.from : first.to, remote: up ? first.to : first.from };
}

// The shortest distinct label for each flow.
function labels(flows: FlowSeries[]): string[] {
  const found: string[] = [];
  for (const flow of flows) {
    const plain = flow.from === flow.station && flow.kind === "udp" ? `${host(flow)} up` : host(flow);
    found.push([plain, `${plain} ${flow.ac}`, `${plain} ${flow.name}`].find((name) => !found.includes(name))!);
  }
  return found;
}

function metaOf(flow: FlowSeries, units: string, values: number[]): Item {
  return { UNITS: units, MEAN_VALUE: mean(values), RUNNER: "Stillair", FLOW: flow.name, SENDER: flow.from, RECEIVER: flow.to, DSCP: flow.dscp };
}

function ofTest(series: Series, { results, raw, meta }: File): void {
  for (const flow of series.flows.filter(({ flent }) => flent !== undefined)) {
    const name = flow.flent!;
    const samples = flow.bytes ? throughput(series, flow) : pings(flow);
    results[name] = onGrid(series, samples);
    raw[name] = samples.map(([t, val]) => ({ t: T0 + t, val }));
    meta[name] = metaOf(flow, flow.bytes ? "Mbits/s" : "ms", samples.map(([, value]) => value));
  }
  Object.assign(results, made(results));
}

function rates(named: [string, FlowSeries][], series: Series, { results, raw, meta }: File): void {
  for (const [name, flow] of named) {
    const values = mbps(series, flow);
    results[name] = values;
    raw[name] = values.map((val, step) => ({ t: T0 + end(series, step) / 1e9, val }));
    meta[name] = metaOf(flow, "Mbits/s", values);
  }
}

function overFlows(what: string, names: string[], series: Series, { results }: File): void {
  const steps = Array.from({ length: series.steps }, (_, step) => names.map((name) => results[name]![step] ?? 0));
  const sums = steps.map((step) => step.reduce((all, one) => all + one, 0));
  results[`${what} avg`] = sums.map((sum) => sum / names.length);
  results[`${what} sum`] = sums;
  results[`${what} fairness`] = steps.map(jain);
}

function uploads(names: Names, series: Series, file: File): void {
  const flows = series.flows.filter(({ kind }) => kind === "udp");
  const all = labels(flows).map((label) => names.upload.replace("{}", label));
  rates(all.map((name, n) => [name, flows[n]!]), series, file);
  if (names.upload.includes("{}") && flows.length) overFlows("UDP upload", all, series, file);
}

function tcp(series: Series, file: File): void {
  const alone = streams(series);
  for (const [direction, up] of [["TCP upload", true], ["TCP download", false]] as const) {
    const flows = series.flows.filter((flow) => flow.kind === "tcp" && isUpload(flow) === up);
    if (!flows.length) continue;
    const marked: string[] = [];
    for (const flow of flows) {
      const plain = `${flow.ac} ${host(flow)}`;
      marked.push(marked.includes(plain) ? `${plain} ${flow.name}` : plain);
    }
    const names = alone ? flows.map((_, n) => `TCP ${alone.up ? "upload" : "download"}::${n + 1}`) : marked.map((label) => `${direction} ${label}`);
    rates(names.map((name, n) => [name, flows[n]!]), series, file);
    overFlows(direction, names, series, file);
  }
}

function ofPings(names: Names, series: Series, { results, raw, meta }: File): void {
  const flows = series.flows.filter(({ pings: replies }) => replies);
  const all = labels(flows).map((label, n) => {
    const name = names.ping.replace("{}", label);
    return flows[n]!.kind === "udp_ping" ? name.replace("ICMP", "UDP") : name;
  });
  flows.forEach((flow, n) => {
    const [name, replies] = [all[n]!, flow.pings!];
    results[name] = meanMs(series, replies);
    raw[name] = replies.map(([at, rtt, seq]) => ({ t: T0 + at / 1e9, val: rtt / 1e6, seq }));
    meta[name] = metaOf(flow, "ms", replies.map(([, rtt]) => rtt / 1e6));
  });
  if (names.ping.includes("{}") && flows.length) {
    results["Ping (ms) avg"] = Array.from({ length: series.steps }, (_, step) => mean(all.map((name) => results[name]![step]!).filter((value) => value !== null)));
  }
}

function calls(series: Series, { results, raw, meta }: File): Item {
  const flows = series.flows.filter(({ voip }) => voip);
  flows.forEach((flow, n) => {
    const name = n === 0 ? "VoIP" : `VoIP ${flow.name}`;
    const steps = voice(series, flow);
    const delays = steps.map(({ delay_ms }) => delay_ms);
    const known = delays.filter((delay) => delay !== null);
    const least = known.length ? Math.min(...known) : 0;
    const kbps = mbps(series, flow).map((rate) => 1000 * rate);
    results[name] = kbps;
    results[`${name}::bitrate`] = [...kbps];
    results[`${name}::delay`] = delays;
    results[`${name}::jitter`] = steps.map(({ jitter_ms }) => jitter_ms);
    results[`${name}::loss`] = steps.map(({ lost }) => lost);
    results[`${name}::induced_delay`] = delays.map((delay) => (delay === null ? null : delay - least));
    const packets = flow.voip!;
    raw[name] = packets.map(([at, delay, seq], k) => ({
      t: T0 + at / 1e9,
      seq,
      val: delay / 1e6,
      owd_up: delay / 1e6,
      ...(k > 0 ? { ipdv_up: (delay - packets[k - 1]![1]) / 1e6 } : {}),
    }));
    const lost = steps.reduce((all, step) => all + step.lost, 0);
    const jitters = packets.slice(1).map(([, delay], k) => Math.abs(delay - packets[k]![1]) / 1e6);
    const means = jitters.length
      ? { OWD_UP_MEAN: mean(packets.map(([, delay]) => delay / 1e6)), IPDV_UP_MEAN: mean(jitters), PACKET_LOSS_RATE: lost / (packets.length + lost) }
      : {};
    meta[name] = { UNITS: "Kbps", RUNNER: "Stillair", ...means };
  });
  const [first] = flows;
  return first ? { voip_host: host(first), voip_marking: `0x${first.tos.toString(16).padStart(2, "0")}` } : {};
}

function pages(series: Series, { results, raw, meta }: File): Item {
  const flows = series.flows.filter(({ loads }) => loads);
  flows.forEach((flow, n) => {
    const name = flows.length === 1 ? "HTTP latency" : `HTTP latency::${n + 1}`;
    results[name] = meanMs(series, flow.loads!);
    raw[name] = flow.loads!.map(([at, took]) => ({ t: T0 + at / 1e9, val: took / 1e6, dur: took / 1e9 }));
    meta[name] = { UNITS: "ms", RUNNER: "Stillair", MEAN_VALUE: mean(flow.loads!.map(([, took]) => took / 1e6)), FLOW: flow.name };
  });
  return flows.length ? { include_http: "true" } : {};
}

// Packets dropped per interval by the qdiscs of each node with drops.
function qdiscs(series: Series, { nodes }: Resolved, { results }: File): void {
  for (const { name, interfaces } of nodes) {
    const places = interfaces.map((at) => `${name}.${at.name} qdisc`);
    const dropped: number[] = Array.from({ length: series.steps }, () => 0);
    for (const { place, steps } of series.drops) {
      if (places.includes(place)) for (const [step, packets] of steps) dropped[step]! += packets;
    }
    if (dropped.some(Boolean)) results[`qdisc_stats_${name}::dropped`] = dropped;
  }
}

function metadataOf(version: string, scenario: string, run: Run, resolved: Resolved, title: string, names: Names, file: string): Item {
  const { series } = run;
  const total = series.duration_ns / 1e9;
  let hosts = [...new Set(series.flows.map(host))];
  const senders = series.flows.map(({ from, station }) => (from === station ? null : from)).filter((name) => name !== null);
  let local = senders[0] ?? series.flows[0]!.from;
  let length = total > 2 * DELAY_S ? total - 2 * DELAY_S : total;
  let parameters: Item = {};
  const alone = series.test ? null : streams(series);
  if (series.test) {
    const { from, to, length_ns, streams: count, name } = series.test;
    [hosts, local, length] = [[to], from, length_ns / 1e9];
    if (count !== null) parameters = { [`${name.endsWith("up") ? "upload" : "download"}_streams`]: String(count) };
  } else if (alone) {
    [hosts, local] = [[alone.remote], alone.local];
    parameters = { [`${alone.up ? "upload" : "download"}_streams`]: String(alone.flows.length) };
  }
  const stations = stationsOf(resolved).map(({ station, number }) => `${macOf(number)} is ${station}`).join(", ");
  return {
    NAME: names.test,
    TITLE: title || scenario,
    NOTE: `Made by Stillair in virtual time; the date has no meaning. ${stations ? `Stations: ${stations}.` : ""}`,
    HOST: hosts[0],
    HOSTS: hosts,
    LOCAL_HOST: local,
    LENGTH: length,
    TOTAL_LENGTH: total,
    STEP_SIZE: series.step_ns / 1e9,
    TIME: BEGUN,
    T0: BEGUN,
    BATCH_NAME: null,
    BATCH_TIME: BEGUN,
    BATCH_TITLE: null,
    BATCH_UUID: null,
    DATA_FILENAME: file,
    FLENT_VERSION: `Stillair ${version}`,
    IP_VERSION: 4,
    TEST_PARAMETERS: parameters,
    ...hostOf(resolved, local),
    REMOTE_METADATA: Object.fromEntries(hosts.filter((name) => name !== local).map((name) => [name, { LOCAL_HOST: name, ...hostOf(resolved, name) }])),
    STILLAIR: { version, scenario: resolved, run: run.run, seed: run.seed, trace_hash: run.trace_hash, warm_up_s: series.warm_up_ns / 1e9 },
  };
}
