// Loads rarely needed code on first use.
import { useEffect, useState } from 'preact/hooks';
import { asRequestError, type RequestError } from '../api/client';
import { useRetry } from './retry';

export interface Deferred<T> {
  code: T | undefined;
  error: RequestError | undefined;
}

// `wanted`: false until the code is needed. `load` must not change. After a failure, the code is
// requested again when the controller is reachable.
export function useDeferred<T>(load: () => Promise<T>, wanted: boolean): Deferred<T> {
  const [state, setState] = useState<Deferred<T>>({ code: undefined, error: undefined });
  const begin = () => {
    load().then(
      (code) => setState({ code, error: undefined }),
      (failure: unknown) => setState({ code: undefined, error: asRequestError(failure) }),
    );
  };
  useEffect(() => {
    if (wanted && state.code === undefined) begin();
  }, [wanted]);
  useRetry(state.error, begin);
  return state;
}
