import { expect, it } from 'vitest';
import { areAlike } from './node_names';

const named = (...names: string[]) => names.map((name) => ({ name }));

it('is true if most names begin alike', () => {
  expect(areAlike(named('gpu-rack1-a', 'gpu-rack2-b', 'login'))).toBe(true);
});

it('is false for short names, for different names and for no names', () => {
  expect(areAlike(named('gpu1', 'gpu2'))).toBe(false);
  expect(areAlike(named('alpha-node', 'beta-node', 'gamma-node'))).toBe(false);
  expect(areAlike([])).toBe(false);
});
