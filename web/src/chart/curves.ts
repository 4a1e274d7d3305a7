// Converts the API's series to the columns that a chart draws. Pure functions.
import type { JsonNumber, Series } from '../api/types';

// null: a gap in the curve. undefined: only other curves have a point at this x.
export type Value = number | null | undefined;

// 'raw': the mean of each bucket. 'min' and 'max': the bounds of the band around it. 'smooth': the
// moving average. 'redone': a part that a newer attempt has repeated. 'stack': the upper edge of a
// layer on top of the layers before it. 'baseline': a curve of another job.
export type Role = 'min' | 'max' | 'raw' | 'smooth' | 'points' | 'redone' | 'stack' | 'baseline';

export interface Curve {
  role: Role;
  label: string;
  // In steps, tokens or milliseconds, depending on the requested axis.
  x: readonly number[];
  y: readonly Value[];
  // Index into the theme's palette.
  color: number;
  dash?: readonly number[];
}

// Returns null, which draws a gap, for NaN and infinities and, on a logarithmic axis, for values <=
// 0. Returns other values unchanged.
function drawable(value: JsonNumber | undefined, logY: boolean): number | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  return logY && value <= 0 ? null : value;
}

const column = (values: readonly JsonNumber[], logY: boolean) =>
  values.map((value) => drawable(value, logY));

export interface CurveOptions {
  logY: boolean;
  color: number;
  // True to mark every point. For series with few points, such as the validation loss.
  points?: boolean;
  label?: string;
}

// Returns the curves of one series: the mean of each bucket, a band from min to max if points were
// merged into buckets, and the moving average if requested.
export function curvesOf(series: Series, options: CurveOptions): Curve[] {
  const { logY, color } = options;
  const base = { label: options.label ?? series.key, x: series.x, color };
  const mean = column(series.mean, logY);
  if (series.redone) {
    return [{ ...base, role: 'redone', y: mean, label: `attempt ${series.attempt}, redone` }];
  }
  if (options.points) return [{ ...base, role: 'points', y: mean }];
  const curves: Curve[] = [];
  if (isThinned(series)) {
    curves.push({ ...base, role: 'max', y: column(series.max, logY) });
    curves.push({ ...base, role: 'min', y: column(series.min, logY) });
  }
  curves.push({ ...base, role: 'raw', y: mean });
  if (series.smoothed.length > 0) {
    curves.push({ ...base, role: 'smooth', y: column(series.smoothed, logY) });
  }
  return curves;
}

// True if any bucket contains more than one point.
export function isThinned(series: Series): boolean {
  return series.counts.some((count) => count > 1);
}

// The median number of raw points per bucket.
export function pointsPerBucket(series: Series): number {
  if (series.counts.length === 0) return 0;
  const sorted = [...series.counts].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

// Counts a curve's points at each x. An x may have several points, because timestamps may be equal.
function countByX(xs: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const x of xs) counts.set(x, (counts.get(x) ?? 0) + 1);
  return counts;
}

// Returns the x values of all curves in ascending order. Each x occurs as often as in the curve
// that has the most points at this x.
function sharedX(curves: readonly Curve[]): number[] {
  const most = new Map<number, number>();
  // Curves of one series share one x array, which is counted once.
  for (const xs of new Set(curves.map((curve) => curve.x))) {
    for (const [x, count] of countByX(xs)) most.set(x, Math.max(most.get(x) ?? 0, count));
  }
  const distinct = [...most].sort(([a], [b]) => a - b);
  return distinct.flatMap(([x, count]) => new Array<number>(count).fill(x));
}

// Returns the data for uPlot, which draws all curves over one non-decreasing x. The first array is
// that x; each other array has the values of one curve. Keeps every point. The x of each curve must
// be non-decreasing.
export function align(curves: readonly Curve[]): [number[], ...Value[][]] {
  const first = curves[0];
  if (first === undefined) return [[]];
  if (curves.every((curve) => curve.x === first.x)) {
    return [[...first.x], ...curves.map((curve) => [...curve.y])];
  }
  const x = sharedX(curves);
  const columns = curves.map((curve) => {
    const values = new Array<Value>(x.length).fill(undefined);
    let place = 0;
    curve.x.forEach((value, index) => {
      while (place < x.length && (x[place] as number) < value) place++;
      values[place++] = curve.y[index];
    });
    return values;
  });
  return [x, ...columns];
}

