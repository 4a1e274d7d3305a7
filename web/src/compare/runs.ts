// Curves of several runs in one chart. Pure.
import type { CompareSeriesResponse, Job, Series } from '../api/types';
import type { Curve, CurveOptions } from '../chart/curves';
import type { CurveView } from '../router/url';

export interface Run {
  job: Job;
  series: Series | undefined;
  validation?: Series | undefined;
}

// Each job with its series, without bands: they would hide each other.
export function runsOf(answer: CompareSeriesResponse, metric: string): Run[] {
  const found = new Map<string, Series>();
  for (const one of answer.series) {
    const drawn = { ...one, x: one.x ?? one.steps, min: [], max: [], counts: [] };
    found.set(`${one.job_id}/${one.key}`, drawn);
  }
  return answer.jobs.map((job) => ({
    job,
    series: found.get(`${job.id}/${metric}`),
    validation: found.get(`${job.id}/val_loss`),
  }));
}

// Colours repeat after eight runs; from then on dashes tell them apart.
const DASHES: readonly (readonly number[] | undefined)[] = [
  undefined,
  [7, 4],
  [2, 3],
  [9, 3, 2, 3],
  [12, 6],
  [4, 2],
];

export function dashOf(index: number, colors = 8): readonly number[] | undefined {
  return DASHES[Math.floor(index / colors) % DASHES.length];
}

// One line a run, the smoothed one where it was asked for: bands would hide each other.
// A run without points keeps an empty curve, so that the curve's index is the run's.
export function compareCurves(
  runs: readonly Run[],
  view: Pick<CurveView, 'logY' | 'axis'>,
  curvesOf: (series: Series, options: CurveOptions) => Curve[],
): Curve[] {
  return runs.map(({ job, series }, index) => {
    const options = { logY: view.logY, color: index, label: `${job.name} #${job.id}` };
    const all = series ? curvesOf(series, options) : [];
    const line =
      all.find(({ role }) => role === 'smooth') ?? all.find(({ role }) => role === 'raw');
    const dash = dashOf(index);
    const base: Curve = line ?? { role: 'raw', label: options.label, x: [], y: [], color: index };
    const x = view.axis === 'time' ? sinceStart(base.x) : base.x;
    return { ...base, role: 'raw', x, ...(dash ? { dash } : {}) };
  });
}

// Runs began at different times, so time counts from the first point of each. It is kept in
// milliseconds.
function sinceStart(times: readonly number[]): number[] {
  const first = times[0] ?? 0;
  return times.map((time) => time - first);
}

// Indices of the runs as their table shows them: as given, or by their newest value, smallest
// first; those without one last.
export function runOrder(runs: readonly Run[], byValue: boolean): number[] {
  const order = runs.map((_, index) => index);
  if (!byValue) return order;
  const value = (index: number) => {
    const last = runs[index]?.series?.last.at(-1);
    return typeof last === 'number' ? last : Infinity;
  };
  return order.sort((a, b) => value(a) - value(b) || a - b);
}
