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

// A band from min to max where points were merged, the newest point of each bucket, and the moving
// average where one was asked for.
export function curvesOf(series: Series, options: CurveOptions): Curve[] {
  const { logY, color } = options;
  const base = { label: options.label ?? series.key, x: series.x, color };
  const last = column(series.last, logY);
  if (series.abandoned) {
    return [{ ...base, role: 'abandoned', y: last, label: `attempt ${series.epoch}, abandoned` }];
  }
  if (options.points) return [{ ...base, role: 'points', y: last }];
  const curves: Curve[] = [];
  if (isThinned(series)) {
    curves.push({ ...base, role: 'max', y: column(series.max, logY) });
    curves.push({ ...base, role: 'min', y: column(series.min, logY) });
  }
  curves.push({ ...base, role: 'raw', y: last });
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

// All curves over one growing x, as uPlot wants them.
export function align(curves: readonly Curve[]): [number[], ...Value[][]] {
  const first = curves[0];
  if (first === undefined) return [[]];
  if (curves.every((curve) => curve.x === first.x)) {
    return [[...first.x], ...curves.map((curve) => [...curve.y])];
  }
  const x = [...new Set(curves.flatMap((curve) => curve.x))].sort((a, b) => a - b);
  const place = new Map(x.map((value, index) => [value, index]));
  const columns = curves.map((curve) => {
    const values = new Array<Value>(x.length).fill(undefined);
    curve.x.forEach((value, index) => {
      values[place.get(value) as number] = curve.y[index];
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

// Buckets with points that are not a number, as steps.
export function nanSteps(series: Series): number[] {
  return series.steps.filter((_, index) => (series.nan_counts[index] ?? 0) > 0);
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
