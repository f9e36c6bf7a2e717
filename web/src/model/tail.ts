// Where the slowest 1 % of a flow's packets spent their time: `[record] sojourn`, docs/sojourn.md.
import type { Histogram, Sojourn } from "../engine/protocol.ts";

export interface Part {
  layer: string;
  cause: string;
  ms: number;
}

export interface Tail {
  name: string;
  // Mean delay of these packets, which is the sum of the parts.
  ms: number;
  parts: Part[];
}

const SLOWEST = 0.01;

export function tails({ layers, causes, flows }: Sojourn): Tail[] {
  return Object.entries(flows).map(([name, of]) => tail(name, of, layers, causes));
}

function tail(name: string, { cells, packets, delay_ns, parts_ns }: Histogram, layers: string[], causes: string[]): Tail {
  const wanted = Math.max(1, SLOWEST * packets.reduce((sum, one) => sum + one, 0));
  const parts = cells.map(() => 0);
  let [left, delay] = [wanted, 0];
  for (let bucket = packets.length - 1; bucket >= 0 && left > 0; bucket--) {
    // From the last bucket only the remaining number, at its mean.
    const share = Math.min(1, left / packets[bucket]!);
    delay += share * delay_ns[bucket]!;
    parts_ns[bucket]!.forEach((ns, n) => (parts[n]! += share * ns));
    left -= packets[bucket]!;
  }
  const ms = (ns: number) => ns / wanted / 1e6;
  const found = cells.map(([layer, cause], n): Part => ({ layer: layers[layer]!, cause: causes[cause]!, ms: ms(parts[n]!) }));
  // Time of data in the socket is reported separately from the delay.
  return { name, ms: ms(delay), parts: found.filter((part) => part.ms > 0 && part.layer !== "socket") };
}

// Parts by layer in path order, with causes sorted by time.
export function byLayer({ parts }: Tail, layers: string[]): { layer: string; ms: number; causes: Part[] }[] {
  return layers.flatMap((layer) => {
    const causes = parts.filter((part) => part.layer === layer).sort((a, b) => b.ms - a.ms);
    const ms = causes.reduce((sum, part) => sum + part.ms, 0);
    return ms > 0 ? [{ layer, ms, causes }] : [];
  });
}
