import { describe, expect, it } from 'vitest';
import type { HealthFinding, Job, RankStatus } from '../api/types';
import { cellLook, conditionEntries } from './rank_look';
import { findingsOf, conditionsOf } from './rank_condition';
import { rankList, rankWords, conditionWords } from './rank_words';

const rank = (id: number, change: Partial<RankStatus> = {}) =>
  ({
    ...{ rank: id, place: id, node_id: `n${id}`, standby: false, replaced: false },
    ...{ state: 'running', last_progress_ms: 1 },
    ...change,
  }) as RankStatus;

const finding = (word: HealthFinding['word'], ranks: number[]): HealthFinding => ({
  ...{ word, ranks, since_ms: 0, node: '', message: '', advice: '' },
});

const jobWith = (findings: HealthFinding[], attempts: object[] = [{ number: 1 }]) =>
  ({ attempts, health: { word: findings[0]?.word ?? 'ok', findings } }) as unknown as Job;

const gang = [0, 1, 2, 3].map((id) => rank(id));

function conditions(job: Job, ranks = gang, attempt = 1) {
  const found = conditionsOf(job, attempt, ranks);
  return ranks.map((one) => found.byRank.get(one.rank));
}

describe('the condition of a rank', () => {
  it('is what the finding says, with the others waiting in a stalled gang', () => {
    expect(conditions(jobWith([finding('stalled', [3])]))).toEqual([
      ...['waits', 'waits', 'waits', 'culprit'],
    ]);
    expect(conditions(jobWith([finding('slow', [2])]))[2]).toBe('culprit');
    expect(conditions(jobWith([finding('slow', [])]))).toEqual(Array(4).fill('well'));
    expect(conditions(jobWith([finding('stalled', [])]))).toEqual(Array(4).fill('waits'));
    expect(conditions(jobWith([finding('unsaved', [1])]))).toEqual([
      ...['well', 'culprit', 'well', 'well'],
    ]);
  });

  it('is the cause of a failure, apart from the ranks that were stopped', () => {
    const verdict = { cause: 'rank_exited', rank: 2, node_id: 'n2', ranks: [] };
    const ended = [
      rank(0, { state: 'stopped' }),
      rank(1, { state: 'failed' }),
      rank(2, { state: 'failed' }),
      rank(3, { state: 'exited' }),
    ];
    expect(conditions(jobWith([], [{ number: 1, verdict }]), ended)).toEqual([
      ...['stopped', 'failed', 'culprit', 'exited'],
    ]);
  });

  it('is unknown for a rank that has reported nothing', () => {
    expect(conditions(jobWith([]), [rank(0, { last_progress_ms: 0 }), rank(1)])).toEqual([
      ...['unknown', 'well'],
    ]);
  });

  it('does not come from findings about another attempt, or from a heal', () => {
    const attempts = [{ number: 1 }, { number: 2 }];
    expect(findingsOf(jobWith([finding('slow', [1])], attempts), 1)).toEqual([]);
    expect(conditions(jobWith([finding('healed', [1])]))).toEqual(Array(4).fill('well'));
  });

  it('is that of the process at the named place, and spares do not wait', () => {
    const healed = [
      rank(0),
      rank(1, { replaced: true, place: undefined, state: 'failed' }),
      rank(2, { standby: true, place: 1 }),
      rank(3, { standby: true, place: undefined }),
    ];
    expect(conditions(jobWith([finding('stalled', [1])]), healed)).toEqual([
      ...['waits', 'failed', 'culprit', 'well'],
    ]);
  });
});

describe('the look of a rank', () => {
  const view = { conditions: conditionsOf(jobWith([finding('stalled', [3])]), 1, gang) };

  it('shows the condition as a color, a mark and words', () => {
    expect(cellLook(gang[3]!, view)).toEqual({ fill: 'condition-culprit', mark: '!', bad: true });
    expect(rankWords(gang[3]!, view)).toBe('Rank 3, running, at fault');
    expect(rankWords(gang[0]!, view)).toBe('Rank 0, running, waiting for rank 3');
    expect(rankList([1, 2, 3, 4, 5])).toBe('ranks 1, 2, 3, 4 and 1 more');
    expect(conditionWords('waits', { culprits: [], byRank: new Map() })).toBe('no progress');
  });

  it('has one legend entry for each condition, the worst first', () => {
    const entries = conditionEntries(gang, view);
    expect(entries.map(({ condition, count }) => [condition, count])).toEqual([
      ['culprit', 1],
      ['waits', 3],
    ]);
  });

  it('marks the rank at fault whichever measure is colored', () => {
    const scale = { measure: 'memory', low: 0, high: 0, median: 0, medianComputes: new Map() };
    const measured = { ...view, scale: scale as never };
    expect(cellLook(gang[3]!, measured)).toEqual({ fill: undefined, mark: '!', bad: true });
    expect(cellLook(gang[0]!, measured)).toEqual({ fill: undefined, mark: '', bad: false });
    expect(conditionEntries(gang, measured).map(({ condition }) => condition)).toEqual(['culprit']);
  });
});
