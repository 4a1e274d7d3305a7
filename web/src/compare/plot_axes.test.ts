import { describe, expect, it } from 'vitest';
import { figuresFor } from './figures';
import { pathThrough } from './parallel_path';
import { extremesOf, figureAxis, settingAxis, shortened } from './plot_axes';

const differences = (...values: (string | undefined)[]) => ({
  relevant: ['a'],
  operational: [],
  values: values.map((value) => new Map(value === undefined ? [] : [['a', value]])),
});

describe('the axis of a setting', () => {
  it('has a scale of numbers, without runs that do not set it', () => {
    const axis = settingAxis('a', differences('1e-4', undefined, '1e-3'));
    expect(axis.values).toEqual([1e-4, undefined, 1e-3]);
    expect(axis.texts).toEqual(['1e-4', 'not set', '1e-3']);
    expect(axis.scale?.marks.map(({ name }) => name)).toEqual(['0.0001', '0.001']);
  });

  it('has names at equal distances for other values', () => {
    const axis = settingAxis('a', differences('fp8', 'bf16', undefined));
    expect(axis.values).toEqual([1, 0, undefined]);
    expect(axis.scale?.marks.map(({ name }) => name)).toEqual(['bf16', 'fp8']);
    expect(settingAxis('a', differences(undefined)).scale).toBeUndefined();
  });

  it('shortens long names', () => {
    expect(shortened('x'.repeat(30))).toBe(`${'x'.repeat(19)}…`);
    expect(shortened('bf16')).toBe('bf16');
  });
});

describe('the axis of a result', () => {
  const [best] = figuresFor(['loss']);
  const columns = (min: number) => ({ last: [min], min: [min], mean: [min], counts: [1] });

  it('knows the runs with the lowest and the highest value', () => {
    const axis = figureAxis(best!, [columns(3), undefined, columns(2), columns(9)]);
    expect(axis.values).toEqual([3, undefined, 2, 9]);
    expect(extremesOf(axis)).toEqual({ low: 2, high: 3 });
    expect(extremesOf(figureAxis(best!, [columns(3), undefined]))).toBeUndefined();
  });
});

it('a line through parallel axes has a gap where a run has no value', () => {
  const across = (axis: number) => axis * 100;
  const up = (place: number) => 50 - place * 40;
  const path = pathThrough([0, 1, undefined, 0.5], across, up);
  expect(path).toBe('M0.0 50.0L100.0 10.0M300.0 30.0');
});
