import { describe, expect, it } from 'vitest';
import type { ListQueuesResponse } from '../api/types';
import { holdersText, limitText, shareRows } from './queue_shares';

const QUOTA = { device: 'gpu', nominal: 64, max_slots: 128, max_slots_per_user: 16 } as const;
const SLOTS = {
  device: 'gpu',
  held_slots: 40,
  waiting_jobs: 2,
  usage_hours: 10,
  usage_share: 0.5,
  fair_share: 0.75,
  users: [],
} as const;

function response(queues: object[]): ListQueuesResponse {
  return { queues } as unknown as ListQueuesResponse;
}

describe('limitText', () => {
  it('names the limits that are set', () => {
    expect(limitText(QUOTA)).toBe('nominal 64, at most 128, 16 per user');
    expect(limitText({ ...QUOTA, nominal: 0, max_slots: 0 })).toBe('16 per user');
    expect(limitText(undefined)).toBe('');
  });
});

describe('holdersText', () => {
  it('names the users who hold slots', () => {
    const user = (name: string, held: number) => ({
      user: name,
      held_slots: held,
      usage_hours: 1,
    });
    const users = [user('ada', 32), user('cy', 0), user('', 8)];
    expect(holdersText({ ...SLOTS, users })).toBe('ada 32, unknown 8');
    expect(holdersText(undefined)).toBe('');
  });
});

describe('shareRows', () => {
  it('shows nothing if default is the only queue', () => {
    const plain = { queue: { name: 'default', shares: 0, tier: 0, quotas: [] }, slots: [SLOTS] };
    expect(shareRows(response([plain]))).toEqual([]);
  });
  it('has a row for each kind of slot', () => {
    const night = { queue: { name: 'night', shares: 3, tier: 1, quotas: [QUOTA] }, slots: [SLOTS] };
    const usual = { queue: { name: 'default', shares: 0, tier: 0, quotas: [] }, slots: [] };
    expect(shareRows(response([usual, night]))).toEqual([
      { key: 'default', queue: usual.queue, slots: undefined, limits: '', isFirst: true },
      {
        key: 'night gpu',
        queue: night.queue,
        slots: SLOTS,
        limits: 'nominal 64, at most 128, 16 per user',
        isFirst: true,
      },
    ]);
  });
  it('has a row with all limits for an unused queue', () => {
    const unused = { queue: { name: 'lab', shares: 1, tier: 0, quotas: [QUOTA] }, slots: [] };
    const [row] = shareRows(response([unused]));
    expect(row?.slots).toBeUndefined();
    expect(row?.limits).toBe('gpu: nominal 64, at most 128, 16 per user');
  });
  it('offers the actions in one row of a queue', () => {
    const cpu = { ...SLOTS, device: 'cpu' };
    const queue = { name: 'lab', shares: 1, tier: 0, quotas: [QUOTA] };
    const both = { queue, slots: [SLOTS, cpu] };
    expect(shareRows(response([both])).map(({ isFirst }) => isFirst)).toEqual([true, false]);
  });
});
