// When nodes were last heard, asked for beside the stream. Pure.
import type { Node } from '../api/types';

type Heard = Pick<Node, 'id' | 'last_heartbeat_ms'>;

export function heartbeatTimes(nodes: readonly Heard[]): ReadonlyMap<string, number> {
  return new Map(nodes.map((node) => [node.id, node.last_heartbeat_ms]));
}

// The stream may be newer than the answer: a node that came back in between.
export function newestHeartbeat(node: Heard, asked: ReadonlyMap<string, number>): number {
  return Math.max(node.last_heartbeat_ms, asked.get(node.id) ?? 0);
}
