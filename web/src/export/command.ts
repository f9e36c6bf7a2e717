// The command line that repeats a run.
import type { State } from "../model/state.ts";

// Quotes a word for a POSIX shell.
export function quoted(word: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

// File name of this scenario, without its extension.
export function base(state: State): string {
  return (state.text === null ? state.scenario : state.file.replace(/\.toml$/, "")).replaceAll("/", "-");
}

export function command(state: State, file: string): string {
  // A path has flows only on this page, so use its TOML export.
  const shipped = state.scenario.startsWith("paths/") ? `${base(state)}.toml` : state.scenario;
  const name = state.text === null ? shipped : file;
  const words = ["stillair", "run", quoted(name)];
  for (const [key, value] of state.set) words.push("--set", quoted(`${key}=${value}`));
  if (state.seed !== null) words.push("--seed", String(state.seed));
  words.push("--runs", String(state.runs));
  return words.join(" ");
}
