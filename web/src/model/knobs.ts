// The main parameters of a scenario as knobs. Each sets one or more keys, under the scenario's own names.
import type { Interface, Survey } from "../engine/protocol.ts";
import { type Tree, at, isTree, part, table, written } from "./document.ts";
import type { Keys } from "./keys.ts";
import type { Resolved } from "./runner.ts";
import { type State, value } from "./state.ts";

export interface Choice {
  value: string;
  label: string;
}

interface Common {
  id: string;
  title: string;
  // The key, or the first of several; the others follow it.
  keys: string[];
  about: string;
  group: string;
  // Current value as displayed.
  now: string;
  set: boolean;
  // Settings for a value; undefined removes a setting.
  apply(value: string | undefined): Record<string, string | undefined>;
}

// One of a few names, or a step on a ladder of values.
export type Knob = Common & ({ kind: "choice"; choices: Choice[] } | { kind: "ladder"; steps: Choice[]; index: number });

export interface Material {
  state: State;
  document: Tree;
  survey: Survey;
  resolved: Resolved;
  keys: Keys;
}

const SCHEMES: Record<string, string> = {
  fifo: "FIFO",
  fq_codel: "FQ-CoDel qdisc",
  fq_mac: "FQ in the MAC",
  airtime: "airtime fairness",
  airtime_as_printed: "airtime, as printed",
  mac80211: "mac80211",
};

export function knobs(of: Material): Knob[] {
  const found = [...schemes(of), ...counts(of), ...qdiscs(of), ...controls(of), ...queues(of), ...loads(of), ...links(of), ...rates(of), ...losses(of)];
  const ids = new Set<string>();
  return found.filter(({ id }) => !ids.has(id) && ids.add(id));
}

function common(of: Material, id: string, title: string, group: string, keys: string[], about: string, otherwise: string): Common {
  const set = value(of.state, keys[0]!);
  const text = at(of.document, keys[0]!);
  const now = set ?? (text === undefined ? otherwise : isTree(text) && typeof text["kind"] === "string" ? text["kind"] : written(text));
  const apply = (to: string | undefined) => Object.fromEntries(keys.map((key) => [key, to]));
  return { id, title, keys, about, group, now, set: set !== undefined, apply };
}

// Inserts the current value into the ladder if it is not a step of it.
function ladder(base: Common, steps: Choice[], order: (value: string) => number): Knob {
  let all = steps;
  let index = all.findIndex((step) => order(step.value) === order(base.now));
  if (index < 0 && base.now && Number.isFinite(order(base.now))) {
    all = [...steps, { value: base.now, label: base.now }].sort((a, b) => order(a.value) - order(b.value));
    index = all.findIndex((step) => step.value === base.now);
  }
  return { ...base, kind: "ladder", steps: all, index: Math.max(0, index) };
}

const plain = (values: string[]): Choice[] => values.map((one) => ({ value: one, label: one }));

function interfaces({ survey }: Material, fits: (of: Interface, node: Survey["nodes"][number]) => boolean) {
  return survey.nodes.flatMap((node) =>
    node.interfaces.filter((of) => fits(of, node)).map((of) => ({ node, of, path: `node.${part(node.name)}.interface.${part(of.name)}` })),
  );
}

function schemes(of: Material): Knob[] {
  const names = of.keys.choices(of.keys.definition("access-points-interface")?.properties?.["scheme"]);
  return interfaces(of, ({ kind }) => kind === "ap").map(({ node, of: at, path }) => {
    const key = `${path}.scheme`;
    const title = `Queueing of ${node.name}`;
    const base = common(of, key, title, "Access point", [key], "how the access point queues and schedules", at.scheme ?? "");
    return { ...base, kind: "choice", choices: names.map((name) => ({ value: name, label: SCHEMES[name] ?? name })) };
  });
}

function qdiscs(of: Material): Knob[] {
  const names = of.keys.choices(of.keys.definition("access-points-interface")?.properties?.["qdisc"]);
  const shaped = interfaces(of, (at, node) => at.kind === "ap" && at.qdisc !== "noqueue" && node.interfaces.length > 0);
  return shaped.map(({ node, of: at, path }) => {
    const key = `${path}.qdisc`;
    const base = common(of, key, `Qdisc of ${node.name}.${at.name}`, "Access point", [key], "its queueing discipline, above the driver", at.qdisc.split(" > ").at(-1)!);
    return { ...base, kind: "choice", choices: plain(names) };
  });
}

