import { describe, expect, it } from 'vitest';
import type { ArrayRung } from '../api/types';
import { rungRows } from './rung_rows';

const rung = (
  step: number,
  index: number,
  metric: ArrayRung['metric'],
  stopped: boolean,
): ArrayRung => ({ step, index, rank: 1, compared: 2, stopped, metric });

describe('rungRows', () => {
  it('counts the decisions of each step, in the order of steps', () => {
    const rungs = [rung(200, 0, 2.5, false), rung(100, 0, 3, false), rung(100, 1, 4, true)];
    expect(rungRows([...rungs, rung(100, 2, 3.5, false)])).toEqual([
      { step: 100, kept: 2, stopped: 1, best: 3, last: 3.5 },
      { step: 200, kept: 1, stopped: 0, best: 2.5, last: 2.5 },
    ]);
  });
  it('counts the newest decision about an element', () => {
    expect(rungRows([rung(100, 0, 3, false), rung(100, 0, 3, true)])).toEqual([
      { step: 100, kept: 0, stopped: 1, best: undefined, last: undefined },
    ]);
  });
  it('shows no metric that is not finite', () => {
    const [row] = rungRows([rung(100, 0, undefined, false)]);
    expect(row).toMatchObject({ kept: 1, best: undefined });
    expect(rungRows([])).toEqual([]);
  });
});
