// Pure functions about the names of nodes.
import type { Node } from '../api/types';

// Names that share this many first characters look the same in a small tile.
const SHARED_PREFIX = 6;

// True if most names begin alike, so that only their ends distinguish them.
export function areAlike(nodes: readonly Pick<Node, 'name'>[]): boolean {
  const amounts = new Map<string, number>();
  for (const { name } of nodes) {
    if (name.length <= SHARED_PREFIX) continue;
    const prefix = name.slice(0, SHARED_PREFIX);
    amounts.set(prefix, (amounts.get(prefix) ?? 0) + 1);
  }
  return Math.max(0, ...amounts.values()) > nodes.length / 2;
}
