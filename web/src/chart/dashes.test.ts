import { expect, it } from 'vitest';
import { dashOf } from './dashes';

it('gives runs of the same color different dashes', () => {
  expect(dashOf(0)).toBeUndefined();
  expect(dashOf(8)).not.toEqual(dashOf(0));
  expect(dashOf(16)).not.toEqual(dashOf(8));
});
