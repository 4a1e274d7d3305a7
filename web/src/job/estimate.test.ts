import { expect, test } from 'vitest';
import { estimateCell, estimateText } from './estimate';

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

const estimate = (earliest: number, start: number, latest: number) => ({
  estimated_earliest_ms: NOW + earliest * HOUR,
  estimated_start_ms: NOW + start * HOUR,
  estimated_latest_ms: NOW + latest * HOUR,
});

test('an estimate shows its range', () => {
  expect(estimateText(estimate(1, 2, 3), NOW)).toBe('Starts in about 2h 00m (1h 00m to 3h 00m)');
  expect(estimateCell(estimate(1, 2, 3), NOW)).toBe('~ 2h 00m');
});

test('an estimate by time limits is a latest time', () => {
  expect(estimateText(estimate(0, 2, 2), NOW)).toBe(
    'Starts within 2h 00m, if jobs run until their time limits',
  );
  expect(estimateCell(estimate(0, 2, 2), NOW)).toBe('< 2h 00m');
});

test('a past estimate is soon, and an unknown one is not shown', () => {
  expect(estimateText(estimate(-2, -1, 0), NOW)).toBe('Starts soon');
  const none = { estimated_earliest_ms: 0, estimated_start_ms: 0, estimated_latest_ms: 0 };
  expect(estimateText(none, NOW)).toBe('');
  expect(estimateCell(none, NOW)).toBe('—');
  expect(estimateCell(undefined, NOW)).toBe('—');
});
