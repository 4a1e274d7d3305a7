// Measures by which ranks are compared (step time, its parts, memory, or waiting for data), their
// colors, and the groups of ranks in a layout. Pure functions.
import type { Job, JsonNumber, RankStatus } from '../api/types';
import { computeSeconds, waitSeconds } from './step_parts';

export const GROUPINGS = ['node', 'tp', 'cp', 'dp', 'pp'] as const;
export type Grouping = (typeof GROUPINGS)[number];

export interface RankGroup {
  // Node id, or a text such as "dp 3".
  name: string;
  ranks: RankStatus[];
}

// True for a process that occupies a place of the gang. False for an idle spare and a replaced
// process.
export const holdsPlace = (rank: RankStatus): boolean =>
  !rank.replaced && !(rank.standby && rank.place == null);

export const gangOf = (ranks: readonly RankStatus[]): RankStatus[] => ranks.filter(holdsPlace);

function groupsByName(
  ranks: readonly RankStatus[],
  nameOf: (rank: RankStatus) => string,
): RankGroup[] {
  const groups = new Map<string, RankStatus[]>();
  for (const rank of ranks) {
    const name = nameOf(rank);
    const members = groups.get(name);
    if (members) members.push(rank);
    else groups.set(name, [rank]);
  }
  return [...groups].map(([name, members]) => ({ name, ranks: members }));
}

// Returns the groups in the order of their first rank, each with sorted ranks. Processes without a
// place in the layout form the last group.
export function groupRanks(ranks: readonly RankStatus[], by: Grouping): RankGroup[] {
  if (by === 'node') return groupsByName(ranks, ({ node_id: node }) => node);
  const placed = groupsByName(gangOf(ranks), (rank) => `${by} ${rank[by]}`);
  placed.sort((a, b) => (a.ranks[0]?.[by] ?? 0) - (b.ranks[0]?.[by] ?? 0));
  const others = ranks.filter((rank) => !holdsPlace(rank));
  return others.length > 0 ? [...placed, { name: 'spare or replaced', ranks: others }] : placed;
}

// Derives the sizes of the layout's dimensions from the ranks.
export function layoutSizes(
  ranks: readonly RankStatus[],
): Record<'tp' | 'cp' | 'dp' | 'pp', number> {
  const size = (axis: 'tp' | 'cp' | 'dp' | 'pp') =>
    ranks.reduce((most, rank) => Math.max(most, rank[axis] + 1), 1);
  return { tp: size('tp'), cp: size('cp'), dp: size('dp'), pp: size('pp') };
}

// A program other than trainyard-trainer has a layout only if its job describes a layout.
export function hasLayout(job: Pick<Job, 'spec'>, ranks: readonly RankStatus[]): boolean {
  const { tp, cp, pp } = layoutSizes(ranks);
  return (job.spec?.command ?? []).length === 0 || tp * cp * pp > 1;
}

const positive = (value: JsonNumber | undefined): value is number =>
  typeof value === 'number' && value > 0;

// The median of the values above 0; 0 if there are none.
function medianOf(values: readonly (JsonNumber | undefined)[]): number {
  const sorted = values.filter(positive).sort((a, b) => a - b);
  if (sorted.length === 0) return 0;
  const middle = sorted.length >> 1;
  const upper = sorted[middle] as number;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] as number) + upper) / 2;
}

export function medianStepSeconds(ranks: readonly RankStatus[]): number {
  return medianOf(ranks.map((rank) => rank.step_seconds));
}

// Returns the median compute time by pipeline stage, because stages do different work. A stage has
// an entry only if one of its ranks has reported a compute time.
function medianComputes(ranks: readonly RankStatus[]): Map<number, number> {
  const medians = new Map<number, number>();
  for (const { ranks: stage } of groupRanks(gangOf(ranks), 'pp')) {
    const median = medianOf(stage.map(computeSeconds));
    if (median > 0) medians.set(stage[0]?.pp ?? 0, median);
  }
  return medians;
}

export const MEASURES = ['step time', 'compute', 'waits', 'memory', 'data stall'] as const;
export type Measure = (typeof MEASURES)[number];

// The color scale. Step and compute times are relative to a median. For other measures, the scale
// extends from the lowest to the highest value.
export interface HeatScale {
  measure: Measure;
  low: number;
  high: number;
  // Median step time over all ranks.
  median: number;
  // Median compute times, by pipeline stage.
  medianComputes: ReadonlyMap<number, number>;
}

// A wait of 0 s is a value only if the rank reports the parts of its steps. Otherwise 0 means that
// the rank has reported no wait.
function dataWaitSeconds(rank: RankStatus): number | undefined {
  const { data_stall_seconds: stall, step_time: parts } = rank;
  if (positive(stall)) return stall;
  return parts && typeof stall === 'number' ? stall : undefined;
}

// Returns undefined if the rank has not reported the measure.
export function measureOf(rank: RankStatus, measure: Measure): number | undefined {
  if (measure === 'step time') return positive(rank.step_seconds) ? rank.step_seconds : undefined;
  if (measure === 'compute') return computeSeconds(rank);
  if (measure === 'waits') return waitSeconds(rank);
  if (measure === 'memory') return rank.memory_bytes > 0 ? rank.memory_bytes : undefined;
  return dataWaitSeconds(rank);
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
  // The scale of waits begins at 0, because otherwise equal waits would all get the middle color.
  const fromZero = measure === 'data stall' || measure === 'waits';
  return {
    measure,
    low: fromZero ? 0 : Math.min(low, high),
    high,
    median: medianStepSeconds(ranks),
    medianComputes: medianComputes(ranks),
  };
}

// Number of colors. For a time relative to its median, 3 is the median, 0 is at least a fifth
// faster, and 7 is at least one and a half times the median.
export const HEAT_STEPS = 8;
const HEAT_BOUNDS = [0.8, 0.9, 0.97, 1.03, 1.1, 1.25, 1.5];
const MIDDLE_HEAT = 3;
// If the highest value is at most this many times the lowest, differences are noise, and all ranks
// get one color.
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
  if (scale.measure === 'compute') {
    return heatOfTime(value, scale.medianComputes.get(rank.pp) ?? 0);
  }
  if (scale.high <= scale.low * SAME_RATIO) return MIDDLE_HEAT;
  const part = (value - scale.low) / (scale.high - scale.low);
  return Math.min(HEAT_STEPS - 1, Math.floor(part * HEAT_STEPS));
}
