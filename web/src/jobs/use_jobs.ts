// Loads the list of jobs page by page, and merges it with the stream.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { asRequestError, getJson, type RequestError } from '../api/client';
import { live } from '../api/store';
import type { Job, ListJobsResponse } from '../api/types';
import { useRetry } from '../ui/retry';
import { SingleFlight } from '../ui/single_flight';
import { useThrottled } from '../ui/throttle';
import {
  joined,
  listTick,
  refreshLimit,
  refreshed,
  sickFirst,
  stillMatching,
  type JobFilter,
} from './job_pages';

const PAGE = 200;
// Minimum time between two requests of the list while jobs change.
const PACE_MS = 2_000;

interface Pages {
  jobs: readonly Job[] | undefined;
  total: number;
  error: RequestError | undefined;
  loadMore: () => void;
}

// Returns the job's data from the stream, which is newer than the list.
export const fresh = (job: Job): Job => live.value.jobs?.get(job.id) ?? job;

interface Held {
  key: string;
  jobs: readonly Job[];
  total: number;
  cursor: string;
}

export const queryOf = ({ states, order, reverse, text }: JobFilter) => ({
  states: states.join(','),
  order: order === 'health' ? undefined : order,
  reverse: reverse || undefined,
  text,
});

export function useJobs(filter: JobFilter): Pages {
  const [held, setHeld] = useState<Held>();
  const [error, setError] = useState<RequestError>();
  const requests = useRef<SingleFlight>(undefined);
  requests.current ??= new SingleFlight();
  const key = JSON.stringify(filter);
  const { jobs: known, deleted } = live.value;
  const tick = useThrottled(
    useMemo(() => listTick(known?.values() ?? [], deleted.size, filter), [known, deleted, key]),
    PACE_MS,
  );
  const newest = useRef(held);
  newest.current = held;
  // True if the user reached the end of the list during a refresh.
  const wantsMore = useRef(false);
  // Sends one request at a time. Discards a response if the filter has changed since the request.
  const load = async (from: string, signal: AbortSignal) => {
    const now = newest.current?.key === key ? newest.current : undefined;
    const limit = from === '' ? refreshLimit(now?.jobs.length ?? 0, filter) : PAGE;
    const request = { ...queryOf(filter), limit, cursor: from };
    try {
      const page = await getJson<ListJobsResponse>('/jobs', request, signal);
      if (signal.aborted) return;
      setError(undefined);
      const next = heldAfter(now, { key, limit, from, page });
      setHeld(next);
      if (wantsMore.current && from === '' && next.cursor !== '') loadFrom(next.cursor);
      wantsMore.current = false;
    } catch (failure) {
      if (!signal.aborted) setError(asRequestError(failure));
    }
  };
  const loadFrom = (cursor: string) =>
    requests.current?.ask(key, (signal) => load(cursor, signal));
  const loadFirst = () => loadFrom('');
  useEffect(() => {
    loadFirst();
  }, [key, tick]);
  useRetry(error, loadFirst);
  useEffect(() => () => requests.current?.cancel(), []);
  const matching = held && stillMatching(held.jobs, filter, { deleted, fresh });
  const shown = matching && sickFirst(matching, known?.values() ?? [], filter);
  return {
    jobs: shown,
    total: held?.total ?? 0,
    error,
    loadMore: () => {
      const { current: now } = newest;
      if (!now?.cursor || now.key !== key) return;
      if (requests.current?.busy) wantsMore.current = true;
      else loadFrom(now.cursor);
    },
  };
}

interface Arrived {
  key: string;
  limit: number;
  from: string;
  page: ListJobsResponse;
}

function heldAfter(now: Held | undefined, { key, limit, from, page }: Arrived): Held {
  const { total, next_cursor: cursor } = page;
  if (!now) return { key, total, cursor, jobs: page.jobs };
  if (from !== '') return { key, total, cursor, jobs: joined(now.jobs, page.jobs) };
  const { jobs, whole } = refreshed(now.jobs, page.jobs, limit);
  return { key, total, jobs, cursor: whole ? cursor : now.cursor };
}
