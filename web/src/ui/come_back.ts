// Repeats the request of a view: whenever the connection to the controller is back, and every few
// seconds while the last response was a failure that may pass.
import { useEffect, useRef } from 'preact/hooks';
import type { RequestError } from '../api/client';
import { reconnects } from '../api/store';

const RETRY_MS = 5_000;
const TOO_MANY_REQUESTS = 429;

// True for failures that may pass: no response, an error of the server, or too many requests. Other
// requests would be refused again.
export function mayPass(error: Pick<RequestError, 'status'>): boolean {
  return error.status === 0 || error.status >= 500 || error.status === TOO_MANY_REQUESTS;
}

export function useComeBack(error: RequestError | undefined, again: () => void): void {
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
    if (!error || !mayPass(error)) return undefined;
    const timer = setInterval(() => {
      // A tab that comes into view connects anew.
      if (document.visibilityState !== 'hidden') newest.current();
    }, RETRY_MS);
    return () => clearInterval(timer);
  }, [error]);
}
