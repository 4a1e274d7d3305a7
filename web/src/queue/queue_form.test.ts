import { describe, expect, it } from 'vitest';
import {
  PATTERNS,
  canSend,
  changedQueue,
  draftOf,
  problemIn,
  queueCommand,
  queueOf,
} from './queue_form';

const NIGHT = {
  name: 'night',
  shares: 3,
  tier: -1,
  quotas: [{ device: 'gpu', nominal: 64, max_slots: 128, max_slots_per_user: 0 } as const],
};

describe('draftOf', () => {
  it('has the settings of the queue, and no text for no limit', () => {
    expect(draftOf(NIGHT)).toEqual({
      name: 'night',
      shares: '3',
      tier: '-1',
      'gpu nominal': '64',
      'gpu max_slots': '128',
      'gpu max_slots_per_user': '',
      'cpu nominal': '',
      'cpu max_slots': '',
      'cpu max_slots_per_user': '',
    });
  });
  it('is read back as the same queue', () => {
    expect(queueOf(draftOf(NIGHT))).toEqual(NIGHT);
    expect(queueOf({ ...draftOf(undefined), name: ' lab ' })).toEqual({
      name: 'lab',
      shares: 1,
      tier: 0,
      quotas: [],
    });
  });
});

describe('canSend', () => {
  it('needs a name and whole numbers', () => {
    expect(canSend(draftOf(NIGHT))).toBe(true);
    expect(canSend(draftOf(undefined))).toBe(false);
    expect(canSend({ ...draftOf(NIGHT), tier: '' })).toBe(false);
    expect(canSend({ ...draftOf(NIGHT), 'cpu nominal': 'NaN' })).toBe(false);
  });
  it('leaves ranges to the controller', () => {
    expect(problemIn('tier', '101')).toBeUndefined();
    expect(problemIn('cpu nominal', '')).toBeUndefined();
    expect(problemIn('shares', '1e9')).toBe('Enter a whole number.');
  });
});

describe('changedQueue', () => {
  it('keeps what somebody else has changed', () => {
    const before = draftOf(NIGHT);
    const now = { ...NIGHT, tier: 2, quotas: [{ ...NIGHT.quotas[0]!, max_slots: 8 }] };
    expect(changedQueue(now, { ...before, shares: ' 5 ', 'gpu nominal': '' }, before)).toEqual({
      ...now,
      shares: 5,
      quotas: [{ ...NIGHT.quotas[0], nominal: 0, max_slots: 8 }],
    });
  });
});

describe('queueCommand', () => {
  it('names the changed settings only', () => {
    const before = draftOf(NIGHT);
    expect(queueCommand({ ...before, shares: '5', 'gpu max_slots': '' }, before)).toBe(
      'trainyard queue set night --shares 5 --max gpu=0',
    );
    const none = draftOf(undefined);
    expect(queueCommand({ ...none, name: 'lab', 'cpu max_slots_per_user': '4' }, none)).toBe(
      'trainyard queue set lab --max-per-user cpu=4',
    );
  });
});

describe('PATTERNS', () => {
  const fieldOf = (message: string) =>
    Object.entries(PATTERNS).find(([, pattern]) => pattern.test(message))?.[0];
  it('finds the field of each message of the controller', () => {
    expect(fieldOf('the queue name `a/b` is not valid; use lower-case letters')).toBe('name');
    expect(fieldOf('`shares` is -1; it must be from 0 to 1000000')).toBe('shares');
    expect(fieldOf('`tier` is 101; it must be from -100 to 100')).toBe('tier');
    expect(
      fieldOf('`nominal` of cpu slots in the queue gpu is 9, which is greater than `max_slots` 8'),
    ).toBe('cpu nominal');
    expect(
      fieldOf('the queue lab holds 2 gpu slots, so `max_slots` cannot be 1; stop or pause'),
    ).toBe('gpu max_slots');
    expect(
      fieldOf('ada holds 2 gpu slots in the queue lab, so `max_slots_per_user` cannot be 1'),
    ).toBe('gpu max_slots_per_user');
    expect(fieldOf('1000 queues exist already; delete some first')).toBeUndefined();
  });
});
