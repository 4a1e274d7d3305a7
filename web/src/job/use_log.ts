// Reads a job's output page by page, in both directions.
import { useEffect, useRef, useState } from 'preact/hooks';
import { asRequestError, getJson, isAbort, type RequestError } from '../api/client';
import { reconnects } from '../api/store';
import type { ReadLogPageResponse } from '../api/types';
import { firstStretch, olderCursorOf, withNewer, withOlder, type LogStretch } from './log_lines';

const PAGE_LINES = 1_000;

export interface LogFilter {
  ranks: string;
  attempt: number | undefined;
  grep: string;
  // Begin at the first line instead of the last.
  fromStart: boolean;
}

export interface LogReader {
  stretch: LogStretch | undefined;
  error: RequestError | undefined;
  busy: boolean;
  loadOlder: () => Promise<number>;
  loadNewer: () => Promise<number>;
}

export function useLog(jobId: number, filter: LogFilter): LogReader {
  const [stretch, setStretch] = useState<LogStretch>();
  const [error, setError] = useState<RequestError>();
  const [tries, setTries] = useState(0);
  const busy = useRef(false);
  const held = useRef<LogStretch>(undefined);
  held.current = stretch;
  const key = JSON.stringify([jobId, filter]);
  const generation = useRef(key);
  generation.current = key;
  const query = {
    ranks: filter.ranks,
    attempt: filter.attempt,
    grep: filter.grep,
    limit: PAGE_LINES,
  };
  const read = (more: Record<string, string>, signal?: AbortSignal) =>
    getJson<ReadLogPageResponse>(`/jobs/${jobId}/logs`, { ...query, ...more }, signal);

  useEffect(() => {
    const abort = new AbortController();
    setStretch(undefined);
    setError(undefined);
    busy.current = false;
    read({ direction: filter.fromStart ? 'newer' : 'older' }, abort.signal).then(
      (page) => setStretch(firstStretch(page)),
      (failure: unknown) => {
        if (!isAbort(failure)) setError(asRequestError(failure));
      },
    );
    return () => abort.abort();
  }, [key, tries]);

  const back = reconnects.value;
  useEffect(() => {
    if (held.current === undefined && error) setTries((count) => count + 1);
  }, [back]);

  // One page at a time. Returns how many lines the view moved by.
  const load = async (
    more: Record<string, string>,
    take: (old: LogStretch, page: ReadLogPageResponse) => { stretch: LogStretch; moved: number },
  ): Promise<number> => {
    if (busy.current) return 0;
    busy.current = true;
    try {
      const page = await read(more);
      const old = held.current;
      if (!old || generation.current !== key) return 0;
      const { stretch: next, moved } = take(old, page);
      setStretch(next);
      setError(undefined);
      return moved;
    } catch (failure) {
      setError(asRequestError(failure));
      return 0;
    } finally {
      busy.current = false;
    }
  };

  return {
    stretch,
    error,
    busy: busy.current,
    loadOlder: () => {
      const cursor = held.current && olderCursorOf(held.current);
      if (!cursor) return Promise.resolve(0);
      return load({ direction: 'older', cursor }, (old, page) => ({
        stretch: withOlder(old, page),
        moved: page.lines.length,
      }));
    },
    loadNewer: () => {
      const cursor = held.current?.newerCursor;
      if (!cursor || held.current?.complete) return Promise.resolve(0);
      return load({ direction: 'newer', cursor }, (old, page) => {
        const { stretch: next, dropped } = withNewer(old, page);
        return { stretch: next, moved: -dropped };
      });
    },
  };
}
