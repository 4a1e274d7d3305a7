import { describe, expect, it } from 'vitest';
import { figureOf, figuresFor } from './figures';

describe('figures', () => {
  const series = { last: [3, 9], min: [1, 2], mean: [2, 4], counts: [3, 1] };

  it('are the lowest and the last loss, and the mean of a rate', () => {
    expect(figuresFor(['val_loss', 'mfu']).map(({ name }) => name)).toEqual([
      'Lowest val_loss',
      'Last val_loss',
      'Mean mfu',
      'Last mfu',
    ]);
  });

  it('come from every point, although points are merged', () => {
    expect(figureOf(series, 'best')).toBe(1);
    expect(figureOf(series, 'last')).toBe(9);
    expect(figureOf(series, 'mean')).toBe(2.5);
  });

  it('leave out values that are not finite', () => {
    const odd = { last: ['NaN' as const], min: ['NaN' as const, 4], mean: [2], counts: [] };
    expect(figureOf(odd, 'best')).toBe(4);
    expect(figureOf(odd, 'last')).toBeUndefined();
    expect(figureOf({ ...odd, min: [], mean: ['NaN'] }, 'mean')).toBeUndefined();
    expect(figureOf(undefined, 'best')).toBeUndefined();
  });
});
