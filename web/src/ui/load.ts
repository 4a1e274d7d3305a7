// Loads data for views. The current data stays visible while the next request is in flight.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { asRequestError, getJson, postJson, type Query, type RequestError } from '../api/client';
import { useRetry } from './retry';
import { SingleFlight } from './single_flight';

export interface Loaded<T> {
  data: T | undefined;
  error: RequestError | undefined;
  loading: boolean;
  // Milliseconds that the newest request took. Views adapt their refresh interval to this duration.
  durationMs: number;
}

type Ask<T> = (signal: AbortSignal) => Promise<T>;

// `ask`: sends the request; undefined: load nothing. `key`: identifies the request. `identity`:
// when it changes, the data is dropped at once; otherwise the data is kept until the new response
// arrives. `tick`: when it changes, the request is repeated. The repetition follows a request in
// flight, which is not canceled.
function useAnswer<T>(
  ask: Ask<T> | undefined,
  key: string,
  identity: string,
  tick: unknown,
): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { identity: string }>({
    data: undefined,
    error: undefined,
    loading: true,
    durationMs: 0,
    identity,
  });
  const requests = useRef<SingleFlight>(undefined);
  requests.current ??= new SingleFlight();
  const [tries, setTries] = useState(0);
  useRetry(state.error, () => setTries((count) => count + 1));
  const send = (from: Ask<T>, signal: AbortSignal): Promise<void> => {
    const begin = performance.now();
    const settle = (part: Partial<Loaded<T>>) => {
      if (signal.aborted) return;
      setState((old) => ({
        data: old.identity === identity ? old.data : undefined,
        error: undefined,
        loading: false,
        durationMs: performance.now() - begin,
        identity,
        ...part,
      }));
    };
    return from(signal).then(
      (data) => settle({ data }),
      (error: unknown) => settle({ error: asRequestError(error) }),
    );
  };
  // Runs before the paint, so that the first paint can use a prefetched response.
  useLayoutEffect(() => {
    const one = requests.current;
    if (ask === undefined) one?.cancel();
    else one?.ask(`${key} ${identity}`, (signal) => send(ask, signal));
  }, [key, identity, tick, tries]);
  useEffect(() => () => requests.current?.cancel(), []);
  const fits = state.identity === identity;
  return fits ? state : { data: undefined, error: undefined, loading: true, durationMs: 0 };
}

// Loads by GET; nothing if `path` is undefined. See useAnswer for the other parameters.
export function useLoad<T>(
  path: string | undefined,
  query: Query,
  identity: string,
  tick: unknown = 0,
): Loaded<T> {
  const ask = path === undefined ? undefined : (s: AbortSignal) => getJson<T>(path, query, s);
  return useAnswer(ask, JSON.stringify([path, query]), identity, tick);
}

// Loads by POST, for queries that have a body; nothing if `body` is undefined.
export function usePost<T>(path: string, body: object | undefined, identity: string): Loaded<T> {
  const ask = body && ((signal: AbortSignal) => postJson<T>(path, body, signal));
  return useAnswer(ask, JSON.stringify([path, body]), identity, 0);
}
