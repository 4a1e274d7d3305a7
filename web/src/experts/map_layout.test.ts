import { describe, expect, it } from 'vitest';
import { MOST_CANVAS_PX } from '../chart/canvas_size';
import { cellAfterKey, cellAt, labelEvery, mapLayout } from './map_layout';

describe('the map of experts', () => {
  it('scrolls if a phone is too narrow for the experts of a large model', () => {
    const phone = mapLayout(58, 256, 360);
    expect(phone.cellWidth).toBe(3);
    expect(phone.width).toBeGreaterThan(360);
    expect(mapLayout(58, 256, 1400).width).toBeLessThanOrEqual(1400);
  });

  it('has cells of a readable size for small models', () => {
    const small = mapLayout(4, 8, 1400);
    expect([small.cellWidth, small.cellHeight]).toEqual([40, 22]);
    expect(small.height).toBe(88);
  });

  it('is not larger than a canvas may be', () => {
    for (const [layers, experts] of [
      [1, 24_576],
      [24_576, 1],
    ] as const) {
      const { width, height, cellWidth, cellHeight } = mapLayout(layers, experts, 1400);
      expect(Math.max(width, height)).toBeLessThanOrEqual(MOST_CANVAS_PX);
      expect(Math.min(cellWidth, cellHeight)).toBeGreaterThan(0);
    }
  });

  it('labels only as many rows as fit', () => {
    expect(labelEvery(mapLayout(4, 8, 1400))).toBe(1);
    expect(labelEvery(mapLayout(58, 256, 1400))).toBe(2);
  });

  it('finds the cell under a point', () => {
    const layout = mapLayout(4, 8, 1400);
    expect(cellAt(layout, 34, 0)).toEqual({ row: 0, expert: 0 });
    expect(cellAt(layout, 34 + 41, 23)).toEqual({ row: 1, expert: 1 });
    expect(cellAt(layout, 33, 0)).toBeUndefined();
    expect(cellAt(layout, 34 + 320, 0)).toBeUndefined();
    expect(cellAt(layout, 40, 88)).toBeUndefined();
  });

  it('moves by keys and stops at the edges', () => {
    const move = (key: string) => cellAfterKey({ row: 0, expert: 7 }, key, 4, 8);
    expect(move('ArrowRight')).toEqual({ row: 0, expert: 7 });
    expect(move('ArrowLeft')).toEqual({ row: 0, expert: 6 });
    expect(move('ArrowDown')).toEqual({ row: 1, expert: 7 });
    expect(move('ArrowUp')).toEqual({ row: 0, expert: 7 });
    expect(move('Home')).toEqual({ row: 0, expert: 0 });
    expect(move('End')).toEqual({ row: 0, expert: 7 });
    expect(move('a')).toBeUndefined();
  });
});
