// Pages of events, newest first, that grow when asked.
import { useEffect, useState } from 'preact/hooks';
import { asRequestError, getJson, type RequestError } from '../api/client';
import { reconnects } from '../api/store';
import type { EventEntry, ListEventsResponse } from '../api/types';
import { isQuiet } from '../format/event_text';

const PAGE = 200;

export interface EventPages {
  entries: readonly EventEntry[] | undefined;
  error: RequestError | undefined;
  // undefined: there are no older ones.
  loadOlder: (() => void) | undefined;
}

function joined(held: readonly EventEntry[], page: readonly EventEntry[]): EventEntry[] {
  const bySequence = new Map([...held, ...page].map((entry) => [entry.sequence, entry]));
  return [...bySequence.values()].sort((a, b) => b.sequence - a.sequence);
}

// `tick` changes when there may be newer events: the first page is then read again.
export function useEvents(path: string, tick: unknown): EventPages {
  const [held, setHeld] = useState<readonly EventEntry[]>();
  const [cursor, setCursor] = useState<string>();
  const [error, setError] = useState<RequestError>();
  const load = (from?: string) => {
    getJson<ListEventsResponse>(path, { limit: PAGE, cursor: from }).then(
      (page) => {
        setError(undefined);
        setHeld((old) => joined(old ?? [], page.events));
        setCursor((old) => (from === undefined && old !== undefined ? old : page.next_cursor));
      },
      (failure: unknown) => setError(asRequestError(failure)),
    );
  };
  useEffect(() => load(), [path, tick, reconnects.value]);
  return {
    entries: held?.filter((entry) => !isQuiet(entry)),
    error,
    loadOlder: cursor ? () => load(cursor) : undefined,
  };
}
