// The times of the nodes' last heartbeats, which are requested separately because the stream does
// not send them. Pure functions.
import type { Node } from '../api/types';

type LastHeartbeat = Pick<Node, 'id' | 'last_heartbeat_ms'>;

export function heartbeatTimes(nodes: readonly LastHeartbeat[]): ReadonlyMap<string, number> {
  return new Map(nodes.map((node) => [node.id, node.last_heartbeat_ms]));
}

// The stream is newer than the response if a node has returned since the response.
export function newestHeartbeat(
  node: LastHeartbeat,
  asked: ReadonlyMap<string, number>,
): number {
  return Math.max(node.last_heartbeat_ms, asked.get(node.id) ?? 0);
}
