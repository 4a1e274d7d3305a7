import { expect, it } from 'vitest';
import type { Attempt } from '../api/types';
import { attemptLook } from './attempt_look';

const look = (change: object) => {
  const attempt = { state: 'ended', stop_reason: 'unspecified', ...change } as Attempt;
  const { word, tone } = attemptLook(attempt);
  return `${word} ${tone}`;
};

it('is not red for an attempt that was asked to stop', () => {
  expect(look({ stop_reason: 'paused' })).toBe('paused idle');
  expect(look({ stop_reason: 'yielded' })).toBe('yielded idle');
  expect(look({ stop_reason: 'user' })).toBe('stopped idle');
  expect(look({ verdict: { cause: 'stopped' } })).toBe('stopped idle');
  expect(look({ verdict: { cause: 'time_limit' } })).toBe('time limit idle');
  expect(look({})).toBe('ended idle');
});

it('is red for a failure, even if the job was paused afterwards', () => {
  const verdict = { cause: 'rank_exited' };
  expect(look({ verdict })).toBe('rank exited bad');
  expect(look({ stop_reason: 'paused', verdict })).toBe('rank exited bad');
});

it('is the state while the attempt runs', () => {
  expect(look({ state: 'running', verdict: { cause: 'unspecified' } })).toBe('running run');
  expect(look({ verdict: { cause: 'completed' } })).toBe('completed good');
});
