import { clock } from '../api/store';
import type { GetServerInfoResponse } from '../api/types';
import { useLoad, type Loaded } from './load';

const POLL_INTERVAL_MS = 10_000;

// Polls the problems and warnings of the controller. They are not in the stream.
export function useServerInfo(): Loaded<GetServerInfoResponse> {
  const tick = Math.floor(clock.value / POLL_INTERVAL_MS);
  return useLoad<GetServerInfoResponse>('/server', {}, 'server', tick);
}
