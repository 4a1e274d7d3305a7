import { describe, expect, it } from 'vitest';
import { axisOf, placeOn } from './trade_plot';

describe('axisOf', () => {
  it('encloses the values by round numbers', () => {
    const axis = axisOf([0.467, 0.61, 0.523]);
    expect(axis.low).toBeLessThanOrEqual(0.467);
    expect(axis.high).toBeGreaterThanOrEqual(0.61);
    expect(axis.ticks.map((tick) => Number(tick.toFixed(3)))).toEqual([0.45, 0.5, 0.55, 0.6, 0.65]);
  });

  it('has few ticks for any span', () => {
    for (const span of [1e-3, 0.7, 1, 3, 99, 6.3e10]) {
      const { ticks } = axisOf([5, 5 + span]);
      expect(ticks.length).toBeGreaterThanOrEqual(3);
      expect(ticks.length).toBeLessThanOrEqual(9);
    }
  });

  it('has a span for equal values', () => {
    const axis = axisOf([4, 4]);
    expect(axis.high).toBeGreaterThan(axis.low);
    expect(placeOn(axis, 4, 100)).toBeGreaterThanOrEqual(0);
  });
});

describe('placeOn', () => {
  it('is in proportion', () => {
    const axis = { low: 10, high: 20, ticks: [] };
    expect(placeOn(axis, 10, 200)).toBe(0);
    expect(placeOn(axis, 15, 200)).toBe(100);
    expect(placeOn(axis, 20, 200)).toBe(200);
  });
});
