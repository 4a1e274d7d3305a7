import { describe, expect, it } from 'vitest';
import { effectOfKey, type ChartPlace } from './keys';

const xs = Array.from({ length: 101 }, (_, i) => i * 10);
const place = (change: Partial<ChartPlace> = {}): ChartPlace => ({
  xs,
  shown: { from: 0, to: 1000 },
  index: undefined,
  ...change,
});

describe('keys that read', () => {
  it('begin at the side that they come from', () => {
    expect(effectOfKey('ArrowRight', false, place())).toEqual({ read: 0 });
    expect(effectOfKey('ArrowLeft', false, place())).toEqual({ read: 100 });
  });
  it('go by one, or by ten with Shift, and stop at the ends', () => {
    expect(effectOfKey('ArrowRight', false, place({ index: 4 }))).toEqual({ read: 5 });
    expect(effectOfKey('ArrowLeft', true, place({ index: 44 }))).toEqual({ read: 34 });
    expect(effectOfKey('ArrowRight', true, place({ index: 97 }))).toEqual({ read: 100 });
    expect(effectOfKey('ArrowLeft', false, place({ index: 0 }))).toEqual({ read: 0 });
  });
  it('stay within what is shown', () => {
    const zoomed = { shown: { from: 95, to: 305 } };
    expect(effectOfKey('Home', false, place(zoomed))).toEqual({ read: 10 });
    expect(effectOfKey('End', false, place(zoomed))).toEqual({ read: 30 });
    expect(effectOfKey('ArrowRight', false, place({ ...zoomed, index: 80 }))).toEqual({ read: 10 });
    expect(effectOfKey('ArrowRight', false, place({ ...zoomed, index: 30 }))).toEqual({ read: 30 });
  });
  it('do nothing where there are no points', () => {
    expect(effectOfKey('ArrowRight', false, place({ xs: [] }))).toBeUndefined();
    expect(effectOfKey('Home', false, place({ shown: { from: 11, to: 19 } }))).toBeUndefined();
  });
});

describe('keys that zoom', () => {
  it('keep the point that is read where it is', () => {
    expect(effectOfKey('+', false, place({ index: 20 }))).toEqual({ zoom: { from: 100, to: 600 } });
    expect(effectOfKey('=', false, place())).toEqual({ zoom: { from: 250, to: 750 } });
  });
  it('come back to the whole run', () => {
    const shown = { from: 250, to: 750 };
    expect(effectOfKey('-', false, place({ shown }))).toEqual({ zoom: undefined });
    expect(effectOfKey('-', false, place({ shown: { from: 0, to: 100 } }))).toEqual({
      zoom: { from: 0, to: 150 },
    });
  });
  it('leave other keys to the page', () => {
    expect(effectOfKey('x', false, place())).toBeUndefined();
  });
});
