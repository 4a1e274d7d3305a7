import type { JsonNumber } from '../api/types';

const WIDTH = 120;
const HEIGHT = 28;

// Returns an SVG path through the values, with gaps at non-finite values.
export function sparkPath(values: readonly JsonNumber[], width = WIDTH, height = HEIGHT): string {
  const finite = values.filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
  if (finite.length < 2) return '';
  const low = Math.min(...finite);
  const span = Math.max(...finite) - low || 1;
  let pen = 'M';
  let path = '';
  values.forEach((value, index) => {
    if (typeof value !== 'number' || !Number.isFinite(value)) {
      pen = 'M';
      return;
    }
    const x = (index / (values.length - 1)) * width;
    const y = 2 + (1 - (value - low) / span) * (height - 4);
    path += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = 'L';
  });
  return path;
}

export function Sparkline({
  values,
  label,
  color,
}: {
  values: readonly JsonNumber[];
  label: string;
  // CSS class of the run's color.
  color: string;
}) {
  return (
    <svg
      class={`spark ${color}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={label}
      preserveAspectRatio="none"
    >
      <path d={sparkPath(values)} />
    </svg>
  );
}
