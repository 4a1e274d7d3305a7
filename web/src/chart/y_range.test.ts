import { describe, expect, it } from 'vitest';
import type { Curve, Role } from './curves';
import { typicalRange, valuesOutside } from './y_range';

const curve = (y: (number | null)[], role: Role = 'raw'): Curve => ({
  ...{ role, label: 'loss', x: y.map((_, index) => index), y, color: 0 },
});
const steps = Array.from({ length: 500 }, (_, index) => index);
const falling = steps.map((step) => 2 + 9 / (1 + step) + (step % 7) / 50);

describe('the typical range', () => {
  it('is not stretched by the first steps', () => {
    const [low, high] = typicalRange([curve(falling)])!;
    expect(low).toBeCloseTo(Math.min(...falling));
    expect(high).toBeLessThan(3);
    expect(valuesOutside([curve(falling)])).toEqual({ high: 11 });
  });

  it('is the full range if no value is extreme', () => {
    const even = steps.map((step) => step / 10);
    expect(typicalRange([curve(even)])).toEqual([0, 49.9]);
    expect(valuesOutside([curve(even)])).toEqual({});
  });

  it('contains the newest values of a run that diverges', () => {
    const diverging = falling.map((loss, step) => (step > 495 ? 40 : loss));
    expect(typicalRange([curve(diverging)])![1]).toBe(40);
  });

  it('leaves out a spike in the band, in both directions', () => {
    const spikes = falling.map((loss, step) => (step === 250 ? 80 : step === 300 ? -60 : loss));
    const curves = [curve(spikes, 'max'), curve(falling)];
    expect(valuesOutside(curves)).toEqual({ low: -60, high: 80 });
  });

  it('is the full range of a flat curve with one other value, and none without values', () => {
    expect(typicalRange([curve([1, ...steps.map(() => 5)])])).toEqual([1, 5]);
    expect(typicalRange([curve([null, null])])).toBeUndefined();
    expect(typicalRange([])).toBeUndefined();
  });
});
