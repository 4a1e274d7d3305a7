import { describe, expect, it } from 'vitest';
import type { Series } from '../api/types';
import { shortTick } from '../format/numbers';
import { durationTick } from '../format/time';
import {
  bucketsFor,
  logTickTexts,
  logTicks,
  paddedRange,
  refreshInterval,
  tickStep,
  tickText,
  timeTickText,
  zoomWindow,
} from './axes';
import {
  align,
  curvesOf,
  extent,
  nearestDefined,
  notFiniteRanges,
  rangeText,
  type Curve,
} from './curves';
import {
  interpolate,
  markerPlace,
  markersKey,
  bySeverity,
  markersOf,
  placeMarkers,
  sourcesOf,
  type Marker,
} from './markers';
import { sparkPath } from './sparkline';

const series = (change: Partial<Series> = {}): Series => ({
  key: 'loss',
  steps: [1, 2, 3],
  times_ms: [0, 0, 0],
  last: [3, 2, 1],
  mean: [3, 2, 1],
  min: [3, 2, 1],
  max: [3, 9, 1],
  counts: [1, 1, 1],
  attempts: [1, 1, 1],
  nan_counts: [0, 0, 0],
  x: [1, 2, 3],
  smoothed: [],
  redone: false,
  attempt: 0,
  job_id: 1,
  ...change,
});
const options = { logY: false, color: 0 };

describe('logTicks', () => {
  it('ends for the range of a learning rate with a warm-up', () => {
    const ticks = logTicks(9.645e-7, 2.7e-4);
    expect(ticks.slice(0, 3)).toEqual([1e-6, 2e-6, 3e-6]);
    expect(ticks.at(-1)).toBe(2e-4);
  });

  it('keeps to decades where there are many, and has none without a range', () => {
    expect(logTicks(1e-9, 1)).toEqual([1e-9, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1]);
    expect(logTicks(0, 1)).toEqual([]);
    expect(logTicks(NaN, 1)).toEqual([]);
  });

  it('has ticks where no whole digit of a decade lies in the range', () => {
    expect(logTicks(2.1, 2.95)).toEqual([2.2, 2.4, 2.6, 2.8]);
    expect(logTicks(3, 3)).toEqual([3]);
  });
});

describe('curvesOf', () => {
  it('draws raw points without a band', () => {
    expect(curvesOf(series(), options).map(({ role }) => role)).toEqual(['raw']);
  });

  it('keeps a spike in the band when points are merged', () => {
    const curves = curvesOf(series({ counts: [5, 5, 5] }), options);
    expect(curves.map(({ role }) => role)).toEqual(['max', 'min', 'raw']);
    expect(extent(curves)).toEqual([1, 9]);
  });

  it('makes a gap of what is not a number, and of zero on a log scale', () => {
    const odd = series({ mean: [1, 'NaN', 0] });
    expect(curvesOf(odd, options)[0]?.y).toEqual([1, null, 0]);
    expect(curvesOf(odd, { ...options, logY: true })[0]?.y).toEqual([1, null, null]);
  });

  it('names a redone branch by its attempt', () => {
    const [curve] = curvesOf(series({ redone: true, attempt: 2 }), options);
    expect(curve).toMatchObject({ role: 'redone', label: 'attempt 2, redone' });
  });

  it('draws the mean of a bucket, not the point that came last', () => {
    const thin = series({ counts: [9, 9, 9], last: [5, 1, 8], mean: [3, 2.5, 2] });
    const curves = curvesOf(thin, options);
    expect(curves.find(({ role }) => role === 'raw')?.y).toEqual([3, 2.5, 2]);
    const [points] = curvesOf(thin, { ...options, points: true });
    expect(points?.y).toEqual([3, 2.5, 2]);
  });

  it('joins neighbours that are not finite to one range', () => {
    const odd = series({
      steps: [10, 20, 30, 40, 50],
      counts: [10, 10, 10, 10, 10],
      nan_counts: [0, 4, 10, 0, 0],
      min: [1, 1, 'NaN', 1, 1],
      max: [1, 1, 'NaN', 'Infinity', 1],
    });
    const ranges = notFiniteRanges(odd);
    expect(ranges).toEqual([{ first: 11, last: 40, nan: true, infinite: true }]);
    expect(ranges.map(rangeText)).toEqual(['NaN and Inf, steps 11 to 40']);
    const apart = notFiniteRanges(series({ nan_counts: [1, 0, 1] }));
    expect(apart.map(rangeText)).toEqual(['NaN at step 1', 'NaN at step 3']);
    expect(notFiniteRanges(series())).toEqual([]);
  });

  it('begins a range in the first bucket at the first step of its points', () => {
    const odd = series({ steps: [10, 20], counts: [10, 10], nan_counts: [3, 0] });
    expect(notFiniteRanges(odd).map(rangeText)).toEqual(['NaN, steps 1 to 10']);
    const second = { steps: [110, 120], counts: [10, 10], nan_counts: [1, 2] };
    expect(notFiniteRanges(series(second)).map(rangeText)).toEqual(['NaN, steps 101 to 120']);
  });
});

