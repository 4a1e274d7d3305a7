// Times of the last heartbeats of nodes, requested in addition to the stream. Pure.
import type { Node } from '../api/types';

type LastHeartbeat = Pick<Node, 'id' | 'last_heartbeat_ms'>;

export function heartbeatTimes(nodes: readonly LastHeartbeat[]): ReadonlyMap<string, number> {
  return new Map(nodes.map((node) => [node.id, node.last_heartbeat_ms]));
}

// The stream may be newer than the response, for a node that has returned in between.
export function newestHeartbeat(
  node: LastHeartbeat,
  asked: ReadonlyMap<string, number>,
): number {
  return Math.max(node.last_heartbeat_ms, asked.get(node.id) ?? 0);
}
