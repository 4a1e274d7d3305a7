import { describe, expect, it } from 'vitest';
import { extent, type Curve, type Value } from './curves';
import { ownValues, stackedCurves } from './stack';
import { typicalRange } from './y_range';

const curve = (x: number[], y: Value[]): Curve => ({ role: 'raw', label: '', x, y, color: 0 });

describe('a stack', () => {
  it('adds each part to those below it, and begins at 0', () => {
    const stack = stackedCurves([curve([1, 2], [6, 5]), curve([1, 2], [1, 2])]);
    expect(stack.map(({ role }) => role)).toEqual(['stack', 'stack']);
    expect(stack.map(({ y }) => y)).toEqual([
      [6, 5],
      [7, 7],
    ]);
    expect(extent(stack)).toEqual([0, 7]);
  });

  it('keeps a part that has no point at a step of another one, and starts it at 0', () => {
    const [, upper] = stackedCurves([curve([1, 2, 3], [6, 6, 6]), curve([2], [1])]);
    expect(upper?.y).toEqual([6, 7, 7]);
  });

  it('has a gap where a part is not finite', () => {
    const stack = stackedCurves([curve([1, 2], [6, 5]), curve([1, 2], [1, null])]);
    expect(stack.map(({ y }) => y)).toEqual([
      [6, null],
      [7, null],
    ]);
  });

  it('has the value of each part, not that of its edge', () => {
    const stack = stackedCurves([curve([1], [6]), curve([1], [1.5]), curve([1], [0.5])]);
    expect(ownValues([...stack, curve([1], [9])], [6, 7.5, 8, 9])).toEqual([6, 1.5, 0.5, 9]);
    expect(ownValues(stack, [undefined, undefined, undefined])).toEqual(Array(3).fill(undefined));
  });

  it('is shown from 0 to most of its sums, and always with the newest ones', () => {
    const steps = Array.from({ length: 200 }, (_, index) => index);
    const bottom = steps.map(() => 6);
    const top = steps.map((step) => (step === 50 ? 100 : 1 + step / 200));
    const range = typicalRange(stackedCurves([curve(steps, bottom), curve(steps, top)]))!;
    expect(range[0]).toBe(0);
    expect(range[1]).toBeGreaterThanOrEqual(7.995);
    expect(range[1]).toBeLessThan(10);
  });
});