// Node tables that create several nodes.
function counts(of: Material): Knob[] {
  return Object.entries(table(of.document["node"])).flatMap(([name, node]): Knob[] => {
    const count = table(node)["count"];
    if (count === undefined) return [];
    const key = `node.${part(name)}.count`;
    const base = common(of, key, `Number of ${name}`, "Stations", [key], "number of nodes created from this table", "1");
    return [ladder(base, plain(["1", "2", "3", "4", "5", "6", "8", "10", "12", "15", "20", "25", "30", "40", "50", "75", "100"]), Number)];
  });
}

// Flows in the text by kind, with their keys. Excludes flows added by `test` or `count`.
function flows({ document }: Material, kind: string): { name: string; key: string; flow: Tree }[] {
  const list = Array.isArray(document["flow"]) ? document["flow"] : [];
  return list.flatMap((flow, n) => {
    if (!isTree(flow) || flow["kind"] !== kind) return [];
    return [{ name: String(flow["name"] ?? `${kind}-${n}`), key: `flow.${n}`, flow }];
  });
}

function controls(of: Material): Knob[] {
  const all = of.keys.choices(of.keys.definition("congestion_control"));
  const keys = flows(of, "tcp").map(({ key }) => `${key}.congestion_control`);
  if (!keys.length) return [];
  const running = of.resolved.flows.find(({ traffic }) => traffic.kind === "tcp")?.traffic.congestion_control ?? "";
  const base = common(of, "congestion_control", "Congestion control", "Traffic", keys, "of all TCP flows", running);
  return [{ ...base, kind: "choice", choices: plain(all) }];
}

const TSQ = "net.ipv4.tcp_limit_output_bytes";

// TCP small queues: the amount of data that a socket may have below it.
function queues(of: Material): Knob[] {
  const senders = new Set(flows(of, "tcp").flatMap(({ flow }) => [flow["from"]].flat()).filter((name) => typeof name === "string"));
  return [...senders].flatMap((sender): Knob[] => {
    const name = sender.split(".")[0]!;
    const node = of.resolved.nodes.find((one) => one.name === name) ?? of.resolved.nodes.find((one) => one.name === `${name}1`);
    const limit = node?.profile.tcp?.[TSQ];
    if (typeof limit !== "number") return [];
    if (table(table(table(of.document["node"])[name])["tcp"])["tsq_period"] !== undefined) {
      const key = `node.${part(name)}.tcp.tsq_period`;
      const base = common(of, key, `Small queues of ${name}`, "Traffic", [key], "TCP small queues: time of data at the pacing rate that a socket may have in its host's queues and devices", "");
      return [ladder(base, plain(["1 ms", "2 ms", "4 ms", "8 ms", "16 ms", "32 ms", "64 ms"]), milliseconds)];
    }
    const key = `node.${part(name)}.sysctl.${TSQ}`;
    const base = common(of, key, `Small queues of ${name}`, "Traffic", [key], "TCP small queues: bytes that a socket may have in its host's queues and devices", String(limit));
    const bytes = [4096, 8192, 16384, 32768, 65536, 131072, 262144, 524288, 1048576, 4194304, 16777216];
    return [ladder(base, bytes.map((n) => ({ value: String(n), label: size(n) })), Number)];
  });
}

const size = (bytes: number): string => (bytes < 1048576 ? `${bytes / 1024} KiB` : `${bytes / 1048576} MiB`);
export const megabits = (text: string): number => {
  const found = /^\s*([0-9.]+)\s*([kMG]?)bit\/s\s*$/.exec(text);
  return found ? Number(found[1]) * ({ k: 1e-3, M: 1, G: 1e3 }[found[2]!] ?? 1e-6) : NaN;
};
export const milliseconds = (text: string): number => {
  const found = /^\s*([0-9.]+)\s*(ns|us|µs|ms|s)\s*$/.exec(text);
  return found ? Number(found[1]) * { ns: 1e-6, us: 1e-3, "µs": 1e-3, ms: 1, s: 1e3 }[found[2] as "ns"] : NaN;
};

