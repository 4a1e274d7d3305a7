// Colours that compare ranks by step time, memory or waiting for data, and the groups of a layout.
// Pure.
import type { Job, JsonNumber, RankStatus } from '../api/types';

export const GROUPINGS = ['node', 'tp', 'cp', 'dp', 'pp'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface RankGroup {
  // Node id, or "dp 3".
  name: string;
  ranks: RankStatus[];
}

// Groups in the order of their first rank; ranks in order inside.
export function groupRanks(ranks: readonly RankStatus[], by: Grouping): RankGroup[] {
  const groups = new Map<string, RankStatus[]>();
  for (const rank of ranks) {
    const name = by === 'node' ? rank.node_id : `${by} ${rank[by]}`;
    const members = groups.get(name);
    if (members) members.push(rank);
    else groups.set(name, [rank]);
  }
  const named = [...groups].map(([name, members]) => ({ name, ranks: members }));
  if (by === 'node') return named;
  return named.sort((a, b) => (a.ranks[0]?.[by] ?? 0) - (b.ranks[0]?.[by] ?? 0));
}

// Sizes of the layout as the ranks show them.
export function layoutSizes(
  ranks: readonly RankStatus[],
): Record<'tp' | 'cp' | 'dp' | 'pp', number> {
  const size = (axis: 'tp' | 'cp' | 'dp' | 'pp') =>
    ranks.reduce((most, rank) => Math.max(most, rank[axis] + 1), 1);
  return { tp: size('tp'), cp: size('cp'), dp: size('dp'), pp: size('pp') };
}

const positive = (value: JsonNumber): value is number => typeof value === 'number' && value > 0;

export function medianStepSeconds(ranks: readonly RankStatus[]): number {
  const times = ranks
    .map((rank) => rank.step_seconds)
    .filter(positive)
    .sort((a, b) => a - b);
  if (times.length === 0) return 0;
  const middle = times.length >> 1;
  const upper = times[middle] as number;
  return times.length % 2 === 1 ? upper : ((times[middle - 1] as number) + upper) / 2;
}

export const MEASURES = ['step time', 'memory', 'data stall'] as const;
export type Measure = (typeof MEASURES)[number];

// Scale of the colours: step time relative to its median, other measures from least to most.
export interface HeatScale {
  measure: Measure;
  low: number;
  high: number;
  median: number;
}

// undefined when the rank has not reported the measure. A wait of 0 s is a value; 0 bytes of memory
// are none.
export function measureOf(rank: RankStatus, measure: Measure): number | undefined {
  if (measure === 'step time') return positive(rank.step_seconds) ? rank.step_seconds : undefined;
  if (measure === 'memory') return rank.memory_bytes > 0 ? rank.memory_bytes : undefined;
  const stall = rank.data_stall_seconds;
  return typeof stall === 'number' && Number.isFinite(stall) ? stall : undefined;
}

export function scaleOf(ranks: readonly RankStatus[], measure: Measure): HeatScale {
  let low = Infinity;
  let high = 0;
  for (const rank of ranks) {
    const value = measureOf(rank, measure);
    if (value === undefined) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  const median = medianStepSeconds(ranks);
  // The scale of waits begins at 0, so that equal waits do not all get the middle colour.
  return { measure, low: measure === 'data stall' ? 0 : Math.min(low, high), high, median };
}

// Steps of heat of step time: 3 is the median; 0 is a fifth faster, 7 is half slower or more.
export const HEAT_STEPS = 8;
const HEAT_BOUNDS = [0.8, 0.9, 0.97, 1.03, 1.1, 1.25, 1.5];
const MIDDLE_HEAT = 3;
// Ratios below this one are noise: all ranks get one colour then.
const SAME_RATIO = 1.02;

function heatOfTime(seconds: number, median: number): number | undefined {
  if (median <= 0) return undefined;
  const ratio = seconds / median;
  const step = HEAT_BOUNDS.findIndex((bound) => ratio < bound);
  return step === -1 ? HEAT_STEPS - 1 : step;
}

export function heatOf(rank: RankStatus, scale: HeatScale): number | undefined {
  const value = measureOf(rank, scale.measure);
  if (value === undefined) return undefined;
  if (scale.measure === 'step time') return heatOfTime(value, scale.median);
  if (scale.high <= scale.low * SAME_RATIO) return MIDDLE_HEAT;
  const part = (value - scale.low) / (scale.high - scale.low);
  return Math.min(HEAT_STEPS - 1, Math.floor(part * HEAT_STEPS));
}

// The rank that the verdict of an attempt names; undefined where it names none.
export function verdictRank(job: Pick<Job, 'attempts'>, attempt: number): number | undefined {
  const verdict = job.attempts.find(({ number }) => number === attempt)?.verdict;
  const harmless = !verdict || verdict.cause === 'completed' || verdict.cause === 'stopped';
  return harmless || verdict.rank < 0 ? undefined : verdict.rank;
}

// Sign for facts that colour alone must not show: failed, starting, slow or much.
export function cellMark(rank: RankStatus, heat: number | undefined): string {
  if (rank.state === 'failed') return '✕';
  if (rank.state === 'starting') return '…';
  return heat !== undefined && heat >= 5 ? '▲' : '';
}

// Ranks at least a tenth slower than the median, slowest first.
export function stragglers(ranks: readonly RankStatus[]): { rank: RankStatus; ratio: number }[] {
  const median = medianStepSeconds(ranks);
  if (median <= 0) return [];
  return ranks
    .filter((rank) => positive(rank.step_seconds) && rank.step_seconds / median >= 1.1)
    .map((rank) => ({ rank, ratio: (rank.step_seconds as number) / median }))
    .sort((a, b) => b.ratio - a.ratio);
}
