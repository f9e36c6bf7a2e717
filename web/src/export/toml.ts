// The scenario with its settings, as one file.
import { stringify } from "smol-toml";
import { withSettings } from "../model/document.ts";
import { sourceOf } from "../model/catalogue.ts";
import type { State } from "../model/state.ts";

export function toToml(state: State): string {
  const { text } = sourceOf(state)!;
  const about = /^(?:#.*\n)*/.exec(text)![0];
  if (!state.set.length && state.seed === null) return text;
  const tree = withSettings(text, state.set);
  if (state.seed !== null) tree["seed"] = state.seed;
  // This run is not one of the sweep's combinations.
  delete tree["sweep"];
  return `${about}${stringify(tree)}\n`;
}
