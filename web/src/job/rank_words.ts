// Texts about ranks on the map. Pure functions.
import type { RankStatus } from '../api/types';
import { bytes } from '../format/numbers';
import { duration } from '../format/time';
import { RANK_LOOK, lookOf } from '../format/words';
import { measureOf, type Measure } from './rank_heat';
import { conditionIn, type RankView } from './rank_look';
import type { RankConditions, Condition } from './rank_condition';

// Number of ranks that a text names. Further ranks are only counted.
const NAMED_MAX = 4;

// Returns "rank 3" or "ranks 3, 5, 7, 9 and 12 more".
export function rankList(ranks: readonly number[]): string {
  const named = ranks.slice(0, NAMED_MAX).join(', ');
  const more = ranks.length > NAMED_MAX ? ` and ${ranks.length - NAMED_MAX} more` : '';
  return `${ranks.length === 1 ? 'rank' : 'ranks'} ${named}${more}`;
}

const CONDITION_WORDS: Record<Condition, string> = {
  culprit: 'at fault',
  failed: 'failed',
  waits: 'no progress',
  unknown: 'nothing reported yet',
  starting: 'starting',
  stopped: 'stopped by the controller',
  ended: 'attempt ended',
  exited: 'exited with 0',
  well: 'running',
};

export function conditionWords(condition: Condition, { culprits }: RankConditions): string {
  const awaited = condition === 'waits' && culprits.length > 0;
  return awaited ? `waiting for ${rankList(culprits)}` : CONDITION_WORDS[condition];
}

const MEASURE_WORDS: Record<Measure, (value: number) => string> = {
  'step time': (seconds) => `${duration(seconds)} per step`,
  compute: (seconds) => `${duration(seconds)} of compute in its latest step`,
  waits: (seconds) => `${duration(seconds)} of waits in its latest step`,
  memory: (size) => `${bytes(size)} of memory`,
  'data stall': (seconds) => `data wait ${duration(seconds)}`,
};

// Returns "Rank 3, running, at fault" or "Rank 3, running, 1.2 s per step".
export function rankWords(rank: RankStatus, view: RankView): string {
  const state = lookOf(RANK_LOOK, rank.state).word;
  const condition = conditionIn(view, rank);
  const words = [`Rank ${rank.rank}`, state];
  if (condition === 'culprit' || !view.scale) {
    words.push(conditionWords(condition, view.conditions));
  }
  const value = view.scale && measureOf(rank, view.scale.measure);
  if (view.scale && value !== undefined) words.push(MEASURE_WORDS[view.scale.measure](value));
  return [...new Set(words)].join(', ');
}
