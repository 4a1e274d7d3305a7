import { describe, expect, it } from 'vitest';
import type { PlanLayoutResponse } from '../api/types';
import { costRange, memoryParts, rankOf, ranksByNode, stepParts } from './plan_parts';
import { commandLineOf, formOf, problemsOf, requestOf, sourceOf } from './plan_request';

const form = (text: string) => formOf(new URLSearchParams(text));
const FULL = 'recipe=llama3-70b&device=H100&nodes=8&network=roce400&batch=512&price=2.5';

describe('what the address asks for', () => {
  it('is a request with what was given, and no more', () => {
    expect(requestOf(form('recipe=a&device=H100'), 'recipe', '')).toEqual({
      recipe: 'a',
      device: 'H100',
      overrides: [],
    });
    expect(requestOf(form(`${FULL}&length=4096&set=a=1%20b=2`), 'recipe', '')).toEqual({
      recipe: 'llama3-70b',
      device: 'H100',
      nodes: 8,
      network: 'roce400',
      price: 2.5,
      overrides: ['train.global_batch=512', 'train.seq_length=4096', 'a=1', 'b=2'],
    });
  });

  it('is nothing without a job, without a device, and with numbers that are none', () => {
    for (const text of ['device=H100', 'recipe=a', 'recipe=a&device=H100&nodes=0']) {
      expect(requestOf(form(text), 'recipe', ''), text).toBeUndefined();
    }
    expect(requestOf(form('device=H100'), 'file', ' \n')).toBeUndefined();
    expect(problemsOf(form('nodes=1.5&per_node=x&price=-1'))).toEqual({
      nodes: 'must be a whole number of at least 1',
      per_node: 'must be a whole number of at least 1',
      price: 'must be an amount in dollars, such as 2.50',
    });
  });

  it('takes the job from a text or from a job of the cluster', () => {
    const source = (text: string) => sourceOf(new URLSearchParams(text));
    expect(source('')).toBe('recipe');
    expect(source('job=17')).toBe('job');
    expect(source('source=file&job=17')).toBe('file');
    expect(requestOf(form('recipe=a&device=H100'), 'file', 'name: x')).toMatchObject({
      job_file: 'name: x',
    });
  });

  it('has a command line that does the same', () => {
    expect(commandLineOf(form(FULL), 'recipe')).toBe(
      'trainyard plan llama3-70b --nodes 8 --device H100 --network roce400 ' +
        '--set train.global_batch=512',
    );
    expect(commandLineOf(form('device=H100%20PCIe&per_node=4'), 'file')).toBe(
      "trainyard plan JOB.yaml --per-node 4 --device 'H100 PCIe'",
    );
  });
});

const PLAN = {
  cluster: { nodes: 2, per_node: 4 },
  rank_axes: [
    { name: 'tp', size: 2, stride: 1 },
    { name: 'cp', size: 1, stride: 2 },
    { name: 'dp', size: 2, stride: 2 },
    { name: 'pp', size: 2, stride: 4 },
  ],
  costs: [{ dollars: [10, 20] }, { dollars: [5, 12] }],
} as unknown as PlanLayoutResponse;

describe('a plan', () => {
  it('places each rank on its node, with its coordinates', () => {
    expect(rankOf(PLAN, 7)).toEqual({
      rank: 7,
      node: 1,
      slot: 3,
      stage: 1,
      coordinates: 'tp 1 · cp 0 · dp 1 · pp 1',
    });
    expect(ranksByNode(PLAN).map(({ ranks }) => ranks.map(({ rank }) => rank))).toEqual([
      [0, 1, 2, 3],
      [4, 5, 6, 7],
    ]);
  });

  it('has parts in the order of a running job, without those that take nothing', () => {
    const step = { step_seconds: 3, compute_seconds: 2, pp_wait_seconds: 1, dp_wait_seconds: 0 };
    expect(stepParts(step as never).map(({ name }) => name)).toEqual([
      'Compute',
      'Pipeline bubble',
    ]);
    const experts = stepParts({ compute_seconds: 1, ep_wait_seconds: 2 } as never);
    expect(experts).toContainEqual({ name: 'Wait for ep', value: 2 });
    const memory = { total_bytes: 5, weights_bytes: 3, overhead_bytes: 2, working_bytes: 0 };
    expect(memoryParts(memory as never)).toEqual([
      { name: 'Weights', value: 3 },
      { name: 'CUDA and libraries', value: 2 },
    ]);
  });

  it('costs from the cheapest to the dearest price, or nothing that is known', () => {
    expect(costRange(PLAN)).toEqual([5, 20]);
    expect(costRange({ ...PLAN, costs: [] })).toBeUndefined();
  });
});
