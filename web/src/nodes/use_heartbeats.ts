import { useMemo } from 'preact/hooks';
import { clock } from '../api/store';
import type { ListNodesResponse } from '../api/types';
import { useLoad } from '../ui/load';
import { heartbeatTimes } from './heartbeat_times';

const HEARTBEAT_PACE_MS = 5_000;

// Polls the times of the last heartbeats. The stream sends a node only when its state changes, and
// a heartbeat does not change the state.
export function useHeartbeats(): ReadonlyMap<string, number> {
  const tick = Math.floor(clock.value / HEARTBEAT_PACE_MS);
  const asked = { fields: 'id,last_heartbeat_ms' };
  const { data } = useLoad<ListNodesResponse>('/nodes', asked, 'heartbeats', tick);
  return useMemo(() => heartbeatTimes(data?.nodes ?? []), [data]);
}