// Returns the index nearest to `index` that has a value; undefined if none is within `reach`
// indices.
export function nearestDefined(
  values: readonly Value[],
  index: number,
  reach: number,
): number | undefined {
  for (let distance = 0; distance <= reach; distance++) {
    for (const candidate of [index - distance, index + distance]) {
      const value = values[candidate];
      if (value !== undefined && value !== null) return candidate;
    }
  }
  return undefined;
}

// Consecutive steps with non-finite values, from `first` to `last` inclusive.
export interface NotFiniteRange {
  first: number;
  last: number;
  nan: boolean;
  infinite: boolean;
}

const isInfinite = (value: JsonNumber | undefined) =>
  value === 'Infinity' || value === '-Infinity';

// Returns the first step of a bucket. `steps` has only the last step of each bucket, so a bucket of
// several points is assumed to begin just after the previous bucket. The first bucket is assumed to
// have one point per step.
function firstStepOf({ steps, counts }: Series, index: number): number {
  const step = steps[index] as number;
  const count = counts[index] ?? 1;
  if (count <= 1) return step;
  const before = steps[index - 1];
  return before === undefined ? Math.max(0, step - count + 1) : before + 1;
}

// Returns the ranges of non-finite values. Ranges in adjacent buckets are joined.
export function notFiniteRanges(series: Series): NotFiniteRange[] {
  const { steps, nan_counts: nans, min, max } = series;
  const ranges: NotFiniteRange[] = [];
  let previousNotFinite = false;
  steps.forEach((step, index) => {
    const nan = (nans[index] ?? 0) > 0;
    const infinite = isInfinite(min[index]) || isInfinite(max[index]);
    const open = previousNotFinite ? ranges.at(-1) : undefined;
    previousNotFinite = nan || infinite;
    if (!previousNotFinite) return;
    if (open) {
      open.last = step;
      open.nan ||= nan;
      open.infinite ||= infinite;
      return;
    }
    ranges.push({ first: firstStepOf(series, index), last: step, nan, infinite });
  });
  return ranges;
}

// Returns a text such as "NaN at step 7" or "NaN and Inf, steps 7 to 90".
export function rangeText({ first, last, nan, infinite }: NotFiniteRange): string {
  const what = nan && infinite ? 'NaN and Inf' : nan ? 'NaN' : 'Inf';
  return first === last ? `${what} at step ${first}` : `${what}, steps ${first} to ${last}`;
}

// Returns the lowest and highest value drawn; undefined if there is none. A stack is drawn from 0.
export function extent(curves: readonly Curve[]): [number, number] | undefined {
  let low = Infinity;
  let high = -Infinity;
  for (const curve of curves) {
    for (const value of curve.y) {
      if (value === undefined || value === null) continue;
      if (value < low) low = value;
      if (value > high) high = value;
    }
  }
  if (low > high) return undefined;
  return [curves.some(({ role }) => role === 'stack') ? Math.min(0, low) : low, high];
}

// Returns the part of a curve inside a window, and one point on each side of the window so that the
// line reaches both edges. This lets the y axis fit the visible part.
export function within(
  curve: Curve,
  { from, to }: { from: number | undefined; to: number | undefined },
): Curve {
  if (from === undefined || to === undefined) return curve;
  const begin = curve.x.findIndex((x) => x >= from);
  if (begin < 0) return { ...curve, x: [], y: [] };
  const behind = curve.x.findIndex((x) => x > to);
  const [first, end] = [Math.max(0, begin - 1), behind < 0 ? curve.x.length : behind + 1];
  return { ...curve, x: curve.x.slice(first, end), y: curve.y.slice(first, end) };
}
