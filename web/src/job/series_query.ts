// Builds the queries for the curves of a job. Pure functions.
import type { Query } from '../api/client';
import type { GetSeriesResponse, Series } from '../api/types';
import { bucketsFor, nonDecreasing } from '../chart/axes';
import type { CurveView } from '../router/url';
import { DEFAULT_KEYS, WIDE_KEYS } from './panels';

// The columns that charts draw. `x` is not requested on the step axis, because there it equals
// `steps`.
const COLUMNS = 'steps,last,mean,min,max,counts,nan_counts,smoothed';

// Returns the keys as query parameters: joined by commas, but a key that contains a comma has its
// own parameter.
export function keysQuery(keys: readonly string[]): Query {
  const odd = keys.filter((key) => key.includes(','));
  const plain = keys.filter((key) => !key.includes(','));
  return { keys: plain.join(','), key: odd.length > 0 ? odd : undefined };
}

export function seriesQuery(view: CurveView, keys: readonly string[], buckets: number): Query {
  return {
    ...keysQuery(keys),
    x: view.axis,
    from: view.from,
    to: view.to,
    buckets,
    smooth: view.smooth > 0 ? view.smooth : undefined,
    ...(view.attempt ? { attempt: view.attempt } : { attempts: 'all' }),
    fields: view.axis === 'step' ? COLUMNS : `${COLUMNS},x`,
  };
}

// In pixels: the maximum width of the page, and the width of a panel's frame and labels, which its
// curve cannot use.
const PAGE_PX = 1680;
const PANEL_FRAME_PX = 90;
// The breakpoints must equal those of the panel grid in job.css.
const columnsOf = (windowWidth: number) => (windowWidth > 1100 ? 3 : windowWidth > 640 ? 2 : 1);

export interface SeriesQueries {
  wide: Query;
  narrow: Query;
}

// Returns the two queries for the panels' data, which are sent in parallel. The first panel has its
// own query, because it is as wide as the page and visible first. The other panels share a row and
// need fewer points. Both queries are sent before it is known which series exist; a missing series
// is empty in the response.
export function seriesQueries(view: CurveView, windowWidth: number): SeriesQueries {
  const page = Math.min(windowWidth, PAGE_PX);
  const added = view.extra.filter((key) => !DEFAULT_KEYS.includes(key));
  const others = DEFAULT_KEYS.filter((key) => !WIDE_KEYS.includes(key));
  const narrowPx = page / columnsOf(page) - PANEL_FRAME_PX;
  return {
    wide: seriesQuery(view, WIDE_KEYS, bucketsFor(page - PANEL_FRAME_PX)),
    narrow: seriesQuery(view, [...others, ...added], bucketsFor(narrowPx)),
  };
}

// Returns the evaluation sets that seriesQueries does not request.
export const otherSets = (sets: readonly string[]) =>
  sets.filter((key) => !WIDE_KEYS.includes(key));

// Returns the query for evaluation sets. The query is sent when the existing sets are known.
export function evaluationQuery(view: CurveView, sets: readonly string[], width: number): Query {
  return seriesQuery(view, sets, bucketsFor(Math.min(width, PAGE_PX) - PANEL_FRAME_PX));
}

// Returns the queries for a baseline: all attempts joined, without redone parts. On the time axis
// the queries have no window, because the baseline ran at another time.
export function baselineQueries(
  view: CurveView,
  sets: readonly string[],
  windowWidth: number,
): SeriesQueries {
  const { axis } = view;
  const window = axis === 'time' ? { from: undefined, to: undefined } : {};
  const { wide, narrow } = seriesQueries({ ...view, ...window }, windowWidth);
  const joined = (query: Query): Query => ({ ...query, attempts: undefined, attempt: undefined });
  const keys = keysQuery([...WIDE_KEYS, ...otherSets(sets)]);
  return { wide: { ...joined(wide), ...keys }, narrow: joined(narrow) };
}

// Adds the column `x`, which is not requested on the step axis, and makes it non-decreasing, as
// charts require.
const withX = (series: Series): Series => ({
  ...series,
  x: series.x ? nonDecreasing(series.x) : series.steps,
});

export function withAxis(answer: GetSeriesResponse): GetSeriesResponse {
  return { ...answer, series: answer.series.map(withX) };
}
