// Loads a job's output page by page, in both directions.
import { useEffect, useRef, useState } from 'preact/hooks';
import { asRequestError, getJson, isAbort, type Query, type RequestError } from '../api/client';
import type { ReadLogPageResponse } from '../api/types';
import { useRetry } from '../ui/retry';
import {
  bufferOf,
  olderCursorOf,
  withNewer,
  withOlder,
  type LineName,
  type LogBuffer,
} from './log_lines';
import { searchQuery, type LogSearch } from './log_search';

const PAGE_LINES = 1_000;

export interface LogFilter extends LogSearch {
  ranks: string;
  attempt: number | undefined;
  // True to begin at the first line, false to begin at the last.
  fromStart: boolean;
}

export interface LogReader {
  buffer: LogBuffer | undefined;
  error: RequestError | undefined;
  busy: boolean;
  loadOlder: () => Promise<number>;
  loadNewer: () => Promise<number>;
  // Restarts at the position that the filter specifies.
  restart: () => void;
  // Restarts at a line, even if the same action also changes the filter.
  goTo: (line: LineName) => void;
}

// Returns the request parameters of a filter.
export const filterQuery = (filter: LogFilter): Query => ({
  ranks: filter.ranks,
  attempt: filter.attempt,
  ...searchQuery(filter),
});

type Read = (
  more: Query,
  signal: AbortSignal,
) => Promise<ReadLogPageResponse>;

// Returns the lines of all chosen ranks around the given line of one rank. Returns undefined if the
// line does not exist or is no longer stored.
async function pageAround(
  jobId: number,
  { rank, attempt, offset }: LineName,
  read: Read,
  signal: AbortSignal,
): Promise<ReadLogPageResponse | undefined> {
  const asked = { ranks: String(rank), attempt, offset, direction: 'newer', limit: 1 };
  try {
    const one = await getJson<ReadLogPageResponse>(`/jobs/${jobId}/logs`, asked, signal);
    // A cursor is a position in the lines of all ranks, even if the request chose one rank.
    const here = one.newer_cursor;
    if (one.lines.length === 0 || here === '') return undefined;
    const [before, after] = await Promise.all([
      read({ direction: 'older', cursor: here }, signal),
      read({ direction: 'newer', cursor: here }, signal),
    ]);
    const pages = [before, one, after];
    return {
      ...after,
      lines: pages.flatMap(({ lines }) => lines),
      levels: pages.flatMap(({ levels }) => levels),
      older_cursor: before.older_cursor,
    };
  } catch (failure) {
    if (asRequestError(failure).status < 400) throw failure;
    return undefined;
  }
}

// `line`: if given, the first request is for the lines around this line, not for the lines at the
// filter's start.
export function useLog(jobId: number, filter: LogFilter, line: LineName | undefined): LogReader {
  const [buffer, setBuffer] = useState<LogBuffer>();
  const [error, setError] = useState<RequestError>();
  const [tries, setTries] = useState(0);
  const busy = useRef(false);
  const held = useRef<LogBuffer>(undefined);
  held.current = buffer;
  const key = JSON.stringify([jobId, filter]);
  const generation = useRef(key);
  generation.current = key;
  const query = { ...filterQuery(filter), limit: PAGE_LINES };
  const begin = useRef(line);
  const read = (more: Query, signal?: AbortSignal) =>
    getJson<ReadLogPageResponse>(`/jobs/${jobId}/logs`, { ...query, ...more }, signal);

  useEffect(() => {
    const abort = new AbortController();
    setBuffer(undefined);
    setError(undefined);
    busy.current = false;
    const first = async () => {
      const linked = begin.current && (await pageAround(jobId, begin.current, read, abort.signal));
      if (linked) return linked;
      return read({ direction: filter.fromStart ? 'newer' : 'older' }, abort.signal);
    };
    first().then(
      (page) => {
        begin.current = undefined;
        setBuffer(bufferOf(page));
      },
      (failure: unknown) => {
        if (!isAbort(failure)) setError(asRequestError(failure));
      },
    );
    return () => abort.abort();
  }, [key, tries]);

  // Loads one page at a time. Returns by how many lines the view has moved.
  const load = async (
    more: Record<string, string>,
    take: (old: LogBuffer, page: ReadLogPageResponse) => { buffer: LogBuffer; moved: number },
  ): Promise<number> => {
    if (busy.current) return 0;
    busy.current = true;
    try {
      const page = await read(more);
      const old = held.current;
      if (!old || generation.current !== key) return 0;
      const { buffer: next, moved } = take(old, page);
      setBuffer(next);
      setError(undefined);
      return moved;
    } catch (failure) {
      setError(asRequestError(failure));
      return 0;
    } finally {
      busy.current = false;
    }
  };

  const loadNewer = (): Promise<number> => {
    const cursor = held.current?.newerCursor;
    if (!cursor || held.current?.complete) return Promise.resolve(0);
    return load({ direction: 'newer', cursor }, (old, page) => {
      const { buffer: next, dropped } = withNewer(old, page);
      return { buffer: next, moved: -dropped };
    });
  };
  useRetry(error, () => {
    if (held.current === undefined) setTries((count) => count + 1);
    // Only the newest page is retried here. The next scroll repeats a failed request for an older
    // page.
    else if (held.current.complete || !held.current.newerCursor) setError(undefined);
    else void loadNewer();
  });

  return {
    buffer,
    error,
    busy: busy.current,
    loadOlder: () => {
      const cursor = held.current && olderCursorOf(held.current);
      if (!cursor) return Promise.resolve(0);
      return load({ direction: 'older', cursor }, (old, page) => ({
        buffer: withOlder(old, page),
        moved: page.lines.length,
      }));
    },
    restart: () => setTries((count) => count + 1),
    goTo: (target) => {
      begin.current = target;
      setTries((count) => count + 1);
    },
    loadNewer,
  };
}
