// The look of a rank's cell on the map: a color for its condition or for a measure, and a mark
// that can be read without color. Pure functions.
import type { RankStatus } from '../api/types';
import { heatOf, type HeatScale } from './rank_heat';
import { CONDITIONS, type RankConditions, type Condition } from './rank_condition';

export interface RankView {
  conditions: RankConditions;
  // The measure that is colored; undefined if ranks are colored by condition.
  scale?: HeatScale | undefined;
}

export interface CellLook {
  // Name of the color, such as "heat-3"; undefined for an empty cell with a dashed edge.
  fill: string | undefined;
  mark: string;
  // True for a cell with a red edge.
  bad: boolean;
}

export const CONDITION_MARK: Record<Condition, string> = {
  culprit: '!',
  failed: '✕',
  waits: '‖',
  unknown: '?',
  starting: '…',
  stopped: '■',
  ended: '',
  exited: '✓',
  well: '',
};

const CONDITION_FILL: Record<Condition, string | undefined> = {
  culprit: 'condition-culprit',
  failed: 'condition-over',
  waits: 'condition-waits',
  unknown: undefined,
  starting: undefined,
  stopped: 'condition-over',
  ended: 'condition-over',
  exited: 'condition-over',
  well: 'condition-well',
};

export const HIGH_MARK = '▲';
// A value with this color or a higher color gets a mark.
const HIGH_HEAT = 5;

// Conditions that have a mark whichever measure is colored.
const ALWAYS_MARKED: ReadonlySet<Condition> = new Set(['culprit', 'failed', 'starting', 'stopped']);

export function conditionIn({ conditions }: RankView, rank: RankStatus): Condition {
  return conditions.byRank.get(rank.rank) ?? 'unknown';
}

export function cellLook(rank: RankStatus, view: RankView): CellLook {
  const condition = conditionIn(view, rank);
  const bad = condition === 'culprit' || condition === 'failed';
  const { scale } = view;
  if (!scale) return { fill: CONDITION_FILL[condition], mark: CONDITION_MARK[condition], bad };
  const heat = heatOf(rank, scale);
  const high = heat !== undefined && heat >= HIGH_HEAT ? HIGH_MARK : '';
  const mark = ALWAYS_MARKED.has(condition) ? CONDITION_MARK[condition] : high;
  return { fill: heat === undefined ? undefined : `heat-${heat}`, mark, bad };
}

export interface LegendEntry {
  look: CellLook;
  condition: Condition;
  count: number;
}

// Returns one entry for each condition that the map shows, the worst first. If a measure is shown,
// only conditions that have a mark have an entry.
export function conditionEntries(ranks: readonly RankStatus[], view: RankView): LegendEntry[] {
  const entries = new Map<Condition, LegendEntry>();
  for (const rank of ranks) {
    const condition = conditionIn(view, rank);
    if (view.scale && !ALWAYS_MARKED.has(condition)) continue;
    const known = entries.get(condition);
    if (known) known.count++;
    else entries.set(condition, { look: cellLook(rank, view), condition, count: 1 });
  }
  return CONDITIONS.flatMap((condition) => entries.get(condition) ?? []);
}
