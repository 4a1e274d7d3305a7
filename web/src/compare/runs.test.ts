import { describe, expect, it } from 'vitest';
import type { CompareSeriesResponse, Series } from '../api/types';
import { curvesOf } from '../chart/curves';
import {
  compareBuckets,
  compareCurves,
  runOrder,
  runsOf,
  withSpikes,
  type Drawn,
  type Run,
} from './runs';

describe('compared runs', () => {
  const steps = { logY: false, axis: 'step', from: undefined, to: undefined } as const;
  const series = (x: number[]) =>
    ({
      key: 'loss',
      steps: x,
      times_ms: x,
      last: x,
      mean: x,
      min: x,
      max: x,
      counts: x.map(() => 1),
      attempts: x,
      nan_counts: x,
      x,
      smoothed: [],
      redone: false,
      attempt: 0,
      job_id: 0,
    }) as Series;
  const mapOf = (...all: Series[]) => new Map(all.map((one) => [one.key, one]));
  const run = (id: number, x?: number[]): Run => ({
    job: { id, name: 'a' } as never,
    series: x ? mapOf(series(x)) : new Map(),
  });
  const curves = (runs: Run[], view: Drawn['view'] = steps, colors: number[] = []) =>
    compareCurves(runs, { metric: 'loss', view, colors }, curvesOf);

  it('takes the runs of one answer apart, and draws them without bands', () => {
    const values = { last: [3, 2], mean: [3, 2], min: [3, 2], max: [3, 2] };
    const points = { ...values, steps: [1, 2], smoothed: [] };
    const answer = {
      jobs: [{ id: 4 }, { id: 9 }],
      series: [
        { ...points, job_id: 9, key: 'loss' },
        { ...points, job_id: 9, key: 'val_loss', x: [7, 8] },
      ],
    } as unknown as CompareSeriesResponse;
    const [first, second] = runsOf(answer);
    expect(first?.series.size).toBe(0);
    expect(second?.series.get('loss')?.x).toEqual([1, 2]);
    expect(second?.series.get('val_loss')?.x).toEqual([7, 8]);
    expect(curves(runsOf(answer)).map(({ role }) => role)).toEqual(['raw', 'raw']);
  });

  it('lets no time fall back where a node has a clock that is behind', () => {
    const loss = { key: 'loss', job_id: 9, steps: [1, 2, 3], x: [10, 5, 20] };
    const answer = { jobs: [{ id: 9 }], series: [loss] } as unknown as CompareSeriesResponse;
    expect(runsOf(answer)[0]?.series.get('loss')?.x).toEqual([10, 10, 20]);
  });

  it('has one curve a run, also for a run without points', () => {
    expect(curves([run(1), run(2, [5, 6])]).map(({ x }) => x)).toEqual([[], [5, 6]]);
  });

  it('gives runs of one group one color, and keeps the colors of the others apart', () => {
    const drawn = curves([run(1, [5]), run(2), run(3, [6])], steps, [9, 0, 9]);
    expect(drawn.map(({ color }) => color)).toEqual([9, 0, 9]);
    expect(drawn[0]?.dash).toEqual(drawn[2]?.dash);
    expect(curves([run(1), run(2)]).map(({ color }) => color)).toEqual([0, 1]);
  });

  it('counts time from the start of each run', () => {
    const view = { ...steps, axis: 'time' } as const;
    expect(curves([run(1, [1000, 1500])], view)[0]?.x).toEqual([0, 500]);
    const earlier = { ...series([400]), key: 'lr' };
    const late: Run = { ...run(1), series: mapOf(series([1000, 1500]), earlier) };
    expect(curves([late], view)[0]?.x).toEqual([600, 1100]);
  });

  it('draws the part of a window on the axis of time, up to the points around it', () => {
    const view = { ...steps, axis: 'time', from: 150, to: 350 } as const;
    const [curve] = curves([run(1, [0, 100, 200, 300, 400, 500])], view);
    expect(curve?.x).toEqual([100, 200, 300, 400]);
    const [none] = curves([run(1, [0, 100])], view);
    expect(none?.x).toEqual([]);
  });

  it('shows the spike that a bucket hides, up or down, and no other extreme', () => {
    const mean = [5, 4, 3, 2, 2];
    const min = [4.9, 3.9, 2.9, 1.9, 1.9];
    const max = [5.1, 4.1, 3.1, 2.1, 2.1];
    expect(withSpikes({ mean, min, max })).toEqual(mean);
    const high = max.with(2, 40);
    expect(withSpikes({ mean, min, max: high })).toEqual([5, 4, 40, 2, 2]);
    expect(withSpikes({ mean, min: min.with(3, -7), max })).toEqual([5, 4, 3, -7, 2]);
    // A steep fall within a bucket must not be treated as a spike.
    expect(withSpikes({ mean: [9, 1, 1], min: [9, 1, 1], max: [9, 9, 1] })).toEqual([9, 1, 1]);
    const broken = ['NaN', 1, 1] as const;
    expect(withSpikes({ mean: [...broken], min: [...broken], max: [...broken] })).toEqual(broken);
  });

  it('asks for finer points the deeper the zoom, and for no more than can be drawn', () => {
    expect(compareBuckets(50, 1_400, 1)).toBe(300);
    expect(compareBuckets(2, 1_400, 1)).toBe(800);
    expect(compareBuckets(2, 1_400, 3)).toBe(3_200);
    expect(compareBuckets(2, 1_400, 1e6)).toBe(10_000);
    expect(compareBuckets(50, 1_400, 1e6)).toBe(600);
  });

  it('orders runs by their newest value, those without one last', () => {
    const runs = [run(1, [5, 6]), run(2), run(3, [2])];
    expect(runOrder(runs, 'loss')).toEqual([2, 0, 1]);
    expect(runOrder(runs, 'lr')).toEqual([0, 1, 2]);
    expect(runOrder(runs, undefined)).toEqual([0, 1, 2]);
  });
});
