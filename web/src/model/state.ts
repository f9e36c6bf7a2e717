// Everything encoded in a link. The page is a function of this state.
import type { Override } from "../engine/protocol.ts";

export type View = "explore" | "air" | "labs";
export const VIEWS: readonly View[] = ["explore", "air", "labs"];

export interface State {
  view: View;
  // Name of a bundled scenario or of a `stillair explore` file; empty if `text` is the scenario.
  scenario: string;
  // A scenario written by the user.
  text: string | null;
  file: string;
  // Settings, in the order in which they were made.
  set: Override[];
  // Unset for the scenario's own seed.
  seed: number | null;
  runs: number;
  lab: string;
}

export const MOST_RUNS = 16;
export const FIRST: State = {
  view: "explore",
  scenario: "anomaly-tcp",
  text: null,
  file: "",
  set: [],
  seed: null,
  runs: 1,
  lab: "",
};

// Value of a key, if set.
export function value(state: State, key: string): string | undefined {
  return state.set.findLast(([name]) => name === key)?.[1];
}

// Sets keys; undefined values remove settings.
export function withSet(state: State, values: Record<string, string | undefined>): State {
  const set = state.set.filter(([key]) => !(key in values));
  for (const [key, value] of Object.entries(values)) if (value !== undefined) set.push([key, value]);
  return { ...state, set };
}

// Returns true if two states are the same experiment, regardless of the view.
export function sameRun(a: State, b: State): boolean {
  const of = ({ scenario, text, set, seed, runs }: State) => JSON.stringify([scenario, text, set, seed, runs]);
  return of(a) === of(b);
}
