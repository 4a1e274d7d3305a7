import { describe, expect, it } from 'vitest';
import { slotRangeText, slotRangesOf, splitIntoRows } from './slot_ranges';

const use = (job_id: number, rank = 0, unkillable = '') => ({
  job_id,
  attempt: 1,
  rank,
  unkillable,
  requested_cpus: 0,
  requested_memory_bytes: 0,
});

describe('holdings', () => {
  it('joins neighbors of one job, and free ones', () => {
    const uses = [use(7, 8), use(7, 9), use(0), use(0), use(0), use(9, 0)];
    expect(slotRangesOf(uses)).toEqual([
      { jobId: 7, first: 0, count: 2, rank: 8, unkillable: '' },
      { jobId: 0, first: 2, count: 3, rank: 0, unkillable: '' },
      { jobId: 9, first: 5, count: 1, rank: 0, unkillable: '' },
    ]);
  });

  it('keeps ranks apart that do not follow each other', () => {
    expect(slotRangesOf([use(7, 3), use(7, 9)]).map(({ count }) => count)).toEqual([1, 1]);
  });

  it('tells a slot that an unkillable process holds from its neighbors', () => {
    const [held, next] = slotRangesOf([use(7, 0, 'pid 12 in disk sleep'), use(7, 1)]);
    expect(held && slotRangeText(held, 'llama')).toBe(
      'slot 0: llama #7, rank 0; cannot be killed: pid 12 in disk sleep',
    );
    expect(next && slotRangeText(next, 'llama')).toBe('slot 1: llama #7, rank 1');
  });

  it('breaks a stretch where its row ends', () => {
    expect(splitIntoRows({ jobId: 7, first: 6, count: 12, rank: 0, unkillable: '' })).toEqual([
      { jobId: 7, first: 6, count: 2, rank: 0, unkillable: '' },
      { jobId: 7, first: 8, count: 8, rank: 2, unkillable: '' },
      { jobId: 7, first: 16, count: 2, rank: 10, unkillable: '' },
    ]);
  });

  it('says slots and ranks', () => {
    expect(slotRangeText({ jobId: 7, first: 0, count: 8, rank: 8, unkillable: '' }, 'llama')).toBe(
      'slots 0 to 7: llama #7, ranks 8 to 15',
    );
    expect(slotRangeText({ jobId: 7, first: 3, count: 1, rank: 11, unkillable: '' }, 'llama')).toBe(
      'slot 3: llama #7, rank 11',
    );
    expect(slotRangeText({ jobId: 0, first: 3, count: 2, rank: 0, unkillable: '' }, '')).toBe(
      'slots 3 to 4, free',
    );
  });
});
