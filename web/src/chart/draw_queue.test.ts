import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { queueDraw } from './draw_queue';

let frames: (() => void)[] = [];

// Runs one animation frame and the task that the frame schedules.
function nextFrame(): void {
  const due = frames;
  frames = [];
  for (const frame of due) frame();
  vi.runOnlyPendingTimers();
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal('requestAnimationFrame', (frame: () => void) => frames.push(frame));
});
afterEach(() => {
  while (frames.length > 0) nextFrame();
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

it('draws the first at once and the others after the frame that shows it', () => {
  const drawn: number[] = [];
  for (const chart of [1, 2, 3]) queueDraw(() => drawn.push(chart));
  expect(drawn).toEqual([1]);
  nextFrame();
  expect(drawn).toEqual([1, 2, 3]);
});

it('leaves a frame between charts that take long', () => {
  const drawn: number[] = [];
  for (const chart of [1, 2, 3]) {
    queueDraw(() => {
      drawn.push(chart);
      vi.advanceTimersByTime(50);
    });
  }
  nextFrame();
  expect(drawn).toEqual([1, 2]);
  nextFrame();
  expect(drawn).toEqual([1, 2, 3]);
});

it('goes on after one that fails', () => {
  const drawn: number[] = [];
  queueDraw(() => drawn.push(1));
  queueDraw(() => {
    throw new Error('broken');
  });
  queueDraw(() => drawn.push(3));
  expect(nextFrame).toThrow('broken');
  nextFrame();
  expect(drawn).toEqual([1, 3]);
});

it('does not draw what was called off', () => {
  const drawn: number[] = [];
  queueDraw(() => drawn.push(1));
  queueDraw(() => drawn.push(2))();
  nextFrame();
  expect(drawn).toEqual([1]);
});
