import { describe, expect, it } from 'vitest';
import { matching } from './matching';
import { OVERSCAN, isAtEnd, rowWindow } from './windowing';

describe('rowWindow', () => {
  it('draws few rows of many and keeps the full height', () => {
    const shown = rowWindow(10_000, 36, 90_000, 720);
    expect(shown.last - shown.first).toBe(20 + 2 * OVERSCAN);
    expect(shown.above + shown.below + (shown.last - shown.first) * 36).toBe(360_000);
    expect(shown.first * 36).toBeLessThanOrEqual(90_000);
  });

  it('draws nothing above the first row', () => {
    expect(rowWindow(10_000, 36, 0, 720)).toMatchObject({ first: 0, last: 20 + OVERSCAN });
  });

  it('stays within the rows at both ends and with none', () => {
    expect(rowWindow(5, 36, 0, 720)).toEqual({ first: 0, last: 5, above: 0, below: 0 });
    expect(rowWindow(0, 36, 500, 720)).toEqual({ first: 0, last: 0, above: 0, below: 0 });
    expect(rowWindow(100, 36, 1e9, 720).last).toBe(100);
  });
});

it('counts two rows above the end as the end', () => {
  expect(isAtEnd(964, 0, 1000, 18)).toBe(true);
  expect(isAtEnd(963, 0, 1000, 18)).toBe(false);
});

it('matches every word and puts beginnings first', () => {
  const names = ['big llama', 'llama small', 'mixtral'];
  expect(matching(names, (name) => name, 'llama')).toEqual(['llama small', 'big llama']);
  expect(matching(names, (name) => name, 'llama big')).toEqual(['big llama']);
  expect(matching(names, (name) => name, ' ')).toEqual(names);
});
