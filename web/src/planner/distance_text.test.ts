import { expect, test } from 'vitest';
import type { AxisDistance } from '../api/types';
import { distanceText } from './distance_text';

const distance = (change: Partial<AxisDistance>): AxisDistance => ({
  axis: 'dp',
  ranks: 4,
  crossed_level: 'spine',
  limit: 'spine',
  bytes_per_second: 12.5e9,
  is_assumed: false,
  ...change,
});

test('an axis names the level that it crosses', () => {
  expect(distanceText(distance({}))).toBe('Data parallel crosses spine: 12.5 GB/s per GPU');
});

test('an axis within nodes names their link', () => {
  expect(
    distanceText(
      distance({ axis: 'tp', crossed_level: '', limit: 'NVLink 4', bytes_per_second: 450e9 }),
    ),
  ).toBe('Tensor parallel stays within nodes: 450 GB/s per GPU (NVLink 4)');
});

test('another limit and an assumed bandwidth are stated', () => {
  expect(
    distanceText(
      distance({ axis: 'pp', limit: 'leaf', bytes_per_second: 49.96e9, is_assumed: true }),
    ),
  ).toBe(
    'Pipeline crosses spine: 50 GB/s per GPU, limited by leaf ' +
      '(assumed; the topology has no bandwidth for leaf)',
  );
});
