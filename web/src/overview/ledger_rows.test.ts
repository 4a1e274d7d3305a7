import { expect, it } from 'vitest';
import type { GetReportResponse } from '../api/types';
import { ledgerRows } from './ledger_rows';

const group = (name: string, train: number, restart: number) => ({
  name,
  phases: [
    { phase: 'queued', seconds: 50, slot_seconds: 0 },
    { phase: 'restart', seconds: restart, slot_seconds: restart },
    { phase: 'train', seconds: train, slot_seconds: train },
  ],
  slot_seconds: train + restart,
  goodput_ratio: train / (train + restart || 1),
  effective_ratio: train / (train + restart || 1),
});

const report = (groups: object[], rest?: object) =>
  ({ groups, rest, total: group('total', 300, 100) }) as unknown as GetReportResponse;

it('divides the slot time of each group into phases, largest first', () => {
  const [row] = ledgerRows(report([group('ann', 300, 100)]));
  expect(row?.parts).toEqual([
    { phase: 'train', part: 0.75 },
    { phase: 'restart', part: 0.25 },
  ]);
  expect(row?.goodput).toBe(0.75);
});

it('adds the rest and the sum where there are several groups', () => {
  const rows = ledgerRows(report([group('ann', 200, 50)], group('7 others', 100, 50)));
  expect(rows.map(({ name }) => name)).toEqual(['ann', '7 others', 'total']);
  expect(ledgerRows(report([group('ann', 300, 100)]))).toHaveLength(1);
});

it('gives no goodput to a group that had no slots', () => {
  const [row] = ledgerRows(report([group('ann', 0, 0)]));
  expect(row?.goodput).toBeUndefined();
  expect(row?.parts).toEqual([]);
});
