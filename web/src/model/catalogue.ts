// The bundled scenarios in menu order, and those named on the command line.
import campaigns from "stillair:papers";
import bundled from "stillair:scenarios";
import type { Override } from "../engine/protocol.ts";
import { served } from "../engine/served.ts";
import type { State } from "./state.ts";

export interface Entry {
  id: string;
  file: string;
  group: string;
  // Description from its first line.
  about: string;
  text: string;
}

const GROUPS: [group: string, ids: RegExp][] = [
  ["Homes, offices and campuses", /^(home|cafe|classroom|office|campus|dormitory|flat|mesh|phone|laptop|microwave|generations|examples\/)/],
  ["Ending the Anomaly", /^anomaly-/],
  ["Other papers", /^(tsq|one-ms|retry-out|bquic)/],
  ["'stillair link' paths, with a download", /^paths\//],
  ["Benchmarks", /^bench\//],
];

function about(text: string): string {
  const comment = text.split("\n").filter((line) => !line.startsWith("#:schema"))[0] ?? "";
  return comment.startsWith("#") ? comment.replace(/^#\s*/, "") : "";
}

function entry(id: string, file: string, text: string, group?: string): Entry {
  const found = GROUPS.find(([, ids]) => ids.test(id));
  return { id, file, text, about: about(text), group: group ?? found?.[0] ?? "Single models" };
}

const own = served()?.files.map(([file, text]) => entry(file, file, text, "Named on the command line")) ?? [];
const shipped = bundled.map(([id, text]) => entry(id, `${id.split("/").at(-1)}.toml`, text));
const order = ["Named on the command line", ...GROUPS.map(([group]) => group), "Single models"];

export const catalogue: Entry[] = [...own, ...shipped].sort((a, b) => order.indexOf(a.group) - order.indexOf(b.group));
export const groups: string[] = order.filter((group) => catalogue.some((one) => one.group === group));

// Traces and other files that scenarios refer to, as passed to `stillair explore`.
export const beside: Override[] = served()?.beside ?? [];

export function sourceOf(state: State): { text: string; file: string; about: string } | null {
  if (state.text !== null) return { text: state.text, file: state.file, about: "" };
  return catalogue.find(({ id }) => id === state.scenario) ?? null;
}

// Settings that papers used for a scenario, by name and campaign.
export interface Campaign {
  title: string;
  cells: { id: string; name: string; set: Override[] }[];
}

export function campaignsOf(state: State): Campaign[] {
  if (state.text !== null) return [];
  const mine = campaigns.filter(({ scenario }) => scenario === state.scenario);
  return mine.map(({ paper, name, cells }) => ({
    title: `${paper}, ${name}`,
    cells: cells.map((cell) => ({ ...cell, id: `${paper}/${name}/${cell.name}` })),
  }));
}
