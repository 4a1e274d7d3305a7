// Groups of runs with the same value of a setting. Pure functions.
import type { Curve, Value } from '../chart/curves';
import { dashOf } from '../chart/dashes';
import { numberOf } from './settings';

export interface Group {
  // The value of the setting; undefined for runs without the setting.
  value: string | undefined;
  // Determines color and dash pattern.
  color: number;
  // Indices of the runs.
  runs: readonly number[];
}

export const groupName = ({ value }: Group) => value ?? 'not set';

// Compares two values. Numbers come first, by size, then other texts, then a missing value.
function compareValues(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return a === b ? 0 : a === undefined ? 1 : -1;
  const [left, right] = [numberOf(a), numberOf(b)];
  if (left !== undefined && right !== undefined) return left - right;
  if (left !== undefined || right !== undefined) return left !== undefined ? -1 : 1;
  return a.localeCompare(b);
}

// `values`: the value of each run.
export function groupsOf(values: readonly (string | undefined)[]): Group[] {
  const distinct = [...new Set(values)].sort(compareValues);
  return distinct.map((value, color) => ({
    value,
    color,
    runs: values.flatMap((one, index) => (one === value ? [index] : [])),
  }));
}

// Returns the color of each run: the color of its group or, without groups, a separate color.
export function colorsOf(groups: readonly Group[] | undefined, runs: number): number[] {
  const colors = Array.from({ length: runs }, (_, index) => index);
  for (const group of groups ?? []) {
    for (const run of group.runs) colors[run] = group.color;
  }
  return colors;
}

const isNumber = (value: Value): value is number => typeof value === 'number';

// Returns a function that interpolates the curve at ascending positions. The function returns
// undefined outside of the curve and in its gaps.
function interpolator({ x, y }: Curve): (at: number) => number | undefined {
  let index = 0;
  return (at) => {
    while (index + 1 < x.length && (x[index + 1] as number) <= at) index++;
    const [left, value] = [x[index], y[index]];
    if (left === undefined || at < left || !isNumber(value)) return undefined;
    if (at === left) return value;
    const [right, next] = [x[index + 1], y[index + 1]];
    if (right === undefined || !isNumber(next)) return undefined;
    return value + ((next - value) * (at - left)) / (right - left);
  };
}

const sortedX = (curves: readonly Curve[]): number[] =>
  [...new Set(curves.flatMap(({ x }) => x))].sort((a, b) => a - b);

// Returns the mean of a group's curves in a band from the lowest to the highest curve. Each
// position includes the runs that have reached it.
function meanOf(group: Group, curves: readonly Curve[]): Curve[] {
  const x = sortedX(curves);
  const readers = curves.map(interpolator);
  const mean: Value[] = [];
  const min: Value[] = [];
  const max: Value[] = [];
  for (const at of x) {
    const values = readers.map((read) => read(at)).filter((value) => value !== undefined);
    const known = values.length > 0;
    mean.push(known ? values.reduce((sum, value) => sum + value, 0) / values.length : null);
    min.push(known ? Math.min(...values) : null);
    max.push(known ? Math.max(...values) : null);
  }
  const base = { label: groupName(group), x, color: group.color };
  const dash = dashOf(group.color);
  return [
    { ...base, role: 'max', y: max },
    { ...base, role: 'min', y: min },
    { ...base, role: 'raw', y: mean, ...(dash ? { dash } : {}) },
  ];
}

// Returns three curves per group. `curves`: one per run.
export function groupCurves(groups: readonly Group[], curves: readonly Curve[]): Curve[] {
  return groups.flatMap((group) =>
    meanOf(
      group,
      group.runs.map((run) => curves[run]).filter((curve) => curve !== undefined),
    ),
  );
}
