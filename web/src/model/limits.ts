// How much a page takes on. What is beyond is refused at once, with what would be right; `stillair run` has no such limits.
import type { Survey } from "../engine/protocol.ts";
import { type Tree, table } from "./document.ts";

export const MOST_BYTES = 1 << 20;
export const MOST_SECONDS = 3600;
export const MOST_NODES = 500;
// Virtual seconds of one node: 400 nodes for 30 s, 10 nodes for 20 min.
export const MOST_WORK = 12_000;
// A scenario that has not been read by then is too large, whatever it is that makes it so.
export const READ_MS = 10_000;

// Nodes that a scenario's tables ask for. Known before anything is read, as reading tens of thousands takes long.
export function crowd(document: Tree): number {
  const counts = Object.values(table(document["node"])).map((node) => Number(table(node)["count"] ?? 1));
  return counts.reduce((sum, count) => sum + (count > 1 ? count : 1), 0);
}

export const tooMany = (nodes: number): string | null =>
  nodes > MOST_NODES ? `the scenario has ${nodes} nodes, ${MOST_NODES} at most are run here` : null;

export function refusal({ duration_s, nodes }: Survey): string | null {
  const many = tooMany(nodes.length);
  if (many) return many;
  if (duration_s > MOST_SECONDS) return `duration: found ${duration_s} s, ${MOST_SECONDS} s at most are run here`;
  const work = duration_s * nodes.length;
  if (work > MOST_WORK) {
    const most = Math.max(1, Math.floor(MOST_WORK / nodes.length));
    return `duration: found ${duration_s} s with ${nodes.length} nodes, ${most} s at most are run here`;
  }
  return null;
}

export const ELSEWHERE = "'stillair run' runs it without this limit.";
