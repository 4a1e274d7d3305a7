// Loading for views: keeps what it has while the next answer is on its way.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { reconnects } from '../api/store';
import { asRequestError, getJson, isAbort, type Query, type RequestError } from '../api/client';

export interface Loaded<T> {
  data: T | undefined;
  error: RequestError | undefined;
  loading: boolean;
  // How long the newest answer took, for those who ask again and again.
  tookMs: number;
}

// `path` undefined loads nothing. What was loaded under another `identity` is not shown any more;
// under the same one it stays until the new answer is there.
export function useLoad<T>(
  path: string | undefined,
  query: Query,
  identity: string,
  tick: unknown = 0,
): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { identity: string }>({
    data: undefined,
    error: undefined,
    loading: true,
    tookMs: 0,
    identity,
  });
  const newest = useRef(0);
  const [tries, setTries] = useState(0);
  const back = reconnects.value;
  useEffect(() => {
    if (state.error) setTries((count) => count + 1);
  }, [back]);
  const key = JSON.stringify([path, query]);
  // Not after the paint: an answer that was asked for early is taken at once.
  useLayoutEffect(() => {
    if (path === undefined) return undefined;
    const abort = new AbortController();
    const mine = ++newest.current;
    const begin = performance.now();
    const settle = (part: Partial<Loaded<T>>) => {
      if (mine !== newest.current) return;
      const tookMs = performance.now() - begin;
      setState((old) => ({
        data: old.identity === identity ? old.data : undefined,
        error: undefined,
        loading: false,
        tookMs,
        identity,
        ...part,
      }));
    };
    getJson<T>(path, query, abort.signal).then(
      (data) => settle({ data }),
      (error: unknown) => {
        if (!isAbort(error)) settle({ error: asRequestError(error) });
      },
    );
    return () => abort.abort();
  }, [key, identity, tick, tries]);
  const fits = state.identity === identity;
  return fits ? state : { data: undefined, error: undefined, loading: true, tookMs: 0 };
}
