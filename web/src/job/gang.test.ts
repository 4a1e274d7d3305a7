import { describe, expect, it } from 'vitest';
import { memberOf, outputMember, verdictMembers } from './gang';

describe('the process of a place', () => {
  it('is the one that a verdict names', () => {
    const attempt = (number: number, cause: string, named: number, ranks: number[] = []) =>
      ({ number, verdict: { cause, rank: named, ranks } }) as never;
    const attempts = [
      attempt(1, 'rank_signaled', 11),
      attempt(2, 'node_lost', -1),
      attempt(3, 'stopped', 0),
      attempt(4, 'rank_exited', 0, [3, 5]),
    ];
    const blamed = [1, 2, 3, 4, 5].map((number) => verdictMembers({ attempts }, number, []));
    expect(blamed).toEqual([[11], [], [], [3, 5], []]);
  });

  it('is a spare after a heal', () => {
    const member = (rank: number, more = {}) => ({
      rank,
      node_id: `n${rank}`,
      standby: false,
      replaced: false,
      ...more,
    });
    const members = [
      member(0),
      member(1, { replaced: true }),
      member(2, { standby: true, place: 1 }),
      member(3, { standby: true }),
    ];
    const at = (place: number, node: string) => memberOf(members, { rank: place, node_id: node });
    expect([at(0, 'n0'), at(1, 'n2'), at(1, '')]).toEqual([0, 2, 2]);
    expect(at(1, 'n1'), 'its heal was abandoned').toBe(1);
    const verdict = { cause: 'rank_signaled', rank: 1, node_id: 'n2', ranks: [] };
    const attempts = [{ number: 1, verdict, ranks: members }] as never;
    expect(verdictMembers({ attempts }, 1, members)).toEqual([2]);
    expect(outputMember({ attempts }, verdict)).toBe(2);
    expect(outputMember({ attempts: [] }, { rank: -1, node_id: '' })).toBe(0);
  });
});
