// Size limits of the page. Larger scenarios are rejected immediately with the limit; `stillair run` has no such limits.
import type { Survey } from "../engine/protocol.ts";
import { type Tree, table } from "./document.ts";

export const MOST_BYTES = 1 << 20;
export const MOST_SECONDS = 3600;
export const MOST_NODES = 500;
// Virtual seconds for one node: 400 nodes for 30 s, 10 nodes for 20 min.
export const MOST_WORK = 12_000;
// A scenario that takes longer to read is too large, for whatever reason.
export const READ_MS = 10_000;

// Number of nodes in a scenario's tables. Counted first, because reading tens of thousands of nodes takes long.
export function crowd(document: Tree): number {
  const counts = Object.values(table(document["node"])).map((node) => Number(table(node)["count"] ?? 1));
  return counts.reduce((sum, count) => sum + (count > 1 ? count : 1), 0);
}

export const tooMany = (nodes: number): string | null =>
  nodes > MOST_NODES ? `the scenario has ${nodes} nodes, expected at most ${MOST_NODES} on this page` : null;

export function refusal({ duration_s, nodes }: Survey): string | null {
  const many = tooMany(nodes.length);
  if (many) return many;
  if (duration_s > MOST_SECONDS) return `duration: found ${duration_s} s, expected at most ${MOST_SECONDS} s on this page`;
  const work = duration_s * nodes.length;
  if (work > MOST_WORK) {
    const most = Math.max(1, Math.floor(MOST_WORK / nodes.length));
    return `duration: found ${duration_s} s with ${nodes.length} nodes, expected at most ${most} s on this page`;
  }
  return null;
}

export const ELSEWHERE = "'stillair run' has no such limit.";
