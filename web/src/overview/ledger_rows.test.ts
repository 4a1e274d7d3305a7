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

it('has GPU time, the time in the queue and, with a price, the cost', () => {
  const cost = { amount: 21.5, currency: 'USD', gpu_hour_price: 2.15 };
  const gpus = { ...group('ann', 300, 100), gpu_seconds: 400, cost };
  expect(ledgerRows(report([gpus]))[0]).toMatchObject({ gpuSeconds: 400, queuedSeconds: 50, cost });
  expect(ledgerRows(report([group('ann', 1, 1)]))[0]?.cost).toBeUndefined();
});

it('has idle slots only where the report knows them', () => {
  const idle = { ...group('week', 300, 100), idle_slot_seconds: 7, idle_since_ms: 1 };
  expect(ledgerRows(report([idle]))[0]?.idleSeconds).toBe(7);
  expect(ledgerRows(report([group('ann', 300, 100)]))[0]?.idleSeconds).toBeUndefined();
});

it('gives no goodput to a group that had no slots', () => {
  const [row] = ledgerRows(report([group('ann', 0, 0)]));
  expect(row?.goodput).toBeUndefined();
  expect(row?.parts).toEqual([]);
});
