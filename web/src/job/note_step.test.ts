import { describe, expect, it } from 'vitest';
import { stepAt } from './note_step';

const main = { steps: [10, 20, 30], x: [1_000, 2_000, 4_000] };

describe('the step of a position', () => {
  it('is the position on the axis of steps', () => {
    expect(stepAt(12.4, 'step', undefined)).toBe(12);
    expect(stepAt(-3, 'step', main)).toBe(0);
  });

  it('is found on the curve for other axes', () => {
    expect(stepAt(1_500, 'tokens', main)).toBe(15);
    expect(stepAt(4_000, 'time', main)).toBe(30);
    expect(stepAt(9_000, 'time', main)).toBeUndefined();
    expect(stepAt(9_000, 'time', undefined)).toBeUndefined();
  });
});
