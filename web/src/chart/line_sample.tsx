import { runColorName } from './colors';
import { dashOf } from './dashes';

interface LineSampleProps {
  color: number;
  // Lengths of the dashes and gaps.
  dash: readonly number[] | undefined;
}

// A short piece of a curve, for legends.
export function LineSample({ color, dash }: LineSampleProps) {
  return (
    <svg class="line-sample" viewBox="0 0 28 8" aria-hidden="true">
      <path d="M0 4H28" class={runColorName(color)} stroke-dasharray={dash?.join(' ')} />
    </svg>
  );
}

// A piece of the curve of a compared run or group. The color determines the dashes.
export const RunSample = ({ color }: { color: number }) => (
  <LineSample color={color} dash={dashOf(color)} />
);
