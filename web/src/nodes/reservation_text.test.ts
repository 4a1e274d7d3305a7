import { expect, it } from 'vitest';
import type { Node } from '../api/types';
import { reservationTexts } from './reservation_text';

const HOUR = 3_600_000;

it('shows when a reservation begins or ends', () => {
  const reservation = { name: 'maint', start_ms: 2 * HOUR, end_ms: 5 * HOUR, reason: 'new fans' };
  const node = { reservations: [reservation] } as unknown as Node;
  expect(reservationTexts(node, 0)).toEqual(['reserved as maint in 2h 00m for 3h 00m: new fans']);
  const other = { reservations: [{ ...reservation, reason: '' }] } as unknown as Node;
  expect(reservationTexts(other, 4 * HOUR)).toEqual(['reserved as maint, 1h 00m left']);
  expect(reservationTexts({} as Node, 0)).toEqual([]);
});
