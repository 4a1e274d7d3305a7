import { expect, test } from 'vitest';
import { promiseText } from './promises';

const NOW = new Date(2026, 10, 29, 14, 0, 0).getTime();

test('a promise has its age, its time and its cause', () => {
  const change = {
    time_ms: NOW - 180_000,
    promised_ms: NOW + 1_200_000,
    cause: 'limit_extended' as const,
    reason: 'the time limit of job 9 (eval) was extended',
  };
  expect(promiseText(change, NOW)).toBe(
    '3m ago: slots by 14:20:00, the time limit of job 9 (eval) was extended',
  );
  expect(promiseText({ ...change, promised_ms: 0 }, NOW)).toContain('3m ago: no time known, ');
});
