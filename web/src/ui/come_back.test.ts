import { expect, it } from 'vitest';
import { mayPass } from './come_back';

it('asks again after failures that may pass, and not after refusals', () => {
  expect([0, 429, 500, 503].map((status) => mayPass({ status }))).toEqual([true, true, true, true]);
  expect([400, 403, 404].map((status) => mayPass({ status }))).toEqual([false, false, false]);
});