describe('align', () => {
  const curve = (x: number[], y: number[]): Curve => ({ role: 'raw', label: '', x, y, color: 0 });

  it('puts curves over one growing x and invents no points', () => {
    const [x, a, b] = align([curve([1, 3], [10, 30]), curve([2, 3], [5, 6])]);
    expect(x).toEqual([1, 2, 3]);
    expect(a).toEqual([10, undefined, 30]);
    expect(b).toEqual([undefined, 5, 6]);
  });

  it('keeps every point of one timestamp', () => {
    const [x, a, b] = align([curve([1, 5, 5, 5], [10, 30, 40, 50]), curve([5, 6], [7, 8])]);
    expect(x).toEqual([1, 5, 5, 5, 6]);
    expect(a).toEqual([10, 30, 40, 50, undefined]);
    expect(b).toEqual([undefined, 7, undefined, undefined, 8]);
  });

  it('finds the nearest point within reach', () => {
    expect(nearestDefined([1, undefined, undefined, 4], 2, 3)).toBe(3);
    expect(nearestDefined([undefined, null, undefined], 1, 3)).toBeUndefined();
    expect(nearestDefined([1, undefined, undefined], 2, 1)).toBeUndefined();
  });
});

describe('axes', () => {
  it('gives ticks that differ from their neighbours', () => {
    expect([2.5, 2.55, 2.6].map((tick) => tickText(tick, 0.05, 'plain'))).toEqual([
      '2.50',
      '2.55',
      '2.60',
    ]);
    expect([2.5, 5, 7.5].map((tick) => tickText(tick, 2.5, 'plain'))).toEqual([
      '2.5',
      '5.0',
      '7.5',
    ]);
    expect(tickText(500_000, 25_000, 'rate')).toBe('500k');
    const gib = 2 ** 30;
    expect([110, 110.25, 110.5].map((size) => tickText(size * gib, gib / 4, 'bytes'))).toEqual([
      '110.00 GiB',
      '110.25 GiB',
      '110.50 GiB',
    ]);
    expect(tickText(64 * gib, 16 * gib, 'bytes')).toBe('64 GiB');
    expect(tickText(0.437, 0.002, 'ratio')).toBe('43.7 %');
  });

  it.each([
    [3_040, 1, ['3,040', '3,041', '3,042']],
    [1_000, 500, ['1.0k', '1.5k', '2.0k']],
    [1_234_560, 20, ['1.23456M', '1.23458M', '1.23460M']],
    [1_234_567_890, 1, ['1,234,567,890', '1,234,567,891', '1,234,567,892']],
    [998_000, 1_000, ['998k', '999k', '1.000M']],
  ])('writes steps from %d on, %d apart, each with its own words', (from, step, words) => {
    expect([0, 1, 2].map((n) => shortTick(from + n * step, step))).toEqual(words);
  });

  it('never repeats a tick, however deep the zoom', () => {
    const units = ['plain', 'ratio', 'seconds', 'bytes', 'rate'] as const;
    for (const unit of units) {
      for (const size of [1e-5, 0.02, 1, 7.3, 95, 4_000, 90_000, 3e6, 2e9, 1.5e11]) {
        for (let depth = 0; depth < 8; depth++) {
          const step = unit === 'bytes' ? 2 ** -(depth * 3) * 2 ** 30 : size / 10 ** depth;
          const first = unit === 'bytes' ? (size % 200) * 2 ** 30 : Math.round(size / step) * step;
          const ticks = [0, 1, 2, 3, 4].map((n) => first + n * step);
          const words = ticks.map((tick) => tickText(tick, tickStep(ticks), unit));
          expect(new Set(words).size, `${unit}: ${words.join(', ')}`).toBe(5);
        }
      }
    }
  });

  it('tells times apart below a second', () => {
    const at = new Date(2026, 10, 21, 16, 52, 30, 250).getTime();
    expect(timeTickText(at, 250)).toBe('16:52:30.250');
  });

  it('tells durations of the axis of elapsed time apart', () => {
    expect([4020, 4030, 4040].map((s) => durationTick(s, 10))).toEqual([
      '1h 07m 00s',
      '1h 07m 10s',
      '1h 07m 20s',
    ]);
    expect([90_000, 90_600].map((s) => durationTick(s, 600))).toEqual(['25h 00m', '25h 10m']);
    expect([62.5, 63].map((s) => durationTick(s, 0.5))).toEqual(['1m 02.5s', '1m 03.0s']);
    expect([1.02, 1.04].map((s) => durationTick(s, 0.02))).toEqual(['1.02 s', '1.04 s']);
  });

  it('lets powers of ten speak on a wide log axis', () => {
    expect(logTickTexts([9, 10, 20, 30], 4, 'plain')).toEqual(['', '10', '', '']);
    expect(logTickTexts([9, 10, 20, 30], 1.5, 'plain')).toEqual(['', '10', '20', '']);
    expect(logTickTexts([2.1, 2.102, 2.104], 0.01, 'plain')).toEqual(['2.100', '2.102', '2.104']);
  });

  it('tells times as finely as their ticks need', () => {
    const at = (h: number, m: number, s: number) => new Date(2026, 10, 21, h, m, s).getTime();
    expect(timeTickText(at(16, 52, 30), 5_000)).toBe('16:52:30');
    expect(timeTickText(at(16, 52, 0), 60_000)).toBe('16:52');
    expect(timeTickText(at(0, 0, 0), 3_600_000)).toBe('11-21');
    expect(timeTickText(at(12, 0, 0), 86_400_000)).toBe('11-21');
  });

  it('pads without leaving the positive side, and never to nothing', () => {
    expect(paddedRange(0, 10, false)[0]).toBe(0);
    const [low, high] = paddedRange(5, 5, false);
    expect(low).toBeLessThan(5);
    expect(high).toBeGreaterThan(5);
    expect(paddedRange(1, 100, true)[0]).toBeGreaterThan(0);
  });

  it('zooms to whole numbers that are never an empty range', () => {
    expect(zoomWindow(20.4, 3.6)).toEqual({ from: 3, to: 21 });
    expect(zoomWindow(5.2, 5.3)).toEqual({ from: 5, to: 6 });
    expect(zoomWindow(-4, -2)).toEqual({ from: 0, to: 1 });
  });

  it('asks for buckets by width, within limits', () => {
    expect([100, 390, 1440, 9000].map(bucketsFor)).toEqual([200, 200, 800, 2000]);
  });

  it('refreshes no faster than a pixel can move, or than looking costs', () => {
    expect(refreshInterval(1, 0.1, 20)).toBe(1_000);
    expect(refreshInterval(10, 1, 20)).toBe(5_000);
    expect(refreshInterval(1, 0.1, 400)).toBe(4_000);
    expect(refreshInterval(1e6, 10, 1)).toBe(30_000);
  });
});

