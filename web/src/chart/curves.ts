// From series as the API gives them to the columns that a chart draws. Pure.
import type { JsonNumber, Series } from '../api/types';

// null is a gap in the curve; undefined only means that another curve has a point there.
export type Value = number | null | undefined;

export type Role = 'min' | 'max' | 'raw' | 'smooth' | 'points' | 'abandoned';

export interface Curve {
  role: Role;
  label: string;
  x: readonly number[];
  y: readonly Value[];
  // Place in the palette of the theme.
  color: number;
  dash?: readonly number[];
}

// A logarithm has no place for zero and below: such values are gaps there.
function drawable(value: JsonNumber | undefined, logY: boolean): number | null {
  if (typeof value !== 'number' || !Number.isFinite(value)) return null;
  return logY && value <= 0 ? null : value;
}

const column = (values: readonly JsonNumber[], logY: boolean) =>
  values.map((value) => drawable(value, logY));

export interface CurveOptions {
  logY: boolean;
  color: number;
  // Marks every point, for series with few of them, such as validation loss.
  points?: boolean;
  label?: string;
}

// A band from min to max where points were merged, the mean of each bucket, and the moving average
// where one was asked for.
export function curvesOf(series: Series, options: CurveOptions): Curve[] {
  const { logY, color } = options;
  const base = { label: options.label ?? series.key, x: series.x, color };
  const mean = column(series.mean, logY);
  if (series.abandoned) {
    return [{ ...base, role: 'abandoned', y: mean, label: `attempt ${series.attempt}, abandoned` }];
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

export function isThinned(series: Series): boolean {
  return series.counts.some((amount) => amount > 1);
}

// Raw points behind one drawn point, at the median bucket.
export function pointsPerBucket(series: Series): number {
  if (series.counts.length === 0) return 0;
  const sorted = [...series.counts].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] as number;
}

// Number of points at each x of a curve: several points may have one timestamp.
function amountsOf(xs: readonly number[]): Map<number, number> {
  const amounts = new Map<number, number>();
  for (const x of xs) amounts.set(x, (amounts.get(x) ?? 0) + 1);
  return amounts;
}

// The x of all curves, ascending. Each x occurs as often as in the curve that has it most often.
function sharedX(curves: readonly Curve[]): number[] {
  const most = new Map<number, number>();
  for (const xs of new Set(curves.map((curve) => curve.x))) {
    for (const [x, amount] of amountsOf(xs)) most.set(x, Math.max(most.get(x) ?? 0, amount));
  }
  const distinct = [...most].sort(([a], [b]) => a - b);
  return distinct.flatMap(([x, amount]) => new Array<number>(amount).fill(x));
}

// All curves over one x that never falls, as uPlot wants them. No point is lost.
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

// The index nearest to `index` that has a value, or undefined when none is within `reach`.
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

// Steps in a row whose values are not finite, both ends included.
export interface NotFiniteRange {
  first: number;
  last: number;
  nan: boolean;
  infinite: boolean;
}

const isInfinite = (value: JsonNumber | undefined) =>
  value === 'Infinity' || value === '-Infinity';

// Neighbouring buckets with values that are not finite are one range.
export function notFiniteRanges(series: Series): NotFiniteRange[] {
  const { steps, counts, nan_counts: nans, min, max } = series;
  const ranges: NotFiniteRange[] = [];
  let joins = false;
  steps.forEach((step, index) => {
    const nan = (nans[index] ?? 0) > 0;
    const infinite = isInfinite(min[index]) || isInfinite(max[index]);
    const open = joins ? ranges.at(-1) : undefined;
    joins = nan || infinite;
    if (!joins) return;
    if (open) {
      open.last = step;
      open.nan ||= nan;
      open.infinite ||= infinite;
      return;
    }
    // A bucket begins behind the last step of the one before.
    const merged = (counts[index] ?? 1) > 1;
    const first = merged && index > 0 ? (steps[index - 1] as number) + 1 : step;
    ranges.push({ first, last: step, nan, infinite });
  });
  return ranges;
}

// "NaN at step 7" or "NaN and Inf, steps 7 to 90".
export function rangeText({ first, last, nan, infinite }: NotFiniteRange): string {
  const what = nan && infinite ? 'NaN and Inf' : nan ? 'NaN' : 'Inf';
  return first === last ? `${what} at step ${first}` : `${what}, steps ${first} to ${last}`;
}

// Lowest and highest drawn value; undefined when there is none.
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
  return low <= high ? [low, high] : undefined;
}
