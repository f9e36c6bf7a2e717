// The distribution of latency: one line per flow, over the previous setting.
import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { type Latency, p } from "../model/outcome.ts";
import { colour, dash, token } from "./colours.ts";

// Points per line, limited by screen resolution.
const POINTS = 240;
// Quantile at the end of the axis; the plot ends at 100 %.
const PARTS = Array.from({ length: POINTS + 1 }, (_, n) => n / POINTS);

export interface Line {
  latency: Latency;
  number: number;
  ghost: boolean;
}

// A common axis for lines with different samples: the share of each at or below x.
function curves(lines: Line[]): uPlot.AlignedData {
  const lowest = Math.min(...lines.map(({ latency }) => p(latency, 0)));
  const highest = Math.max(...lines.map(({ latency }) => p(latency, 1)));
  const low = Math.max(1e-3, lowest * 0.9);
  const high = Math.max(low * 1.1, highest * 1.05);
  const x = PARTS.map((part) => low * (high / low) ** part);
  return [x, ...lines.map(({ latency }) => x.map((ms) => (100 * below(latency.ms, ms)) / latency.ms.length))] as uPlot.AlignedData;
}

function below(sorted: Float64Array, limit: number): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]! <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

export function Cdf({ lines, theme }: { lines: Line[]; theme: string }) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const shape = lines.map(({ latency, number, ghost }) => `${latency.name}/${number}/${ghost}`).join("|") + theme;
  useEffect(() => {
    const at = box.current!;
    if (!lines.length) return;
    const made = new uPlot(options(lines, at.clientWidth), curves(lines), at);
    plot.current = made;
    const sized = new ResizeObserver(() => made.setSize({ width: at.clientWidth, height: height(at.clientWidth) }));
    sized.observe(at);
    return () => {
      sized.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [shape]);
  useEffect(() => {
    if (lines.length) plot.current?.setData(curves(lines));
  });
  return <div ref={box} class="plot" />;
}

const height = (width: number): number => Math.max(220, Math.min(340, width * 0.5));
const short = (ms: number): string => (ms >= 1000 ? `${+(ms / 1000).toPrecision(3)} s` : `${+ms.toPrecision(3)} ms`);

function options(lines: Line[], width: number): uPlot.Options {
  const [faint, grid] = [token("faint"), token("grid")];
  const font = "12px system-ui, sans-serif";
  const axis = { stroke: faint, font, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 } };
  const line = ({ latency, number, ghost }: Line): uPlot.Series => ({
    label: ghost ? `${latency.name}, before` : latency.name,
    stroke: ghost ? `${colour(number)}66` : colour(number),
    width: ghost ? 5 : 2.2,
    dash: dash(number),
    points: { show: false },
    value: (_, at) => (at === null ? "" : `${at.toFixed(1)} %`),
  });
  return {
    width,
    height: height(width),
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    scales: { x: { time: false, distr: 3 }, y: { range: [0, 100] } },
    axes: [
      { ...axis, values: (_, ticks) => ticks.map((ms) => (ms === null ? "" : short(ms))), space: 50, size: 34 },
      { ...axis, values: (_, ticks) => ticks.map((part) => `${part} %`), size: 52 },
    ],
    series: [{ label: "latency", value: (_, ms) => (ms === null ? "" : short(ms)) }, ...lines.map(line)],
  };
}
