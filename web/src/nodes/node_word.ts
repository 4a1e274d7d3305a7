// The state of a node in one word. Pure functions.
import type { Node } from '../api/types';

export type NodeWord = 'ok' | 'cordoned' | 'unhealthy' | 'quarantined' | 'suspect' | 'lost';

// Returns the worst word that applies.
export function wordOf(node: Node): NodeWord {
  if (node.state === 'lost' || node.state === 'suspect') return node.state;
  if (node.health?.quarantine) return 'quarantined';
  if (node.health) return 'unhealthy';
  return node.cordoned ? 'cordoned' : 'ok';
}
