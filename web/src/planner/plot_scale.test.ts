import { describe, expect, it } from 'vitest';
import { durationScale, evenScale } from './plot_scale';

const digits = (value: number) => value.toFixed(3);

describe('evenScale', () => {
  it('encloses the values by round numbers', () => {
    const scale = evenScale([0.467, 0.61, 0.523], digits);
    expect(scale.marks.map(({ name }) => name)).toEqual([
      '0.450',
      '0.500',
      '0.550',
      '0.600',
      '0.650',
    ]);
    expect(scale.placeOf(0.45)).toBeCloseTo(0);
    expect(scale.placeOf(0.55)).toBeCloseTo(0.5);
    expect(scale.placeOf(0.65)).toBeCloseTo(1);
  });

  it('has few marks for any span', () => {
    for (const span of [1e-3, 0.7, 1, 3, 99, 6.3e10]) {
      const { marks } = evenScale([5, 5 + span], digits);
      expect(marks.length).toBeGreaterThanOrEqual(3);
      expect(marks.length).toBeLessThanOrEqual(9);
    }
  });

  it('has a span for equal values', () => {
    const place = evenScale([4, 4], digits).placeOf(4);
    expect(place).toBeGreaterThanOrEqual(0);
    expect(place).toBeLessThanOrEqual(1);
  });
});

describe('durationScale', () => {
  it('gives equal factors equal lengths, and marks round durations', () => {
    const scale = durationScale([6, 5400], String);
    expect(scale.placeOf(6)).toBe(0);
    expect(scale.placeOf(5400)).toBe(1);
    expect(scale.placeOf(180)).toBeCloseTo(0.5);
    expect(scale.marks.map(({ name }) => name)).toEqual(['10', '60', '600', '3600']);
  });
});
