import { describe, expect, it } from 'vitest';
import { queryText } from '../api/client';
import type { GetSeriesResponse } from '../api/types';
import { align, curvesOf } from '../chart/curves';
import { parseCurveView } from '../router/url';
import {
  baselineQueries,
  evaluationQuery,
  keysQuery,
  otherSets,
  seriesQueries,
  seriesQuery,
  withAxis,
} from './series_query';

const view = (text: string) => parseCurveView(new URLSearchParams(text));

describe('seriesQuery', () => {
  it('asks for names with a comma one by one', () => {
    expect(queryText(keysQuery(['loss', 'a,b', 'lr', 'c,&d']))).toBe(
      '?keys=loss,lr&key=a%2Cb&key=c%2C%26d',
    );
    expect(queryText(keysQuery(['loss']))).toBe('?keys=loss');
  });

  it('leaves out the axis where steps are the axis', () => {
    expect(seriesQuery(view(''), ['loss'], 400)['fields']).not.toContain(',x');
    expect(seriesQuery(view('axis=time'), ['loss'], 400)['fields']).toContain(',x');
  });

  it('asks for one attempt, or for all with their redone parts', () => {
    expect(seriesQuery(view('attempt=2'), [], 400)).toMatchObject({ attempt: 2 });
    expect(seriesQuery(view(''), [], 400)).toMatchObject({ attempts: 'all' });
  });

  it('asks for ready series and those added, each once, and fewer points for small panels', () => {
    const { wide, narrow } = seriesQueries(view('keys=loss,mine'), 1440);
    expect(wide).toMatchObject({ keys: 'loss,val_loss', buckets: 800 });
    expect(String(narrow['keys']).split(',').at(-1)).toBe('mine');
    expect(String(narrow['keys']).split(',')).not.toContain('loss');
    expect(narrow['buckets']).toBe(200);
    expect(seriesQueries(view(''), 390).narrow['buckets']).toBe(200);
  });
});

it('takes steps for the axis that was not sent', () => {
  const answer = { series: [{ steps: [1, 2] }, { steps: [1], x: [9] }] };
  const [first, second] = withAxis(answer as unknown as GetSeriesResponse).series;
  expect([first?.x, second?.x]).toEqual([[1, 2], [9]]);
});

it('draws points of a node whose clock is behind at the newest time before them', () => {
  const merged = { key: 'loss', steps: [1, 2, 3], x: [10, 5, 20], mean: [3, 2, 1] };
  const other = { key: 'other', steps: [1], x: [7], mean: [9] };
  const columns = { min: [], max: [], counts: [], smoothed: [] };
  const answer = { series: [{ ...merged, ...columns }, { ...other, ...columns }] };
  const { series } = withAxis(answer as unknown as GetSeriesResponse);
  const curves = series.flatMap((one) => curvesOf(one, { logY: false, color: 0 }));
  const [x, first, second] = align(curves);
  expect(x).toEqual([7, 10, 10, 20]);
  expect(first).toEqual([undefined, 3, 2, 1]);
  expect(second).toEqual([9, undefined, undefined, undefined]);
});

describe('queries of overlays', () => {
  it('ask for a baseline without its redone parts, and without a window of time', () => {
    const { wide, narrow } = baselineQueries(view('attempt=2&from=5&to=9'), ['code_loss'], 1440);
    expect(wide).toMatchObject({ keys: 'loss,val_loss,code_loss', from: 5, attempt: undefined });
    expect(queryText(narrow)).not.toContain('attempt');
    const byTime = baselineQueries(view('axis=time&from=5&to=9'), [], 1440);
    expect(byTime.wide['from']).toBeUndefined();
  });

  it('ask for evaluation sets that are not part of every request', () => {
    expect(otherSets(['val_loss', 'code_loss'])).toEqual(['code_loss']);
    expect(evaluationQuery(view(''), ['code_loss'], 1440)).toMatchObject({ keys: 'code_loss' });
  });
});
