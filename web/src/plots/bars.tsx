// One bar per value, with a mark at the previous setting's value.
export interface Bar {
  name: string;
  value: number;
  // Minimum and maximum over the runs.
  range?: [number, number];
  ghost?: number | undefined;
  colour: string;
}

export function Bars({ bars, unit, most, label }: { bars: Bar[]; unit: string; most?: number; label: string }) {
  const top = most ?? Math.max(1e-9, ...bars.flatMap(({ value, ghost, range }) => [value, ghost ?? 0, range?.[1] ?? 0]).filter(Number.isFinite));
  const part = (value: number) => `${Math.max(0, Math.min(100, (100 * value) / top))}%`;
  return (
    <ul class="bars" aria-label={label}>
      {bars.map(({ name, value, range, ghost, colour }) => (
        <li key={name}>
          <span class="bar-name" title={name}>{name}</span>
          <span class="bar-track" aria-hidden="true">
            {ghost !== undefined && Number.isFinite(ghost) && <i class="bar-ghost" style={{ width: part(ghost), "--colour": colour }} />}
            <i class="bar-fill" style={{ width: part(value), background: colour }} />
            {range && range[1] > range[0] && <i class="bar-range" style={{ left: part(range[0]), width: `calc(${part(range[1])} - ${part(range[0])})` }} />}
          </span>
          <span class="bar-value">
            {figure(value)} <small>{unit}</small> <Change now={value} before={ghost} />
          </span>
        </li>
      ))}
    </ul>
  );
}

export const figure = (value: number): string => {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  return size >= 100 ? value.toFixed(0) : size >= 10 ? value.toFixed(1) : size >= 0.01 || size === 0 ? value.toFixed(2) : value.toPrecision(2);
};

// Describes the change of a value without relying on colour.
export function Change({ now, before }: { now: number; before: number | undefined }) {
  if (before === undefined || !Number.isFinite(before) || !Number.isFinite(now) || before <= 0) return null;
  const times = now / before;
  if (Math.abs(times - 1) < 0.005) return <small class="change">same</small>;
  const text = times >= 2 ? `× ${figure(times)}` : times <= 0.5 ? `÷ ${figure(1 / times)}` : `${times > 1 ? "+" : "−"}${Math.abs(100 * (times - 1)).toFixed(0)} %`;
  return <small class="change">{text}</small>;
}
