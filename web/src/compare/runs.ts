// The curves of several runs in one chart. Pure functions.
import type { CompareSeriesResponse, Job, JsonNumber, Series } from '../api/types';
import { bucketsFor, nonDecreasing } from '../chart/axes';
import { within, type Curve, type CurveOptions } from '../chart/curves';
import { dashOf } from '../chart/dashes';
import type { CurveView } from '../router/url';

const finite = (value: JsonNumber | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) ? value : undefined;

export interface Run {
  job: Job;
  // By key.
  series: ReadonlyMap<string, Series>;
}

// Returns each job with its series. Leaves out bands, because bands of several runs would hide each
// other.
export function runsOf(answer: CompareSeriesResponse): Run[] {
  const found = new Map<number, Map<string, Series>>();
  for (const { id } of answer.jobs) found.set(id, new Map());
  for (const one of answer.series) {
    const x = one.x ? nonDecreasing(one.x) : one.steps;
    found.get(one.job_id)?.set(one.key, { ...one, x, counts: [] });
  }
  return answer.jobs.map((job) => ({ job, series: found.get(job.id) ?? new Map() }));
}

// Returns the newest value of a run's series; undefined if the value is missing or not finite.
export function newestOf({ series }: Run, key: string): number | undefined {
  return finite(series.get(key)?.last.at(-1));
}

// A point is a spike if it differs from its neighbors by at least this many median bucket heights
// (max - min).
const SPIKE = 4;

function usualHeight({ min, max }: Pick<Series, 'min' | 'max'>): number {
  const heights = max
    .map((high, index) => (finite(high) ?? NaN) - (finite(min[index]) ?? NaN))
    .filter((height) => !Number.isNaN(height))
    .sort((a, b) => a - b);
  return heights[heights.length >> 1] ?? 0;
}

// Returns the values for a run's line: the mean of each bucket or, if the mean hides a spike, the
// spike. A steep fall is not a spike, because each bucket of a fall begins where the previous
// bucket ends.
export function withSpikes(series: Pick<Series, 'mean' | 'min' | 'max'>): JsonNumber[] {
  const { mean, min, max } = series;
  const limit = SPIKE * usualHeight(series);
  return mean.map((value, index) => {
    const near = [mean[index - 1], value, mean[index + 1]]
      .map(finite)
      .filter((neighbor) => neighbor !== undefined);
    if (near.length === 0) return value;
    const [high, low] = [finite(max[index]), finite(min[index])];
    const above = high === undefined ? 0 : high - Math.max(...near);
    const below = low === undefined ? 0 : Math.min(...near) - low;
    if (Math.max(above, below) <= limit) return value;
    return (above >= below ? high : low) ?? value;
  });
}

// With more runs than this, fewer buckets are requested per run, because the number of points grows
// with the number of runs.
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
  const all = runs.flatMap(({ series }) => [...series.values()]);
  return all.reduce((most, { x }) => Math.max(most, (x.at(-1) ?? 0) - (x[0] ?? 0)), 0);
}

type DrawnView = Pick<CurveView, 'logY' | 'axis' | 'from' | 'to'>;

export interface Drawn {
  metric: string;
  view: DrawnView;
  // The color of each run. Runs of one group have the same color.
  colors: readonly number[];
}

// Returns one line per run, smoothed if requested. Bands are left out: they would hide each other.
// A run without points gives an empty curve, so that curves and runs have the same indices.
export function compareCurves(
  runs: readonly Run[],
  { metric, view, colors }: Drawn,
  curvesOf: (series: Series, options: CurveOptions) => Curve[],
): Curve[] {
  return runs.map(({ job, series }, index) => {
    const color = colors[index] ?? index;
    const options = { logY: view.logY, color, label: `${job.name} #${job.id}` };
    const points = series.get(metric);
    const all = points ? curvesOf({ ...points, mean: withSpikes(points) }, options) : [];
    const line =
      all.find(({ role }) => role === 'smooth') ?? all.find(({ role }) => role === 'raw');
    const dash = dashOf(color);
    const base: Curve = line ?? { role: 'raw', label: options.label, x: [], y: [], color };
    const drawn: Curve = { ...base, role: 'raw', ...(dash ? { dash } : {}) };
    if (view.axis !== 'time') return drawn;
    return within({ ...drawn, x: sinceStart(series, base.x) }, view);
  });
}

// Returns the milliseconds since the first point of any of the run's series, because runs began at
// different times.
function sinceStart(series: Run['series'], times: readonly number[]): number[] {
  const firsts = [...series.values()].flatMap(({ x }) => x.slice(0, 1));
  const first = firsts.reduce((a, b) => Math.min(a, b), Infinity);
  return times.map((time) => time - first);
}

// Returns the indices of the runs in table order. With `key`: by the newest value of this series,
// smallest first; runs without a value come last. Without `key`: as given.
export function runOrder(runs: readonly Run[], key: string | undefined): number[] {
  const order = runs.map((_, index) => index);
  if (key === undefined) return order;
  const values = runs.map((run) => newestOf(run, key) ?? Infinity);
  return order.sort((a, b) => (values[a] as number) - (values[b] as number) || a - b);
}
