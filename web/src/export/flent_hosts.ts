// Flent metadata of hosts and of an access point's stations.
import type { Series, StationSeries } from "../engine/protocol.ts";
import type { File } from "./flent_file.ts";
import { end, jain } from "./steps.ts";

export interface Resolved {
  nodes: {
    name: string;
    profile: Record<string, unknown> & { name: string; tcp: Record<string, unknown> };
    interfaces: { name: string; qdisc: { config: { kind: string } }; medium: { role?: { kind: string; ap: string } } }[];
  }[];
}

// Sysctls that Flent records, if the scenario has them, and others that determine how a sender queues.
const SYSCTLS = [
  "net.core.default_qdisc", "net.core.rmem_max", "net.core.wmem_default", "net.ipv4.tcp_autocorking", "net.ipv4.tcp_congestion_control",
  "net.ipv4.tcp_dsack", "net.ipv4.tcp_ecn", "net.ipv4.tcp_limit_output_bytes", "net.ipv4.tcp_min_tso_segs", "net.ipv4.tcp_moderate_rcvbuf",
  "net.ipv4.tcp_no_metrics_save", "net.ipv4.tcp_notsent_lowat", "net.ipv4.tcp_pacing_ca_ratio", "net.ipv4.tcp_pacing_ss_ratio",
  "net.ipv4.tcp_rmem", "net.ipv4.tcp_sack", "net.ipv4.tcp_timestamps", "net.ipv4.tcp_tso_rtt_log", "net.ipv4.tcp_window_scaling",
  "net.ipv4.tcp_wmem",
];

// In `sysctl` format: booleans as numbers, lists separated by tabs.
const plain = (value: unknown): unknown => (Array.isArray(value) ? value.join("\t") : typeof value === "boolean" ? Number(value) : value);

export function hostOf({ nodes }: Resolved, name: string): Record<string, unknown> {
  const node = nodes.find((one) => one.name === name) ?? nodes.find((one) => one.name === name.split(".")[0])!;
  const [kernel = "", ...release] = node.profile.name.split("-");
  const known = { ...node.profile, ...node.profile.tcp };
  const at = node.interfaces[0]!;
  return {
    KERNEL_NAME: kernel.charAt(0).toUpperCase() + kernel.slice(1).toLowerCase(),
    KERNEL_RELEASE: release.join("-"),
    SYSCTLS: Object.fromEntries(SYSCTLS.filter((key) => key in known).map((key) => [key, plain(known[key])])),
    EGRESS_INFO: { iface: at.name, qdisc: at.qdisc.config.kind },
    MODULE_VERSIONS: {},
  };
}

// Address of the nth interface, over all nodes in the order of the scenario: locally administered.
export function macOf(number: number): string {
  return [2, 0, 0, 0, ((number + 1) >> 8) & 255, (number + 1) & 255].map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

export interface Station {
  station: string;
  number: number;
  ap: string;
  at: string;
}

// Each station with the number of its first interface, which represents all of them, and its access point's node and interface.
export function stationsOf({ nodes }: Resolved): Station[] {
  const found = new Map<string, Station>();
  let number = 0;
  for (const { name, interfaces } of nodes) {
    for (const { medium } of interfaces) {
      const [ap = "", at = ""] = medium.role?.kind === "station" ? medium.role.ap.split(".") : [];
      if (ap && !found.has(name)) found.set(name, { station: name, number, ap, at });
      number += 1;
    }
  }
  return [...found.values()];
}

// Station statistics of each access point, with its interface and its stations' addresses.
export function wifi(series: Series, resolved: Resolved, t0: number, { results, raw }: File): Map<string, [string, string[]]> {
  const found = new Map<string, [string, string[]]>();
  for (const { station, number, ap, at } of stationsOf(resolved)) {
    const all = series.stations.filter(({ name }) => name === station);
    type Column = "airtime_down_ns" | "airtime_up_ns" | "mpdus_down" | "ppdus_down";
    const sum = (key: Column) => Array.from({ length: series.steps }, (_, step) => all.reduce((total, of: StationSeries) => total + of[key][step]!, 0));
    const [down, up, mpdus, ppdus] = [sum("airtime_down_ns"), sum("airtime_up_ns"), sum("mpdus_down"), sum("ppdus_down")];
    const address = macOf(number);
    const name = `wifi_stats_${ap}`;
    const total = down.map((ns, step) => (ns + up[step]!) / 1e3);
    const sizes = mpdus.map((count, step) => (ppdus[step] ? count / ppdus[step]! : null));
    results[`${name}::airtime_tx::${address}`] = down.map((ns) => ns / 1e3);
    results[`${name}::airtime_rx::${address}`] = up.map((ns) => ns / 1e3);
    results[`${name}::airtime_total::${address}`] = total;
    results[`${name}::avg_aggr_size::${address}`] = sizes;
    const before = results[`${name}::airtime_sum`] ?? [];
    results[`${name}::airtime_sum`] = total.map((us, step) => us + (before[step] ?? 0));
    const items = (raw[name] ??= Array.from({ length: series.steps }, (_, step) => ({ t: t0 + end(series, step) / 1e9, stations: {} })));
    items.forEach((item, step) => {
      const size = sizes[step] === null ? {} : { avg_aggr_size: sizes[step] };
      (item["stations"] as Record<string, unknown>)[address] = { airtime_tx: down[step]! / 1e3, airtime_rx: up[step]! / 1e3, ...size };
    });
    if (!found.has(ap)) found.set(ap, [at, []]);
    found.get(ap)![1].push(address);
  }
  for (const [ap, [, addresses]] of found) {
    const steps = Array.from({ length: series.steps }, (_, step) => addresses.map((one) => results[`wifi_stats_${ap}::airtime_total::${one}`]![step] ?? 0));
    results[`wifi_stats_${ap}::airtime_fairness`] = steps.map(jain);
  }
  return found;
}
