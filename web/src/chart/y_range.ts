// The y range of a chart. Pure functions.
import { extent, type Curve, type Role, type Value } from './curves';

// LOW and HIGH are the quantiles between which most values lie. MARGIN is how far the range extends
// beyond LOW and HIGH, as a multiple of the distance between LOW and HIGH.
const LOW = 0.05;
const HIGH = 0.95;
const MARGIN = 0.5;
// The full range is shown if it is at most this many times the typical range.
const MOST_STRETCH = 1.25;
// The newest part of each curve is always in the range, so that a diverging run is visible.
const NEWEST_PART = 0.05;

const LINES: readonly Role[] = ['raw', 'smooth', 'stack'];

const isNumber = (value: Value): value is number => typeof value === 'number';

function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.round(share * (sorted.length - 1))] as number;
}

function newestOf({ y }: Curve): number[] {
  return y.slice(-Math.ceil(y.length * NEWEST_PART)).filter(isNumber);
}

// Returns the range in which the curves are easy to read. A few extreme values, such as those of
// the first steps, may be outside of it. The range of a stack begins at 0 and contains its
// sums. Returns undefined if there are no values.
export function typicalRange(all: readonly Curve[]): [number, number] | undefined {
  const full = extent(all);
  if (!full) return undefined;
  const top = all.findLast(({ role }) => role === 'stack');
  const curves = all.filter((curve) => curve.role !== 'stack' || curve === top);
  const sorted = curves.flatMap(({ y }) => y.filter(isNumber)).sort((a, b) => a - b);
  const [low, high] = [quantile(sorted, LOW), quantile(sorted, HIGH)];
  const margin = MARGIN * (high - low);
  if (margin === 0) return full;
  const lines = curves.filter(({ role }) => LINES.includes(role));
  const kept = lines.flatMap(newestOf);
  const least = Math.max(full[0], kept.reduce((a, b) => Math.min(a, b), low - margin));
  const bottom = top ? full[0] : least;
  const most = Math.min(full[1], kept.reduce((a, b) => Math.max(a, b), high + margin));
  return full[1] - full[0] <= MOST_STRETCH * (most - bottom) ? full : [bottom, most];
}

// Returns the extreme values that a chart with the typical range does not show.
export function valuesOutside(curves: readonly Curve[]): { low?: number; high?: number } {
  const [full, typical] = [extent(curves), typicalRange(curves)];
  if (!full || !typical) return {};
  return {
    ...(full[0] < typical[0] ? { low: full[0] } : {}),
    ...(full[1] > typical[1] ? { high: full[1] } : {}),
  };
}
