import { expect, it } from 'vitest';
import type { StepTime } from '../api/types';
import { partsOf, waitSeconds } from './step_parts';

const NO_TIME: StepTime = {
  compute: 0,
  input_wait: 0,
  tp_wait: 0,
  cp_wait: 0,
  pp_wait: 0,
  dp_wait: 0,
  ep_wait: 0,
  world_wait: 0,
  optimizer: 0,
  checkpoint_wait: 0,
};

it('lists the parts of the newest step that took time', () => {
  const step_time: StepTime = { ...NO_TIME, compute: 0.3, pp_wait: 0.1, tp_wait: 'NaN' };
  const some = { step_time };
  expect(partsOf(some)).toEqual([
    { name: 'Compute', seconds: 0.3 },
    { name: 'Pipeline bubble', seconds: 0.1 },
  ]);
  expect(waitSeconds(some)).toBeUndefined();
  expect(partsOf({})).toEqual([]);
});
