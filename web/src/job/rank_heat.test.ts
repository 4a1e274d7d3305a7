import { describe, expect, it } from 'vitest';
import type { RankStatus, StepTime } from '../api/types';
import {
  groupRanks,
  hasLayout,
  heatOf,
  layoutSizes,
  measureOf,
  medianStepSeconds,
  scaleOf,
} from './rank_heat';

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

describe('heat of ranks', () => {
  const rank = (id: number, seconds: number, change: Partial<RankStatus> = {}) =>
    ({
      rank: id,
      node_id: `n${id >> 1}`,
      tp: id % 2,
      cp: 0,
      dp: id >> 1,
      pp: 0,
      step_seconds: seconds,
      ...change,
    }) as RankStatus;
  const ranks = [rank(0, 1), rank(1, 1), rank(2, 1), rank(3, 1.6)];

  it('groups by node and by a dimension of the layout', () => {
    expect(groupRanks(ranks, 'node').map(({ name }) => name)).toEqual(['n0', 'n1']);
    expect(groupRanks(ranks, 'tp').map(({ ranks: r }) => r.map((x) => x.rank))).toEqual([
      [0, 2],
      [1, 3],
    ]);
    expect(layoutSizes(ranks)).toEqual({ tp: 2, cp: 1, dp: 2, pp: 1 });
  });

  it('heats by the ratio to the median, and not what is unknown', () => {
    const median = medianStepSeconds(ranks);
    expect(median).toBe(1);
    const scale = scaleOf(ranks, 'step time');
    expect(heatOf(rank(9, 1), scale)).toBe(3);
    expect(heatOf(rank(9, 1.6), scale)).toBe(7);
    expect(heatOf(rank(9, 0.5), scale)).toBe(0);
    expect(heatOf(rank(9, 0), scale)).toBeUndefined();
    expect(medianStepSeconds([])).toBe(0);
  });

  it('heats by memory from the least to the most, and by waiting from nothing', () => {
    const uses = (memory_bytes: number, data_stall_seconds = 0) =>
      rank(9, 1, { memory_bytes, data_stall_seconds, step_time: NO_TIME });
    const memory = scaleOf([uses(40), uses(80), uses(0)], 'memory');
    expect([40, 60, 80].map((size) => heatOf(uses(size), memory))).toEqual([0, 4, 7]);
    expect(heatOf(uses(0), memory)).toBeUndefined();
    expect(heatOf(uses(40), scaleOf([uses(40), uses(40.1)], 'memory'))).toBe(3);
    const stall = scaleOf([uses(1, 2), uses(1, 8)], 'data stall');
    expect([0, 2, 8].map((seconds) => heatOf(uses(1, seconds), stall))).toEqual([0, 2, 7]);
  });

  const timed = (id: number, pp: number, compute: number, change: object = {}) =>
    rank(id, 2, { pp, step_time: { ...NO_TIME, compute, ...change } });

  it('heats by compute beside the ranks of the same stage', () => {
    const all = [timed(0, 0, 1), timed(1, 0, 1), timed(2, 1, 3), timed(3, 1, 3), rank(4, 2)];
    const scale = scaleOf(all, 'compute');
    expect(all.map((one) => heatOf(one, scale))).toEqual([3, 3, 3, 3, undefined]);
    expect(heatOf(timed(9, 0, 3), scale)).toBe(7);
    expect(heatOf(timed(9, 2, 3), scale)).toBeUndefined();
  });

  it('heats by the sum of waits, from nothing', () => {
    const waiting = (tp_wait: number, pp_wait: number) => timed(9, 0, 1, { tp_wait, pp_wait });
    const all = [waiting(1, 1), waiting(0, 0), waiting(3, 5), rank(9, 1)];
    const scale = scaleOf(all, 'waits');
    expect(scale).toMatchObject({ low: 0, high: 8 });
    expect(all.map((one) => heatOf(one, scale))).toEqual([2, 0, 7, undefined]);
  });

  it('groups idle spares apart from the layout', () => {
    const all = [timed(0, 0, 1), timed(1, 0, 1), timed(2, 0, 1.5), rank(5, 0, { standby: true })];
    expect(groupRanks(all, 'pp').map(({ name, ranks }) => [name, ranks.length])).toEqual([
      ['pp 0', 3],
      ['spare or replaced', 1],
    ]);
  });

  it('has no layout if another program describes none', () => {
    const flat = [0, 1].map((dp) => rank(dp, 1, { tp: 0, dp }));
    expect(hasLayout({ spec: { command: ['torchrun'] } } as never, flat)).toBe(false);
    expect(hasLayout({ spec: { command: ['torchrun'] } } as never, ranks)).toBe(true);
    expect(hasLayout({ spec: { command: [] } } as never, flat)).toBe(true);
  });

  it('takes no data wait from a rank that reports none', () => {
    expect(measureOf(rank(0, 1, { data_stall_seconds: 0 }), 'data stall')).toBeUndefined();
    const parts = { step_time: NO_TIME };
    expect(measureOf(rank(0, 1, { data_stall_seconds: 0, ...parts }), 'data stall')).toBe(0);
    expect(measureOf(rank(0, 1, { data_stall_seconds: 3 }), 'data stall')).toBe(3);
  });
});
