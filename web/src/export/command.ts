// The command line that repeats a run.
import type { State } from "../model/state.ts";

// A word as a POSIX shell takes it.
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// What a file of this scenario is called, without its end.
export function base(state: State): string {
  return (state.text === null ? state.scenario : state.file.replace(/\.toml$/, "")).replaceAll("/", "-");
}

export function command(state: State, file: string): string {
  // A path has flows here alone: what repeats it is the TOML file of this page.
  const shipped = state.scenario.startsWith("paths/") ? `${base(state)}.toml` : state.scenario;
  const name = state.text === null ? shipped : file;
  const words = ["stillair", "run", quoted(name)];
  for (const [key, value] of state.set) words.push("--set", quoted(`${key}=${value}`));
  if (state.seed !== null) words.push("--seed", String(state.seed));
  words.push("--runs", String(state.runs));
  return words.join(" ");
}