const LOADS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 20, 25, 30, 40, 50, 60, 80, 100, 150, 200, 300, 500, 1000].map((n) => `${n} Mbit/s`);

function loads(of: Material): Knob[] {
  return flows(of, "udp").flatMap(({ name, key, flow }): Knob[] => {
    if (Array.isArray(flow["rate"])) return [];
    const base = common(of, `${key}.rate`, `Load of ${name}`, "Traffic", [`${key}.rate`], "payload per receiver", "");
    return [ladder(base, plain(LOADS), megabits)];
  });
}

const DELAYS = [0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 50, 80, 100, 150, 200, 300].map((n) => `${n} ms`);
const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2500, 10000].map((n) => (n < 1000 ? `${n} Mbit/s` : `${n / 1000} Gbit/s`));

function links(of: Material): Knob[] {
  return of.survey.links.flatMap(({ name, rates_bps, delays_ms }): Knob[] => {
    const text = table(table(of.document["link"])[name]);
    const key = `link.${part(name)}`;
    const found: Knob[] = [];
    if (typeof text["delay"] === "string") {
      const base = common(of, `${key}.delay`, `Delay of ${name}`, "Wires", [`${key}.delay`], "one-way propagation delay", `${delays_ms[0]} ms`);
      found.push(ladder(base, plain(DELAYS), milliseconds));
    }
    if (typeof text["rate"] === "string") {
      const base = common(of, `${key}.rate`, `Rate of ${name}`, "Wires", [`${key}.rate`], "rate per direction", `${(rates_bps[0] ?? 0) / 1e6} Mbit/s`);
      found.push(ladder(base, plain(SPEEDS), megabits));
    }
    return found;
  });
}

// Maximum number of per-station knobs; the search has the others.
const MOST_STATIONS = 6;

// The rates in the family of a fixed rate: `ht20-mcs0-sgi` to `ht20-mcs15-sgi`.
export function family(rate: string): string[] {
  const found = /^(ht\d+-mcs)(\d+)(-.+)$/.exec(rate) ?? /^((?:vht|he|eht)\d+(?:-nss\d)?-mcs)(\d+)(.*)$/.exec(rate);
  if (!found) return [];
  const [, before, , behind] = found;
  const most = before!.startsWith("ht") ? 15 : before!.startsWith("vht") ? 9 : before!.startsWith("he") ? 11 : 13;
  return Array.from({ length: most + 1 }, (_, n) => `${before}${n}${behind}`);
}

function rates(of: Material): Knob[] {
  const fixed = of.survey.paths.filter(({ down }) => down.control === "fixed" && down.rate);
  return fixed.slice(0, MOST_STATIONS).flatMap(({ station, down }): Knob[] => {
    const [node, name] = station.split(".") as [string, string];
    const path = `node.${part(node)}.interface.${part(name)}`;
    const rate = down.rate!.name;
    const all = family(rate);
    if (!all.length) return [];
    const base = common(of, `${path}.rate`, `Rate of ${node}`, "Stations", [`${path}.rate`], "in both directions; MCS 8 to 15 have two spatial streams", rate);
    const steps = all.map((one) => ({ value: one, label: /mcs\d+/.exec(one)![0].replace("mcs", "MCS ") }));
    // A retry chain starts with its main rate; the new value replaces the whole chain.
    const apply = (to: string | undefined) => ({ [`${path}.rate`]: to, [`${path}.retry_chain`]: to === undefined ? undefined : "[]" });
    return [{ ...ladder({ ...base, now: value(of.state, `${path}.rate`) ?? rate }, steps, (text) => all.indexOf(text)), apply }];
  });
}

const LOSSES = ["0", "0.01", "0.02", "0.05", "0.1", "0.15", "0.2", "0.3", "0.4", "0.5"];

function losses(of: Material): Knob[] {
  const fixed = of.survey.paths.filter(({ down }) => down.control === "fixed");
  return fixed.slice(0, MOST_STATIONS).map(({ station }): Knob => {
    const [node, name] = station.split(".") as [string, string];
    const key = `node.${part(node)}.interface.${part(name)}.error_rate`;
    const base = common(of, key, `Loss of ${node}`, "Stations", [key], "probability that a data frame is lost on the air", "0");
    return ladder(base, LOSSES.map((one) => ({ value: one, label: `${Number(one) * 100} %` })), Number);
  });
}
