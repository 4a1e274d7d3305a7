// Loads the job that is drawn as a baseline.
import { useMemo } from 'preact/hooks';
import type { RequestError } from '../api/client';
import { hasEnded } from '../api/live';
import { metricsTick } from '../api/store';
import type { GetJobResponse, GetSeriesResponse } from '../api/types';
import type { CurveView } from '../router/url';
import { useLoad } from '../ui/load';
import { useThrottled } from '../ui/throttle';
import { sameStart, type Baseline } from './baseline';
import { baselineQueries, withAxis } from './series_query';

const PACE_MS = 30_000;

export interface LoadedBaseline {
  baseline: Baseline | undefined;
  job: GetJobResponse['job'];
  error: RequestError | undefined;
}

// `own`: the series of the open job, whose first points are the start of the time axis. `sets`: the
// evaluation sets of the open job.
export function useBaseline(
  view: CurveView,
  sets: readonly string[],
  own: GetSeriesResponse | undefined,
): LoadedBaseline {
  const { axis, baseline: reference } = view;
  const path = reference && `/jobs/${encodeURIComponent(reference)}`;
  const identity = `${reference}/${axis}`;
  const found = useLoad<GetJobResponse>(path, {}, identity);
  const paced = useThrottled(metricsTick.value, PACE_MS);
  const ended = found.data?.job && hasEnded(found.data.job);
  const tick = ended ? 0 : paced;
  const asked = baselineQueries(view, sets, innerWidth);
  const series = path && `${path}/series`;
  const wide = useLoad<GetSeriesResponse>(series, asked.wide, identity, tick);
  const narrow = useLoad<GetSeriesResponse>(series, asked.narrow, identity, tick);
  const job = found.data?.job;
  const baseline = useMemo(() => {
    if (!job || !own) return undefined;
    const parts = [wide.data, narrow.data].filter((data) => data !== undefined).map(withAxis);
    const shifted = parts.flatMap((part) => (axis === 'time' ? sameStart(own, part) : part.series));
    return { name: `${job.name} #${job.id}`, series: shifted };
  }, [job, wide.data, narrow.data, axis, own?.attempts[0]?.first_x]);
  return { baseline, job, error: found.error ?? wide.error ?? narrow.error };
}
