// The curves of several runs in one chart. Pure functions.
import type { CompareSeriesResponse, Job, JsonNumber, Series } from '../api/types';
import { bucketsFor, nonDecreasing } from '../chart/axes';
import type { Curve, CurveOptions } from '../chart/curves';
import { dashOf } from '../chart/dashes';
import type { CurveView } from '../router/url';

export interface Run {
  job: Job;
  series: Series | undefined;
  validation?: Series | undefined;
}

// Returns each job with its series. Leaves out bands, because bands of several runs would hide each
// other.
export function runsOf(answer: CompareSeriesResponse, metric: string): Run[] {
  const found = new Map<string, Series>();
  for (const one of answer.series) {
    const x = one.x ? nonDecreasing(one.x) : one.steps;
    const drawn = { ...one, x, counts: [] };
    found.set(`${one.job_id}/${one.key}`, drawn);
  }
  return answer.jobs.map((job) => ({
    job,
    series: found.get(`${job.id}/${metric}`),
    validation: found.get(`${job.id}/val_loss`),
  }));
}

// A point is a spike if it differs from its neighbours by at least this many median bucket heights
// (max - min).
const SPIKE = 4;

const finite = (value: JsonNumber | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

function usualHeight({ min, max }: Pick<Series, 'min' | 'max'>): number {
  const heights = max
    .map((high, index) => (finite(high) ?? NaN) - (finite(min[index]) ?? NaN))
    .filter((height) => !Number.isNaN(height))
    .sort((a, b) => a - b);
  return heights[heights.length >> 1] ?? 0;
}

// Returns the values for a run's line: the mean of each bucket or, if the mean hides a spike, the
// spike. A steep fall is not a spike, because each of its buckets begins where the previous one
// ends.
export function withSpikes(series: Pick<Series, 'mean' | 'min' | 'max'>): JsonNumber[] {
  const { mean, min, max } = series;
  const limit = SPIKE * usualHeight(series);
  return mean.map((value, index) => {
    const near = [mean[index - 1], value, mean[index + 1]]
      .map(finite)
      .filter((neighbour) => neighbour !== undefined);
    if (near.length === 0) return value;
    const [high, low] = [finite(max[index]), finite(min[index])];
    const above = high === undefined ? 0 : high - Math.max(...near);
    const below = low === undefined ? 0 : Math.min(...near) - low;
    if (Math.max(above, below) <= limit) return value;
    return (above >= below ? high : low) ?? value;
  });
}

// With more runs than this, fewer buckets are requested per run. Lines one pixel wide cannot show
// more, and fifty runs have fifty times as many points.
const MANY_RUNS = 8;
const BUCKETS_OF_MANY = 300;
// Maximum number of points of all runs together, and the maximum number of buckets that the
// controller returns for one run.
const POINTS_MAX = 30_000;
const BUCKETS_MAX = 10_000;

// `zoom`: the length of the whole run divided by the length of the window, for requests that cannot
// specify the window. The result grows by powers of two, so that a small change of the window
// causes no new request.
export function compareBuckets(runs: number, widthPx: number, zoom: number): number {
  const base = runs > MANY_RUNS ? BUCKETS_OF_MANY : bucketsFor(widthPx);
  const most = Math.min(BUCKETS_MAX, Math.floor(POINTS_MAX / Math.max(1, runs)));
  const wanted = base * 2 ** Math.ceil(Math.log2(Math.max(1, zoom)));
  return Math.max(base, Math.min(most, wanted));
}

// In the unit of the axis.
export function longestSpan(runs: readonly Run[]): number {
  const spans = runs.map(({ series }) => (series?.x.at(-1) ?? 0) - (series?.x[0] ?? 0));
  return Math.max(0, ...spans);
}

// Returns the part of a curve inside a window, and one point on each side of the window so that the
// line reaches both edges. The y axis then fits the visible part.
function within(curve: Curve, { from, to }: CompareView): Curve {
  if (from === undefined || to === undefined) return curve;
  const begin = curve.x.findIndex((x) => x >= from);
  if (begin < 0) return { ...curve, x: [], y: [] };
  const behind = curve.x.findIndex((x) => x > to);
  const [first, end] = [Math.max(0, begin - 1), behind < 0 ? curve.x.length : behind + 1];
  return { ...curve, x: curve.x.slice(first, end), y: curve.y.slice(first, end) };
}

export type CompareView = Pick<CurveView, 'logY' | 'axis' | 'from' | 'to'>;

// Returns one line per run, smoothed if requested, without bands, because they would hide each
// other.
// A run without points gives an empty curve, so that curves and runs have the same indices.
export function compareCurves(
  runs: readonly Run[],
  view: CompareView,
  curvesOf: (series: Series, options: CurveOptions) => Curve[],
): Curve[] {
  return runs.map(({ job, series }, index) => {
    const options = { logY: view.logY, color: index, label: `${job.name} #${job.id}` };
    const all = series ? curvesOf({ ...series, mean: withSpikes(series) }, options) : [];
    const line =
      all.find(({ role }) => role === 'smooth') ?? all.find(({ role }) => role === 'raw');
    const dash = dashOf(index);
    const base: Curve = line ?? { role: 'raw', label: options.label, x: [], y: [], color: index };
    const drawn: Curve = { ...base, role: 'raw', ...(dash ? { dash } : {}) };
    if (view.axis !== 'time') return drawn;
    return within({ ...drawn, x: sinceStart(base.x) }, view);
  });
}

// Returns the milliseconds since the run's first point, because runs began at different times.
function sinceStart(times: readonly number[]): number[] {
  const first = times[0] ?? 0;
  return times.map((time) => time - first);
}

// Returns the indices of the runs in table order: as given or, if `byValue`, by newest value,
// smallest first, then the runs without a value.
export function runOrder(runs: readonly Run[], byValue: boolean): number[] {
  const order = runs.map((_, index) => index);
  if (!byValue) return order;
  const value = (index: number) => {
    const last = runs[index]?.series?.last.at(-1);
    return typeof last === 'number' ? last : Infinity;
  };
  return order.sort((a, b) => value(a) - value(b) || a - b);
}
