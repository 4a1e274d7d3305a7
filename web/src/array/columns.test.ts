import { describe, expect, it } from 'vitest';
import type { ArrayRow } from '../api/types';
import { nextOrder, settingKeys, settingOf } from './columns';

const row = {
  settings: [
    { key: 'optimizer.lr', value: '1e-4' },
    { key: 'train.seed', value: '3' },
  ],
} as ArrayRow;

describe('the columns of the elements', () => {
  it('are the keys of the matrix', () => {
    expect(settingKeys([row])).toEqual(['optimizer.lr', 'train.seed']);
    expect(settingKeys([])).toEqual([]);
    expect(settingOf(row, 'train.seed')).toBe('3');
    expect(settingOf(row, 'train.steps')).toBe('');
  });

  it('reverse their order at the second click', () => {
    const first = nextOrder({ by: 'index', reverse: false }, 'loss');
    expect(first).toEqual({ by: 'loss', reverse: false });
    expect(nextOrder(first, 'loss')).toEqual({ by: 'loss', reverse: true });
    expect(nextOrder({ by: 'loss', reverse: true }, 'loss').reverse).toBe(false);
  });
});
