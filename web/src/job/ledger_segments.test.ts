import { describe, expect, it } from 'vitest';
import type { Ledger } from '../api/types';
import { segmentsOf, sharesOf } from './ledger_segments';

describe('ledger', () => {
  const ledger = {
    phases: [
      { phase: 'train', seconds: 75, slot_seconds: 1 },
      { phase: 'init', seconds: 25, slot_seconds: 1 },
    ],
    wall_seconds: 100,
    goodput_ratio: 0.75,
    spans: [
      { phase: 'init', attempt: 1, begin_ms: 1_000, end_ms: 26_000 },
      { phase: 'train', attempt: 1, begin_ms: 26_000, end_ms: 0 },
    ],
  } as Ledger;

  it('covers the bar without a hole, the open stretch to the end', () => {
    const lanes = segmentsOf(ledger, 1_000, 101_000);
    expect(lanes.map(({ left, width }) => [left, width])).toEqual([
      [0, 0.25],
      [0.25, 0.75],
    ]);
  });

  it('has shares that sum to one', () => {
    expect(sharesOf(ledger).reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    expect(sharesOf(ledger).map(({ slotSeconds }) => slotSeconds)).toEqual([1, 1]);
  });
});
