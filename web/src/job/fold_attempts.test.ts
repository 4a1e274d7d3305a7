import { describe, expect, it } from 'vitest';
import type { Attempt } from '../api/types';
import { failureWords, foldAttempts } from './fold_attempts';

const ended = (number: number, change: object = {}) => {
  const verdict = { cause: 'rank_exited', rank: number % 2, exit_code: 1, signal: 0 };
  return {
    ...{ number, state: 'ended' },
    verdict: { ...verdict, error_line: 'KeyError', ...change },
  } as unknown as Attempt;
};
const live = { number: 99, state: 'running' } as Attempt;
const numbers = (attempts: Attempt[]) =>
  foldAttempts(attempts).map((group) => group.map(({ number }) => number));

describe('foldAttempts', () => {
  it('groups equal failures in a row, whichever rank failed', () => {
    const crashes = Array.from({ length: 21 }, (_, index) => ended(21 - index));
    expect(foldAttempts([live, ...crashes]).map(({ length }) => length)).toEqual([1, 21]);
  });

  it('leaves pairs, other failures and attempts that did not fail apart', () => {
    expect(numbers([ended(5), ended(4), ended(3, { exit_code: 2 }), ended(2), ended(1)])).toEqual([
      ...[[5], [4], [3], [2], [1]],
    ]);
    const stopped = [1, 2, 3].map((number) => ended(number, { cause: 'stopped' }));
    expect(numbers(stopped)).toEqual([[1], [2], [3]]);
    expect(numbers([1, 2, 3].map((n) => ended(n, { error_line: `line ${n}` })))).toHaveLength(3);
  });

  it('describes a failure in a few words', () => {
    expect(failureWords(ended(1).verdict!)).toBe('exited with code 1');
    expect(failureWords(ended(1, { cause: 'rank_signaled', signal: 9 }).verdict!)).toBe(
      'terminated by signal 9',
    );
    expect(failureWords(ended(1, { cause: 'node_lost' }).verdict!)).toBe('node lost');
  });
});
