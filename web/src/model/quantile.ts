// As `model/metrics`: linear interpolation between samples.
export function quantile(sorted: ArrayLike<number>, part: number): number {
  const at = (sorted.length - 1) * part;
  const low = Math.floor(at);
  const below = sorted[low] ?? NaN;
  const above = sorted[Math.min(low + 1, sorted.length - 1)] ?? NaN;
  return below + (above - below) * (at - low);
}

export function mean(values: number[]): number {
  return values.length ? values.reduce((sum, one) => sum + one, 0) / values.length : NaN;
}
