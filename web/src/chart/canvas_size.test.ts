import { expect, it } from 'vitest';
import { MOST_CANVAS_PX, canvasRatio } from './canvas_size';

it('has the resolution of the screen, unless the canvas would be too large', () => {
  expect(canvasRatio(1400, 420, 2)).toBe(2);
  expect(canvasRatio(0, 0, 2)).toBe(2);
  for (const [width, height] of [
    [MOST_CANVAS_PX, 420],
    [1400, 12_000],
  ] as const) {
    const ratio = canvasRatio(width, height, 2);
    expect(ratio * Math.max(width, height)).toBeLessThanOrEqual(MOST_CANVAS_PX);
  }
});
