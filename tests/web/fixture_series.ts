// Generates metric curves by formula and reduces them to buckets, as the controller does.
import type {
  CompareSeriesResponse,
  GetLossReportResponse,
  GetSeriesResponse,
  Job,
  Series,
} from '../../web/src/api/types';
import { NOW } from './fixtures';

const STEP_MS = 1_150;
const TOKENS_PER_STEP = 8192 * 512;

// Returns noise between -0.5 and 0.5 that depends only on the arguments.
function noise(step: number, salt: number): number {
  const value = Math.sin(step * 12.9898 + salt * 78.233) * 43758.5453;
  return value - Math.floor(value) - 0.5;
}

const FORMULA: Record<string, (step: number) => number> = {
  loss: (s) => 1.9 + 8.2 / (1 + s / 90) ** 0.62 + noise(s, 1) * 0.11 + (s === 2890 ? 1.7 : 0),
  val_loss: (s) => 1.96 + 8.2 / (1 + s / 90) ** 0.62,
  code_loss: (s) => 1.1 + 6 / (1 + s / 60) ** 0.7 + (s > 2_000 ? (s - 2_000) / 4_000 : 0),
  grad_norm: (s) => 0.32 + 4 / (1 + s / 40) + Math.abs(noise(s, 2)) * 0.25 + (s === 2890 ? 6 : 0),
  lr: (s) => 3e-4 * (s < 200 ? s / 200 : 0.1 + 0.45 * (1 + Math.cos((Math.PI * s) / 4769))),
  tokens_per_second: (s) => 512_000 + noise(s, 3) * 9_000 - (s % 500 < 3 ? 60_000 : 0),
  mfu: (s) => 0.437 + noise(s, 4) * 0.008,
  step_seconds: (s) => 8.19 + Math.abs(noise(s, 5)) * 0.2 + (s % 500 < 3 ? 1.4 : 0),
  compute_seconds: (s) => 6.05 + noise(s, 7) * 0.1,
  optimizer_seconds: (s) => 0.31 + noise(s, 8) * 0.01,
  tp_wait_seconds: (s) => 0.22 + noise(s, 9) * 0.02,
  dp_wait_seconds: (s) => 1.6 + noise(s, 10) * 0.2,
  world_wait_seconds: (s) => 0.014 + noise(s, 11) * 0.004,
  moe_balance_max: (s) => 1.35 + s / 2_400 + noise(s, 12) * 0.2,
  moe_balance_mean: (s) => 1.18 + 0.6 / (1 + s / 300) + noise(s, 13) * 0.04,
  moe_router_entropy_min: (s) => 0.9 - s / 9_000 + noise(s, 14) * 0.02,
  memory_bytes: () => 118.4e9,
  'layer.0.attention_entropy': (s) => 3 + noise(s, 6) * 0.1,
};

const SET = 'code_loss';
const isEvaluation = (key: string) => key === 'val_loss' || key === SET;
// True for series that only models with experts report.
const isOfExperts = (key: string) => key.startsWith('moe_');
export const KEYS = [...Object.keys(FORMULA), 'tokens']
  .filter((key) => key !== SET && !isOfExperts(key))
  .sort();
// The series of a job that evaluates a second set.
export const KEYS_OF_TWO_SETS = [...KEYS, SET, 'code_perplexity'].sort();

interface Range {
  axis: string;
  from: number;
  to: number;
  buckets: number;
  smooth: number;
  notFinite: StepRange | undefined;
}

// A range of steps whose loss is NaN, both ends included.
export interface StepRange {
  first: number;
  last: number;
}

const isBroken = (key: string, step: number, { notFinite }: Range) =>
  key === 'loss' && notFinite !== undefined && step >= notFinite.first && step <= notFinite.last;

const axisOf = (step: number, axis: string, end: number): number => {
  if (axis === 'tokens') return step * TOKENS_PER_STEP;
  return axis === 'time' ? NOW - (end - step) * STEP_MS : step;
};

function rawSteps(key: string, first: number, last: number): number[] {
  const every = isEvaluation(key) ? 250 : 1;
  const begin = Math.ceil(first / every) * every;
  const count = Math.max(0, Math.floor((last - begin) / every) + 1);
  return Array.from({ length: count }, (_, index) => begin + index * every);
}

function emptySeries(key: string): Series {
  return {
    key,
    steps: [],
    times_ms: [],
    last: [],
    mean: [],
    min: [],
    max: [],
    counts: [],
    attempts: [],
    nan_counts: [],
    x: [],
    smoothed: [],
    redone: false,
    attempt: 0,
    job_id: 0,
  };
}

const finite = (values: readonly number[]) => values.filter(Number.isFinite);
const asJson = (value: number) => (Number.isFinite(value) ? value : 'NaN');
const average = (values: readonly number[]) =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

