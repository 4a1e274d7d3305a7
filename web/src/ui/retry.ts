// Repeats a view's request after each reconnect and, while its failure is transient, every few
// seconds.
import { useEffect, useRef } from 'preact/hooks';
import type { RequestError } from '../api/client';
import { reconnects } from '../api/store';

const RETRY_MS = 5_000;
const TOO_MANY_REQUESTS = 429;

// True if there was no response, a server error, or too many requests. Other errors would recur.
export function isTransient(error: Pick<RequestError, 'status'>): boolean {
  return error.status === 0 || error.status >= 500 || error.status === TOO_MANY_REQUESTS;
}

export function useRetry(error: RequestError | undefined, again: () => void): void {
  const back = reconnects.value;
  const known = useRef(back);
  const newest = useRef(again);
  newest.current = again;
  useEffect(() => {
    if (known.current === back) return;
    known.current = back;
    newest.current();
  }, [back]);
  useEffect(() => {
    if (!error || !isTransient(error)) return undefined;
    const timer = setInterval(() => {
      // A hidden tab does not retry. The connection is restored when the tab becomes visible.
      if (document.visibilityState !== 'hidden') newest.current();
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, [error]);
}
