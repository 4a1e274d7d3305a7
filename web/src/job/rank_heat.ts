// How slow each rank is beside the others, and the groups of a layout. Pure.
import type { JsonNumber, RankStatus } from '../api/types';

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

// Steps of heat: 3 is the median; 0 is a fifth faster, 7 is half slower or more.
export const HEAT_STEPS = 8;
const HEAT_BOUNDS = [0.8, 0.9, 0.97, 1.03, 1.1, 1.25, 1.5];

export function heatOf(rank: RankStatus, median: number): number | undefined {
  if (!positive(rank.step_seconds) || median <= 0) return undefined;
  const ratio = rank.step_seconds / median;
  const step = HEAT_BOUNDS.findIndex((bound) => ratio < bound);
  return step === -1 ? HEAT_STEPS - 1 : step;
}

// A sign for what must not be told by colour alone: failed, starting, slow.
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
