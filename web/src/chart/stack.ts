// Curves stacked on each other, for parts that add up to a whole. Pure functions.
import { align, type Curve, type Value } from './curves';

// Returns the values. Each missing value becomes the value before it, or 0 at the beginning.
function held(values: readonly Value[]): (number | null)[] {
  let last: number | null = 0;
  return values.map((value) => {
    if (value !== undefined) last = value;
    return last;
  });
}

// Returns the layers of a stack, the lowest first. All layers have a gap where a part is not
// finite, because the sum is unknown.
export function stackedCurves(parts: readonly Curve[]): Curve[] {
  const [x, ...columns] = align(parts);
  const values = columns.map(held);
  const sums = x.map((_, index): number | null =>
    values.some((column) => column[index] === null) ? null : 0,
  );
  return parts.map((part, layer) => {
    const y = (values[layer] ?? []).map((value, index) => {
      const below = sums[index] ?? null;
      const sum = below === null || value === null ? null : below + value;
      sums[index] = sum;
      return sum;
    });
    return { ...part, role: 'stack', x, y };
  });
}

// Returns each curve's own value: for a layer, the difference from the layer below it.
export function ownValues(
  curves: readonly Curve[],
  values: readonly (number | undefined)[],
): (number | undefined)[] {
  let below = 0;
  return curves.map(({ role }, index) => {
    const value = values[index];
    if (role !== 'stack' || value === undefined) return value;
    const own = value - below;
    below = value;
    return own;
  });
}
