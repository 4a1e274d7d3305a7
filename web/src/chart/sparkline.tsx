import type { JsonNumber } from '../api/types';

const WIDTH = 120;
const HEIGHT = 28;

export type Range = readonly [number, number];

// Returns an SVG path through the values, with gaps at non-finite values. `range`: the values at
// the lower and upper edge; by default the curve's range.
export function sparkPath(values: readonly JsonNumber[], range?: Range): string {
  const finite = values.filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
  if (finite.length < 2) return '';
  const [low, high] = range ?? [Math.min(...finite), Math.max(...finite)];
  const span = high - low || 1;
  let pen = 'M';
  let path = '';
  values.forEach((value, index) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      pen = 'M';
      return;
    }
    const x = (index / (values.length - 1)) * WIDTH;
    const y = 2 + (1 - (value - low) / span) * (HEIGHT - 4);
    path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = 'L';
  });
  return path;
}

export function Sparkline({
  values,
  label,
  color,
  range,
}: {
  values: readonly JsonNumber[];
  label: string;
  // CSS class of the run's color.
  color: string;
  range?: Range | undefined;
}) {
  return (
    <svg
      class={`spark ${color}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={label}
      preserveAspectRatio="none"
    >
      <path d={sparkPath(values, range)} />
    </svg>
  );
}
