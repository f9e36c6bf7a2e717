// Files that the page exports.
import { type Asked, type Engine, type Override, askJson } from "../engine/protocol.ts";
import type { Outcome } from "../model/outcome.ts";
import { asOf } from "../model/runner.ts";
import type { State } from "../model/state.ts";
import { base } from "./command.ts";
import { tidy } from "./csv.ts";
import { flentOf } from "./flent.ts";
import type { Resolved } from "./flent_hosts.ts";
import { picture } from "./png.ts";
import { toToml } from "./toml.ts";

export type FileKind = "toml" | "csv" | "png" | "pcapng" | "flent";

export const FILES: { kind: FileKind; label: string; about: string }[] = [
  { kind: "toml", label: "TOML", about: "the scenario with its settings, for 'stillair run FILE'" },
  { kind: "csv", label: "CSV", about: "one row per value and 0.2 s step" },
  { kind: "png", label: "PNG", about: "the plots on this page" },
  { kind: "pcapng", label: "pcapng", about: "all frames on the air in the first measured second of the first run, for Wireshark" },
  { kind: "flent", label: "Flent", about: "the first run as a Flent data file" },
];

export interface Kept {
  name: string;
  blob: Blob;
}

export async function fileOf(kind: FileKind, state: State, outcome: Outcome, engine: Engine): Promise<Kept> {
  const run = outcome.runs[0]!;
  const called = base(state);
  const text = (suffix: string, content: string): Kept => ({ name: `${called}${suffix}`, blob: new Blob([content], { type: "text/plain" }) });
  switch (kind) {
    case "toml":
      return text(".toml", toToml(state));
    case "csv":
      return text(".csv", tidy(outcome.name, outcome.runs));
    case "png":
      return { name: `${called}.png`, blob: await picture(`${outcome.name}: ${settings(state.set)}`) };
    case "pcapng": {
      const from = run.series.warm_up_ns / 1e9;
      const asked: Asked = { do: "capture", of: asOf(state, run.run), points: [], from: `${from} s`, until: `${from + 1} s` };
      const bytes = await engine.ask(asked, new AbortController().signal);
      return { name: `${called}.pcapng`, blob: new Blob([bytes], { type: "application/octet-stream" }) };
    }
    case "flent": {
      const resolved = await askJson<Resolved>(engine, { do: "resolve", of: asOf(state) }, new AbortController().signal);
      const { name, json } = flentOf(outcome.version, outcome.name, run, resolved, called);
      const packed = new Blob([json]).stream().pipeThrough(new CompressionStream("gzip"));
      return { name, blob: await new Response(packed).blob() };
    }
  }
}

const settings = (set: Override[]): string => (set.length ? set.map(([key, value]) => `${key} = ${value}`).join(", ") : "scenario defaults");
