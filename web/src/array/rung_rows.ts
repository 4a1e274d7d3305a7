// The decisions of a halving, one row per step. Pure functions.
import type { ArrayRung } from '../api/types';

export interface RungRow {
  step: number;
  kept: number;
  stopped: number;
  // The lowest metric of a kept element; undefined if no element has a finite one.
  best: number | undefined;
  // The highest metric of a kept element.
  last: number | undefined;
}

// Returns the rows by step. An element that was compared again at a step, because another reached
// it later, counts with its newest decision.
export function rungRows(rungs: readonly ArrayRung[]): RungRow[] {
  const steps = new Map<number, Map<number, ArrayRung>>();
  for (const rung of rungs) {
    const elements = steps.get(rung.step) ?? new Map<number, ArrayRung>();
    steps.set(rung.step, elements.set(rung.index, rung));
  }
  return [...steps]
    .sort(([a], [b]) => a - b)
    .map(([step, elements]) => {
      const decisions = [...elements.values()];
      const kept = decisions.filter((rung) => !rung.stopped);
      const metrics = kept
        .flatMap(({ metric }) => (typeof metric === 'number' ? [metric] : []))
        .sort((a, b) => a - b);
      return {
        step,
        kept: kept.length,
        stopped: decisions.length - kept.length,
        best: metrics[0],
        last: metrics.at(-1),
      };
    });
}