function seriesOf(key: string, first: number, last: number, end: number, range: Range): Series {
  const formula = FORMULA[key];
  const series = emptySeries(key);
  if (!formula) return series;
  const inRange = rawSteps(key, Math.max(1, first), last).filter((step) => {
    const x = axisOf(step, range.axis, end);
    return x >= range.from && (range.to === 0 || x <= range.to);
  });
  const size = range.buckets > 0 ? Math.max(1, Math.ceil(inRange.length / range.buckets)) : 1;
  for (let at = 0; at < inRange.length; at += size) {
    const steps = inRange.slice(at, at + size);
    const all = steps.map((step) => (isBroken(key, step, range) ? NaN : formula(step)));
    const values = finite(all);
    const step = steps.at(-1) as number;
    series.steps.push(step);
    series.times_ms.push(NOW - (end - step) * STEP_MS);
    series.x.push(axisOf(step, range.axis, end));
    series.last.push(asJson(all.at(-1) as number));
    series.mean.push(asJson(average(values)));
    series.min.push(asJson(Math.min(...values)));
    series.max.push(asJson(Math.max(...values)));
    series.counts.push(all.length);
    series.attempts.push(1);
    series.nan_counts.push(all.length - values.length);
    if (range.smooth > 0 && !isEvaluation(key)) series.smoothed.push(asJson(average(values)));
  }
  return series;
}

export function seriesResponse(
  found: Job,
  query: URLSearchParams,
  notFinite?: StepRange,
): GetSeriesResponse {
  const axis = query.get('x') ?? 'step';
  const range: Range = {
    axis,
    from: Number(query.get('from') ?? 0),
    to: Number(query.get('to') ?? 0),
    buckets: Number(query.get('buckets') ?? 0),
    smooth: Number(query.get('smooth') ?? 0),
    notFinite,
  };
  const end = found.progress?.step ?? 0;
  const keys = (query.get('keys') ?? '').split(',').filter((key) => key !== '');
  const series = keys.flatMap((key) => {
    const merged = seriesOf(key, 1, end, end, range);
    // The jobs' curves differ slightly, so that a comparison has something to show.
    const scale = 1 + (found.id % 5) * 0.03;
    for (const column of [merged.last, merged.mean, merged.min, merged.max, merged.smoothed]) {
      column.forEach((value, index) => {
        if (typeof value === 'number') column[index] = value * scale;
      });
    }
    const restarted = query.get('attempts') === 'all' && found.attempts.length > 1;
    if (!restarted || isEvaluation(key)) return [merged];
    const left = seriesOf(key, 2001, 2210, end, { ...range, smooth: 0 });
    left.mean = left.mean.map((value) => (typeof value === 'number' ? value * 1.03 : value));
    return [merged, { ...left, redone: true, attempt: 1 }];
  });
  return {
    series,
    attempts: found.attempts.map(({ number, resume_step: first, last_step: last }) => ({
      number,
      first_step: first + 1,
      last_step: last,
      first_x: axisOf(first + 1, axis, end),
      last_x: axisOf(last, axis, end),
    })),
    axis: axis as GetSeriesResponse['axis'],
    revision: 7,
    as_of_ms: NOW,
  };
}

// Returns the series of several jobs. Omits references that match no job.
export function compareResponse(
  jobs: readonly Job[],
  query: URLSearchParams,
): CompareSeriesResponse {
  const wanted = (query.get('jobs') ?? '').split(',');
  const found = wanted.flatMap((id) => jobs.filter((one) => String(one.id) === id));
  return {
    jobs: found,
    series: found.flatMap((one) =>
      seriesResponse(one, query).series.map((series) => ({ ...series, job_id: one.id })),
    ),
    missing: wanted.filter((id) => !jobs.some((one) => String(one.id) === id)),
    revision: 7,
    as_of_ms: NOW,
  };
}

// Returns the loss formula analysis of a run with enough steps for it.
export function lossReport(job: Job): GetLossReportResponse {
  const losses = job.progress?.step ?? 0;
  const report = { losses, losses_needed: 200, revision: 7, as_of_ms: NOW };
  if (losses < report.losses_needed) return report;
  const meanUpTo = (last: number) => {
    let sum = 0;
    for (let step = last - 99; step <= last; step++) sum += FORMULA['loss']?.(step) ?? 0;
    return sum / 100;
  };
  const [recent, previous] = [meanUpTo(losses), meanUpTo(losses - 100)];
  const spikes = losses >= 2890 ? [2890] : [];
  return {
    ...report,
    curve: {
      recent_loss: recent,
      previous_loss: previous,
      improvement_rate: (previous - recent) / previous,
      is_stagnant: false,
      spike_count: spikes.length,
      spike_steps: spikes,
      not_finite: 0,
      recommendation: 'normal',
      window: 100,
      first_step: 1,
    },
  };
}
