import { expect, it } from 'vitest';
import type { Job } from '../api/types';
import { addedTime, isExtensible, timeLimitText } from './time_limit';

const jobOf = (change: object = {}): Job =>
  ({
    state: 'running',
    spec: { time_limit: '43200s' },
    time_limit_use: { remaining_ms: 11_400_000, extended_ms: 0 },
    ...change,
  }) as unknown as Job;

it('states the rest of the limit and what follows', () => {
  expect(timeLimitText(jobOf())).toBe('3h 10m left until the time limit, then the job ends.');
  const spec = { time_limit: '43200s', at_time_limit: 'requeue' };
  expect(timeLimitText(jobOf({ spec }))).toBe(
    '3h 10m left until the time limit, then the job is queued again.',
  );
  const use = { remaining_ms: 0, extended_ms: 0 };
  expect(timeLimitText(jobOf({ time_limit_use: use }))).toBe(
    'The time limit is reached: the job ends.',
  );
});

it('says nothing about jobs without a limit and about ended jobs', () => {
  expect(timeLimitText(jobOf({ spec: {} }))).toBeUndefined();
  expect(timeLimitText(jobOf({ state: 'stopped' }))).toBeUndefined();
  expect(isExtensible(jobOf({ state: 'stopping' }))).toBe(false);
  expect(isExtensible(jobOf())).toBe(true);
});

it('reads the time to add', () => {
  expect(addedTime(' +2h ')).toBe('2h');
  expect(addedTime('1h30m')).toBe('1h30m');
  for (const wrong of ['', '2', '-2h', '0h', 'two hours', '2h; 3']) {
    expect(addedTime(wrong)).toBeUndefined();
  }
});
