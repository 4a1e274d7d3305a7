// Loads pages of events, newest first. Older pages are loaded on request.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { asRequestError, getJson, type RequestError } from '../api/client';
import type { EventEntry, ListEventsResponse } from '../api/types';
import { useRetry } from '../ui/retry';
import { useThrottled } from '../ui/throttle';
import { foldEvents, withFirstPage, withPage, type EventLine } from './fold_events';

const PAGE = 200;
// Size of further pages, if the first page folds into few lines. PAGES_PER_LOAD and LINES_PER_LOAD
// limit one call of loadOlder.
const MORE = 1_000;
const PAGES_PER_LOAD = 10;
const LINES_PER_LOAD = 50;
// Minimum time between two requests, because a starting gang causes events for several seconds.
const PACE_MS = 1_000;

export interface EventPages {
  lines: readonly EventLine[] | undefined;
  error: RequestError | undefined;
  // undefined if all events are loaded.
  loadOlder: (() => void) | undefined;
}

interface Held {
  path: string;
  entries: readonly EventEntry[];
  // Cursor of the next older events; empty if there are none.
  cursor: string;
}

// `from`: the cursor of the request; undefined for the first page.
function heldAfter(
  old: Held | undefined,
  page: ListEventsResponse,
  path: string,
  from: string | undefined,
): Held {
  const { events, next_cursor: cursor } = page;
  if (!old || old.path !== path) return { path, entries: events, cursor };
  if (from === undefined) {
    const { entries, gap } = withFirstPage(old.entries, events);
    return { path, entries, cursor: gap ? cursor : old.cursor };
  }
  // Ignores a page requested with an outdated cursor, because such a page would leave a gap.
  if (from !== old.cursor) return old;
  return { path, entries: withPage(old.entries, events), cursor };
}

// A change of `tick` means that there may be newer events. The first page is requested again. Lines
// for which `keep` is false are left out, and do not count as loaded.
export function useEvents(
  path: string,
  tick: unknown,
  keep: (line: EventLine) => boolean,
): EventPages {
  const [state, setState] = useState<Held>();
  const [error, setError] = useState<RequestError>();
  const [target, setTarget] = useState({ number: 0, lines: LINES_PER_LOAD, pages: PAGES_PER_LOAD });
  const newest = useRef(path);
  newest.current = path;
  const held = state?.path === path ? state : undefined;
  const folded = useMemo(() => held && foldEvents(held.entries), [held]);
  const lines = useMemo(() => folded?.filter(keep), [folded, keep]);
  const load = (from?: string) => {
    const limit = from === undefined ? PAGE : MORE;
    getJson<ListEventsResponse>(path, { limit, cursor: from }).then(
      (page) => {
        if (newest.current !== path) return;
        setError(undefined);
        setState((old) => heldAfter(old, page, path, from));
      },
      (failure: unknown) => newest.current === path && setError(asRequestError(failure)),
    );
  };
  const passed = useThrottled(tick, PACE_MS);
  useEffect(() => load(), [path, passed]);
  useRetry(error, () => load());
  useEffect(() => {
    if (!held?.cursor || !lines || lines.length >= target.lines || target.pages === 0) return;
    setTarget({ ...target, pages: target.pages - 1 });
    load(held.cursor);
  }, [held?.cursor, target.number]);
  const more = (lines?.length ?? 0) + LINES_PER_LOAD;
  const loadOlder = () =>
    setTarget({ number: target.number + 1, lines: more, pages: PAGES_PER_LOAD });
  return { lines, error, loadOlder: held?.cursor ? loadOlder : undefined };
}
