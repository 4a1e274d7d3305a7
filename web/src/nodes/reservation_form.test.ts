import { describe, expect, it } from 'vitest';
import {
  NO_RESERVATION,
  PATTERNS,
  canReserve,
  lengthProblem,
  reservationCommand,
  reservationOf,
} from './reservation_form';

const FANS = { ...NO_RESERVATION, name: 'fans', nodes: 'gpu[01-04]', length: '1h30m' };
const NOW = Date.parse('2026-12-01T06:00Z');
const START = '2026-12-01T08:00';

describe('canReserve', () => {
  it('needs a name, nodes, a length and the name of the owner', () => {
    expect(canReserve(FANS)).toBe(true);
    expect(canReserve({ ...FANS, name: ' ' })).toBe(false);
    expect(canReserve({ ...FANS, nodes: '' })).toBe(false);
    expect(canReserve({ ...FANS, length: '0h' })).toBe(false);
    expect(canReserve({ ...FANS, owner: 'user' })).toBe(false);
    expect(canReserve({ ...FANS, owner: 'user', ownerName: 'ada' })).toBe(true);
  });
  it('explains a length that is no duration', () => {
    expect(lengthProblem(FANS)).toBeUndefined();
    expect(lengthProblem({ ...FANS, length: '2' })).toContain('30m, 2h or 3d');
  });
});

describe('reservationOf', () => {
  it('starts now without a start', () => {
    const { start_ms: start, end_ms: end } = reservationOf(FANS, NOW);
    expect([start, end]).toEqual([NOW, NOW + 5_400_000]);
  });
  it('starts at the local time', () => {
    const draft = { ...FANS, start: START, owner: 'queue', ownerName: 'night' } as const;
    expect(reservationOf(draft, NOW)).toMatchObject({
      nodes: ['gpu[01-04]'],
      start_ms: new Date(2026, 11, 1, 8).getTime(),
      queue: 'night',
      user: '',
    });
  });
  it('has no owner if nobody may use the nodes', () => {
    expect(reservationOf({ ...FANS, ownerName: 'ada' }, NOW)).toMatchObject({
      queue: '',
      user: '',
    });
  });
});

describe('reservationCommand', () => {
  it('has the settings that are not usual', () => {
    expect(reservationCommand(FANS)).toBe(
      "trainyard reservation create fans --nodes 'gpu[01-04]' --for 1h30m",
    );
    const utc = new Date(2026, 11, 1, 8).toISOString().slice(0, 16);
    expect(
      reservationCommand({
        ...FANS,
        start: START,
        owner: 'user',
        ownerName: 'ada',
        reason: "Ada's fans",
        drain: true,
      }),
    ).toBe(
      `trainyard reservation create fans --nodes 'gpu[01-04]' --from ${utc}Z --for 1h30m ` +
        "--user 'ada' --drain --reason 'Ada'\\''s fans'",
    );
  });
});

describe('PATTERNS', () => {
  const fieldOf = (message: string) =>
    Object.entries(PATTERNS).find(([, pattern]) => pattern.test(message))?.[0];
  it('finds the field of each message of the controller', () => {
    expect(fieldOf('the name `A` of a reservation is not valid; use')).toBe('name');
    expect(fieldOf('a reservation is called fans; delete it')).toBe('name');
    expect(fieldOf('the reservation would end in the past; choose')).toBe('length');
    expect(fieldOf('no queue is called `night`')).toBe('owner');
    expect(fieldOf('the reason of a reservation is too long')).toBe('reason');
    const reserved = 'gpu01 is reserved by user-maint in this time; choose other nodes';
    expect(fieldOf(reserved)).toBe('nodes');
    expect(fieldOf('`gpu[` is not a name of nodes: write')).toBe('nodes');
    expect(fieldOf('there are 1000 reservations; at most 1000')).toBeUndefined();
  });
});
