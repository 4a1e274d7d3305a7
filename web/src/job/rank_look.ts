// The look of a rank's cell on the map: a colour for its trouble or for a measure, and a mark that
// can be read without colour. Pure functions.
import type { RankStatus } from '../api/types';
import { heatOf, type HeatScale } from './rank_heat';
import { TROUBLES, type RankTroubles, type Trouble } from './rank_trouble';

export interface RankView {
  troubles: RankTroubles;
  // The measure that is coloured; undefined if ranks are coloured by trouble.
  scale?: HeatScale | undefined;
}

export interface CellLook {
  // Name of the colour, such as "heat-3"; undefined for an empty cell with a dashed edge.
  fill: string | undefined;
  mark: string;
  // True for a cell with a red edge.
  bad: boolean;
}

export const TROUBLE_MARK: Record<Trouble, string> = {
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

const TROUBLE_FILL: Record<Trouble, string | undefined> = {
  culprit: 'trouble-culprit',
  failed: 'trouble-over',
  waits: 'trouble-waits',
  unknown: undefined,
  starting: undefined,
  stopped: 'trouble-over',
  ended: 'trouble-over',
  exited: 'trouble-over',
  well: 'trouble-well',
};

export const HIGH_MARK = '▲';
// A value of at least this colour gets a mark.
const HIGH_HEAT = 5;

// States that are marked whichever measure is coloured.
const ALWAYS_MARKED: ReadonlySet<Trouble> = new Set(['culprit', 'failed', 'starting', 'stopped']);

export function troubleIn({ troubles }: RankView, rank: RankStatus): Trouble {
  return troubles.byRank.get(rank.rank) ?? 'unknown';
}

export function cellLook(rank: RankStatus, view: RankView): CellLook {
  const trouble = troubleIn(view, rank);
  const bad = trouble === 'culprit' || trouble === 'failed';
  const { scale } = view;
  if (!scale) return { fill: TROUBLE_FILL[trouble], mark: TROUBLE_MARK[trouble], bad };
  const heat = heatOf(rank, scale);
  const high = heat !== undefined && heat >= HIGH_HEAT ? HIGH_MARK : '';
  const mark = ALWAYS_MARKED.has(trouble) ? TROUBLE_MARK[trouble] : high;
  return { fill: heat === undefined ? undefined : `heat-${heat}`, mark, bad };
}

export interface LegendEntry {
  look: CellLook;
  trouble: Trouble;
  count: number;
}

// Returns one entry for each trouble that the map shows, the worst first. With a measure, only
// troubles that have a mark on the map.
export function troubleEntries(ranks: readonly RankStatus[], view: RankView): LegendEntry[] {
  const entries = new Map<Trouble, LegendEntry>();
  for (const rank of ranks) {
    const trouble = troubleIn(view, rank);
    if (view.scale && !ALWAYS_MARKED.has(trouble)) continue;
    const known = entries.get(trouble);
    if (known) known.count++;
    else entries.set(trouble, { look: cellLook(rank, view), trouble, count: 1 });
  }
  return TROUBLES.flatMap((trouble) => entries.get(trouble) ?? []);
}
