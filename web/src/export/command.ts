// The command line that repeats a run.
import type { State } from "../model/state.ts";

// A word as a POSIX shell takes it.
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

export function command(state: State, file: string): string {

  const name = state.text === null ? state.scenario : file;
  const words = ["stillair", "run", quoted(name)];
  for (const [key, value] of state.set) words.push("--set", quoted(`${key}=${value}`));
  if (state.seed !== null) words.push("--seed", String(state.seed));
  words.push("--runs", String(state.runs));
  return words.join(" ");
}
