// Loading for views: keeps what it has while the next answer is on its way.
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { asRequestError, getJson, postJson, type Query, type RequestError } from '../api/client';
import { useComeBack } from './come_back';
import { OneRequest } from './one_request';

export interface Loaded<T> {
  data: T | undefined;
  error: RequestError | undefined;
  loading: boolean;
  // Milliseconds that the newest response took, for views that adapt their pace to it.
  tookMs: number;
}

type Ask<T> = (signal: AbortSignal) => Promise<T>;

// `ask` undefined loads nothing; `key` says what it asks for. What was loaded under another
// `identity` is not shown any more; under the same one it stays until the new answer is there.
// `tick` asks again; a request that is still on its way then is not called off, but followed by
// another.
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
    tookMs: 0,
    identity,
  });
  const requests = useRef<OneRequest>(undefined);
  requests.current ??= new OneRequest();
  const [tries, setTries] = useState(0);
  useComeBack(state.error, () => setTries((count) => count + 1));
  const send = (from: Ask<T>, signal: AbortSignal): Promise<void> => {
    const begin = performance.now();
    const settle = (part: Partial<Loaded<T>>) => {
      if (signal.aborted) return;
      setState((old) => ({
        data: old.identity === identity ? old.data : undefined,
        error: undefined,
        loading: false,
        tookMs: performance.now() - begin,
        identity,
        ...part,
      }));
    };
    return from(signal).then(
      (data) => settle({ data }),
      (error: unknown) => settle({ error: asRequestError(error) }),
    );
  };
  // Not after the paint: an answer that was asked for early is taken at once.
  useLayoutEffect(() => {
    const one = requests.current;
    if (ask === undefined) one?.callOff();
    else one?.ask(`${key} ${identity}`, (signal) => send(ask, signal));
  }, [key, identity, tick, tries]);
  useEffect(() => () => requests.current?.callOff(), []);
  const fits = state.identity === identity;
  return fits ? state : { data: undefined, error: undefined, loading: true, tookMs: 0 };
}

// Loads by GET; `path` undefined loads nothing. For the others see useAnswer.
export function useLoad<T>(
  path: string | undefined,
  query: Query,
  identity: string,
  tick: unknown = 0,
): Loaded<T> {
  const ask = path === undefined ? undefined : (s: AbortSignal) => getJson<T>(path, query, s);
  return useAnswer(ask, JSON.stringify([path, query]), identity, tick);
}

// A question that needs a body and changes nothing; `body` undefined asks nothing.
export function usePost<T>(path: string, body: object | undefined, identity: string): Loaded<T> {
  const ask = body && ((signal: AbortSignal) => postJson<T>(path, body, signal));
  return useAnswer(ask, JSON.stringify([path, body]), identity, 0);
}
