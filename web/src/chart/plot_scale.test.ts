import { describe, expect, it } from 'vitest';
import {
  durationScale,
  evenScale,
  nameScale,
  powerScale,
  sweepScale,
  withMargin,
} from './plot_scale';

const digits = (value: number) => value.toFixed(3);

describe('evenScale', () => {
  it('encloses the values by round numbers', () => {
    const scale = evenScale([0.467, 0.61, 0.523], digits, 0.001);
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
      const { marks } = evenScale([5, 5 + span], String, 1e-9);
      expect(marks.length).toBeGreaterThanOrEqual(3);
      expect(marks.length).toBeLessThanOrEqual(9);
    }
  });

  it('has no two marks of the same words', () => {
    for (const values of [
      [4, 4],
      [12.31, 12.35],
      [0.9988, 0.9991],
    ]) {
      const { marks, placeOf } = evenScale(values, (value) => value.toFixed(2), 0.01);
      expect(new Set(marks.map(({ name }) => name)).size).toBe(marks.length);
      for (const value of values) {
        expect(placeOf(value)).toBeGreaterThanOrEqual(0);
        expect(placeOf(value)).toBeLessThanOrEqual(1);
      }
    }
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

describe('powerScale', () => {
  it('marks powers of ten', () => {
    const scale = powerScale([3e20, 4e23]);
    expect(scale.marks.map(({ name }) => name)).toEqual(['1e21', '1e22', '1e23']);
    expect(scale.placeOf(3e20)).toBe(0);
    expect(scale.placeOf(4e23)).toBe(1);
  });
});

describe('sweepScale', () => {
  const names = (values: number[]) => sweepScale(values, String).marks.map(({ name }) => name);

  it('marks the values of a sweep, and leaves out labels that would overlap', () => {
    expect(names([3e-4, 1e-4, 3e-4])).toEqual(['0.0001', '0.0003']);
    expect(names([8, 512, 8, 64])).toEqual(['8', '64', '512']);
    expect(names([0, 1, 100])).toEqual(['0', '100']);
  });

  it('is logarithmic for positive values that span a power of ten', () => {
    expect(sweepScale([1, 10, 100], String).placeOf(10)).toBeCloseTo(0.5);
    expect(sweepScale([0, 50, 100], String).placeOf(50)).toBeCloseTo(0.5);
  });

  it('places a single value in the middle, and marks round numbers between many values', () => {
    expect(sweepScale([7, 7], String).placeOf(7)).toBe(0.5);
    const many = Array.from({ length: 21 }, (_, index) => 2 + index / 20);
    expect(sweepScale(many, digits).marks.map(({ name }) => name)).toContain('2.200');
  });
});

it('nameScale gives texts equal distances', () => {
  const { marks, placeOf } = nameScale(['bf16', 'fp8']);
  expect(marks).toEqual([
    { place: 0.25, name: 'bf16' },
    { place: 0.75, name: 'fp8' },
  ]);
  expect(placeOf(1)).toBe(0.75);
});

it('withMargin moves both ends inward', () => {
  const { marks, placeOf } = withMargin(sweepScale([1, 3], String), 0.1);
  expect(marks.map(({ place }) => place)).toEqual([0.1, 0.9]);
  expect(placeOf(2)).toBeCloseTo(0.5);
});
