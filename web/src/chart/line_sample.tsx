import { runColorName } from '../chart/colors';
import { dashOf } from '../chart/dashes';

// A short piece of a curve, for legends.
export function LineSample({ color }: { color: number }) {
  return (
    <svg class="line-sample" viewBox="0 0 28 8" aria-hidden="true">
      <path d="M0 4H28" class={runColorName(color)} stroke-dasharray={dashOf(color)?.join(' ')} />
    </svg>
  );
}
