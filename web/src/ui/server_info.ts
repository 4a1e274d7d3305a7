import { clock } from '../api/store';
import type { GetServerInfoResponse } from '../api/types';
import { useLoad, type Loaded } from './load';

const POLL_INTERVAL_MS = 10_000;

// The newest response. A page that is opened later shows it at once.
let newest: GetServerInfoResponse | undefined;

// Polls the problems and warnings of the controller, which are not in the stream. `loading` is true
// only before the first response.
export function useServerInfo(): Pick<Loaded<GetServerInfoResponse>, 'data' | 'loading'> {
  const tick = Math.floor(clock.value / POLL_INTERVAL_MS);
  const { data, loading } = useLoad<GetServerInfoResponse>('/server', {}, 'server', tick);
  newest = data ?? newest;
  return { data: newest, loading: loading && !newest };
}
