// Why a node accepts no new ranks. Pure functions.
import type { Node } from '../api/types';
import { duration } from '../format/time';

// Returns when the jobs on a draining node leave.
function leaveText(node: Node, nowMs: number): string {
  const left = Math.round(((node.drain?.deadline_ms ?? 0) - nowMs) / 1000);
  return left > 0 ? `jobs leave within ${duration(left)}` : 'jobs are leaving';
}

// Returns the reason for the node's word; empty if the node is ok. For a suspect node, the age of
// the last heartbeat in the controller's reason is outdated, so the page computes the age.
export function nodeReason(node: Node, heartbeatMs: number, nowMs: number): string {
  switch (node.word) {
    case 'suspect':
      return heartbeatMs > 0
        ? `no heartbeat for ${duration(Math.max(0, Math.round((nowMs - heartbeatMs) / 1000)))}`
        : node.state_reason;
    case 'lost':
      return node.state_reason;
    case 'quarantined':
      return node.health?.quarantine?.reason ?? '';
    case 'unhealthy':
      return node.health?.reason ?? '';
    case 'cordoned':
    case 'drained':
      return node.cordon_reason;
    case 'draining':
      return `${leaveText(node, nowMs)}: ${node.cordon_reason}`;
    default:
      return '';
  }
}