describe('markers', () => {
  const marker = (step: number, kind: Marker['kind'] = 'checkpoint'): Marker => ({
    kind,
    step,
    timeMs: 0,
    text: `${kind} ${step}`,
  });

  it('marks restarts but not the first attempt', () => {
    const attempts = [
      { number: 1, heals: [] },
      { number: 2, resume_step: 40, heals: [] },
    ] as never;
    const found = markersOf({ checkpoints: [], attempts, alerts: [] });
    expect(found.map(({ kind, step }) => [kind, step])).toEqual([['restart', 40]]);
  });

  it('says which restarts the loss guard caused', () => {
    const attempts = [
      { number: 1, stop_reason: 'rolled_back', heals: [] },
      { number: 2, resume_step: 40, stop_reason: 'failed', heals: [] },
      { number: 3, resume_step: 60, stop_reason: 'unspecified', heals: [] },
    ] as never;
    const found = markersOf({ checkpoints: [], attempts, alerts: [] });
    expect(found.map(({ text }) => text)).toEqual([
      'attempt 2 from step 40, rolled back by the loss guard',
      'attempt 3 from step 60',
    ]);
  });

  it('says where the learning rate changed at a restart', () => {
    const change = { step: 40, before: 3e-4, after: 1.2e-4 };
    const attempts = [
      { number: 1, heals: [] },
      { number: 2, resume_step: 40, rate_change: change, heals: [] },
    ] as never;
    const [found] = markersOf({ checkpoints: [], attempts, alerts: [] });
    expect(found?.text).toBe(
      'attempt 2 from step 40; learning rate changed at the resume from step 40: ' +
        '3.00e-4 before, 1.20e-4 after',
    );
  });

  it('marks where the gang went on in place', () => {
    const heals = [
      { step: 30, began_ms: 1000, healed_ms: 5000 },
      { step: 50, began_ms: 9000, healed_ms: 0 },
    ];
    const attempts = [{ number: 1, heals }] as never;
    const found = markersOf({ checkpoints: [], attempts, alerts: [] });
    expect(found.map(({ step, timeMs, text }) => [step, timeMs, text])).toEqual([
      [30, 5000, 'healed in place after step 30'],
      [50, 9000, 'healing in place after step 50'],
    ]);
  });

  it('joins neighbours and shows the worst of them', () => {
    const markers = [marker(10), marker(12, 'alert'), marker(100), marker(999)];
    const placed = placeMarkers(markers, ({ step }) => step, 500, 10);
    expect(placed.map(({ px, kind, markers: all }) => [px, kind, all.length])).toEqual([
      [10, 'alert', 2],
      [100, 'checkpoint', 1],
    ]);
  });

  it('are read with the most severe first', () => {
    const markers = [marker(1), marker(2, 'alert'), marker(3, 'restart'), marker(4)];
    expect(bySeverity(markers).map(({ step }) => step)).toEqual([2, 3, 1, 4]);
    const noted = [marker(1), marker(2, 'note'), marker(3, 'restart')];
    expect(bySeverity(noted).map(({ step }) => step)).toEqual([3, 2, 1]);
  });

  it('never make a range of close alerts', () => {
    const many = Array.from({ length: 60 }, (_, index) => marker(index * 8, 'alert'));
    const placed = placeMarkers(many, ({ step }) => step, 500, 10);
    expect(placed.every(({ px, endPx }) => px === endPx)).toBe(true);
    expect(placed.map(({ px }) => px).slice(0, 3)).toEqual([0, 16, 32]);
  });

  const alert = (step: number, code: string, attempt = 1) => ({
    ...{ attempt, step, code, time_ms: step, message: `message ${step}` },
  });

  it('fold many alerts of one code into one mark with their number', () => {
    const saves = Array.from({ length: 80 }, (_, index) =>
      alert(120 + index * 10, 'checkpoint_failed'),
    );
    const alerts = [...saves, alert(500, 'loss_spike'), alert(700, 'loss_spike')].reverse();
    const found = markersOf({ checkpoints: [], attempts: [], alerts });
    expect(found.map(({ kind, step, text }) => [kind, step, text])).toEqual([
      ['alert', 700, 'loss spike at step 700: message 700'],
      ['alert', 500, 'loss spike at step 500: message 500'],
      ['alert', 120, '80 × checkpoint failed, steps 120 to 910: message 910'],
    ]);
  });

  it('have no alert for a heal, which is not a failure', () => {
    const heals = [{ step: 30, began_ms: 1000, healed_ms: 5000 }];
    const attempts = [{ number: 1, heals }] as never;
    const found = markersOf({ checkpoints: [], attempts, alerts: [alert(30, 'healed')] });
    expect(found.map(({ kind }) => kind)).toEqual(['restart']);
  });

  it('draw a range as far as it reaches into the view', () => {
    const nan: Marker = { ...marker(-20, 'nan'), lastStep: 60 };
    const placed = placeMarkers([nan, marker(30), marker(200)], ({ step }) => step, 500, 10);
    expect(placed.map(({ px, endPx, kind }) => [px, endPx, kind])).toEqual([
      [0, 60, 'nan'],
      [30, 30, 'checkpoint'],
      [200, 200, 'checkpoint'],
    ]);
    const gone = { ...marker(-20, 'nan'), lastStep: -5 };
    expect(placeMarkers([gone], ({ step }) => step, 500, 10)).toEqual([]);
  });

  it('finds the place of a step between points, and none beyond the curve', () => {
    expect(interpolate([10, 20], [1000, 2000], 15)).toBe(1500);
    expect(interpolate([10, 20], [1000, 2000], 5)).toBe(1000);
    expect(interpolate([10, 20], [1000, 2000], 21)).toBeUndefined();
    expect(interpolate([], [], 5)).toBeUndefined();
    // A step far before the window must not be placed at the window's edge.
    expect(interpolate([1000, 1010], [5, 6], 500)).toBeUndefined();
  });

  it('stand on the axis of time also where only their step is known', () => {
    const nan: Marker = { kind: 'nan', step: 15, timeMs: 0, text: '' };
    const main = { steps: [10, 20], x: [1000, 2000] };
    expect(markerPlace(nan, 'time', main)).toBe(1500);
    expect(markerPlace({ ...nan, timeMs: 1700 }, 'time', main)).toBe(1700);
    expect(markerPlace({ ...nan, timeMs: 1700 }, 'tokens', main)).toBe(1500);
    expect(markerPlace(nan, 'step', undefined)).toBe(15);
  });

  it('are those of one attempt where one is chosen, and others when one is replaced', () => {
    const checkpoint = (attempt: number, step: number) => ({ attempt, step, time_ms: 1 }) as never;
    const alerts = [1, 2].map((attempt) => {
      return { attempt, step: 5, time_ms: 1, code: 'c', message: '' };
    });
    const all = { checkpoints: [checkpoint(1, 10), checkpoint(2, 20)], attempts: [], alerts };
    const second = markersOf(sourcesOf(all, 2));
    expect(second.map(({ kind, step }) => [kind, step])).toEqual([
      ['checkpoint', 20],
      ['alert', 5],
    ]);
    const replaced = { ...all, checkpoints: [checkpoint(1, 10), checkpoint(2, 30)] };
    expect(markersKey(markersOf(replaced))).not.toBe(markersKey(markersOf(all)));
    expect(markersKey(markersOf({ ...all }))).toBe(markersKey(markersOf(all)));
  });
});

it('draws a spark with a hole where there is no number', () => {
  expect(sparkPath([1, 'NaN', 2]).match(/M/g)).toHaveLength(2);
  expect(sparkPath([1])).toBe('');
  expect(sparkPath([0, 50], [0, 100])).toBe('M0.0 26.0L120.0 14.0');
});
