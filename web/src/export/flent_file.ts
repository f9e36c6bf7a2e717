// The parts of a Flent data file that are filled in.
import type { Values } from "./steps.ts";

export type Item = Record<string, unknown>;

export interface File {
  results: Record<string, Values>;
  raw: Record<string, Item[]>;
  meta: Record<string, Item>;
}
