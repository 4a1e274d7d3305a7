import { describe, expect, it } from 'vitest';
import type { GrantedLayout } from '../api/types';
import { grantedText } from './granted_layout';

function granted(layout: Record<string, unknown>, nodes: number): GrantedLayout {
  return { layout, nodes } as unknown as GrantedLayout;
}

describe('grantedText', () => {
  it('names what is not usual', () => {
    const layout = { tp: 1, pp: 2, dp: 4, zero: 1, recompute: 'full', sequence_parallel: true };
    expect(grantedText(granted(layout, 2))).toBe('pp 2, dp 4, zero 1, recompute full on 2 nodes');
  });

  it('leaves out what is not set', () => {
    expect(grantedText(granted({ dp: 1, zero_size: null, micro_batch: 1 }, 1))).toBe(
      'dp 1 on 1 node',
    );
  });
});
