// Loads the compared runs and the names of their series.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { RequestError } from '../api/client';
import { hasEnded } from '../api/live';
import { clock } from '../api/store';
import type { CompareSeriesResponse, ListKeysResponse } from '../api/types';
import { keysQuery } from '../job/series_query';
import { useLoad } from '../ui/load';
import type { CompareView } from './compare_view';
import { compareBuckets, longestSpan, runsOf, type Run } from './runs';

const REFRESH_MS = 10_000;
export const VALIDATION = 'val_loss';

// The series columns that the charts and the table use.
const COLUMNS = 'steps,last,mean,min,max,smoothed';

interface Runs {
  runs: Run[] | undefined;
  missing: readonly string[];
  error: RequestError | undefined;
  // A number that changes every 10 s while a run trains.
  tick: number;
}

// Loads the series of all runs in one request. The response reports runs that do not exist; the
// other runs are shown.
export function useRuns(references: readonly string[], view: CompareView): Runs {
  const [trains, setTrains] = useState(false);
  const keys = [...new Set([...view.metrics, VALIDATION])];
  const [span, setSpan] = useState(0);
  // A window of time cannot be requested, because each run's time is counted from its own start.
  // Instead, the whole run is requested with more points.
  const zoom =
    view.axis === 'time' && view.from !== undefined && view.to !== undefined
      ? span / (view.to - view.from)
      : 1;
  const window = view.axis === 'time' ? {} : { from: view.from, to: view.to };
  const tick = trains ? Math.floor(clock.value / REFRESH_MS) : 0;
  const answer = useLoad<CompareSeriesResponse>(
    references.length > 0 ? '/series' : undefined,
    {
      jobs: references.join(','),
      ...keysQuery(keys),
      x: view.axis,
      ...window,
      buckets: compareBuckets(references.length, innerWidth, zoom),
      smooth: view.smooth || undefined,
      fields: view.axis === 'step' ? COLUMNS : `${COLUMNS},x`,
    },
    JSON.stringify([references, view.axis]),
    tick,
  );
  const runs = useMemo(() => answer.data && runsOf(answer.data), [answer.data]);
  useEffect(() => {
    setTrains(runs?.some(({ job }) => !hasEnded(job)) ?? false);
    if (runs && view.axis === 'time') setSpan(longestSpan(runs));
  }, [runs]);
  return { runs, missing: answer.data?.missing ?? [], error: answer.error, tick };
}

// Returns the names of a run's series.
export function useKeysOf(reference: string | undefined): readonly string[] {
  const path = reference && `/jobs/${encodeURIComponent(reference)}/metrics`;
  return useLoad<ListKeysResponse>(path, {}, reference ?? '').data?.keys ?? [];
}
