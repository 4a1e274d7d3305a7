import { describe, expect, it } from 'vitest';
import { cellAt, cellOrigin, groupOf, layoutRanks, neighbourCell } from './rank_layout';

describe('layoutRanks', () => {
  const nodes = layoutRanks(
    Array.from({ length: 128 }, () => 8),
    1_130,
  );

  it('puts groups of a node side by side', () => {
    expect(nodes.columns).toBe(3);
    expect(nodes.height).toBe(Math.ceil(128 / 3) * 28);
    expect(groupOf(nodes, 1_023)).toBe(127);
    expect(groupOf(nodes, 8)).toBe(1);
  });

  it('finds every cell again where it lies', () => {
    const uneven = layoutRanks([3, 40, 1, 300], 390);
    for (const layout of [nodes, uneven]) {
      for (let cell = 0; cell < (layout.starts.at(-1) as number); cell++) {
        const { x, y } = cellOrigin(layout, cell);
        expect(cellAt(layout, { x, y }), `cell ${cell}`).toBe(cell);
        expect(cellAt(layout, { x: x + 23, y: y + 23 })).toBe(cell);
      }
    }
  });

  it('finds none between cells and outside', () => {
    const { x, y } = cellOrigin(nodes, 9);
    expect(cellAt(nodes, { x: x + 24, y })).toBeUndefined();
    expect(cellAt(nodes, { x: 2, y: 2 })).toBeUndefined();
    expect(cellAt(nodes, { x: 5_000, y: 2 })).toBeUndefined();
    expect(cellAt(nodes, { x: 80, y: 1e6 })).toBeUndefined();
    expect(cellAt(layoutRanks([2], 390), { x: 66 + 2 * 26, y: 0 })).toBeUndefined();
  });

  it('moves by keys and stays at the edges', () => {
    expect(neighbourCell(nodes, 0, 'ArrowRight')).toBe(1);
    expect(neighbourCell(nodes, 0, 'ArrowLeft')).toBe(0);
    expect(neighbourCell(nodes, 0, 'ArrowUp')).toBe(0);
    expect(neighbourCell(nodes, 3, 'ArrowDown')).toBe(3 + 3 * 8);
    expect(neighbourCell(nodes, 27, 'ArrowUp')).toBe(3);
    expect(neighbourCell(nodes, 5, 'End')).toBe(1_023);
  });

  it('fills the width with large groups', () => {
    const stages = layoutRanks([512, 512], 1_130);
    expect(stages.columns).toBe(1);
    expect(stages.perRow).toBe(40);
    expect(layoutRanks([512, 512], 1_180).perRow).toBe(40);
    expect(layoutRanks([512, 512], 200).perRow).toBe(5);
  });
});
