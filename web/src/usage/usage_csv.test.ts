import { expect, it } from 'vitest';
import type { GetReportResponse } from '../api/types';
import { usageCsv } from './usage_csv';

const group = (name: string, train: number, cost?: object) => ({
  name,
  job_id: 0,
  jobs: 2,
  restarts: 1,
  phases: [
    { phase: 'queued', seconds: 1800, slot_seconds: 0 },
    { phase: 'train', seconds: train / 8, slot_seconds: train },
  ],
  slot_seconds: train,
  gpu_seconds: train,
  cost,
});

const report = (parts: object) => parts as unknown as GetReportResponse;
const linesOf = (text: string) => text.split('\r\n');

it('has one row per group, with the slot-hours of each phase', () => {
  const groups = [group('ada', 36_000), { ...group('grace', 7_200), job_id: 17 }];
  const rest = group('3 others', 3_600);
  const whole = report({ groups, rest, total: group('total', 46_800) });
  expect(linesOf(usageCsv(whole, 'user'))).toEqual([
    'user,job_id,jobs,restarts,queued_hours,slot_hours,gpu_hours,train_slot_hours',
    'ada,,2,1,0.5000,10.0000,10.0000,10.0000',
    'grace,17,2,1,0.5000,2.0000,2.0000,2.0000',
    '3 others,,2,1,0.5000,1.0000,1.0000,1.0000',
    '',
  ]);
});

it('has the cost and its currency if there is a price', () => {
  const cost = { amount: 21.5, currency: 'USD', gpu_hour_price: 2.15 };
  const groups = [group('ada', 36_000, cost)];
  const [head, row] = linesOf(usageCsv(report({ groups, total: groups[0] }), 'week'));
  expect(head).toContain(',gpu_hours,cost,currency,train_slot_hours');
  expect(row).toContain(',10.0000,21.5,USD,10.0000');
});

it('quotes names, and does not let a spreadsheet compute them', () => {
  const groups = [group('a,"b"', 3_600), group('=1+1', 3_600)];
  const [, quoted, formula] = linesOf(usageCsv(report({ groups }), 'job'));
  expect(quoted).toMatch(/^"a,""b""",,/);
  expect(formula).toMatch(/^'=1\+1,,/);
});
