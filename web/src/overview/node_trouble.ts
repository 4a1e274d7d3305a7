// Nodes that take no ranks, and why. Pure.
import type { Node } from '../api/types';

type Trouble = 'lost' | 'suspect' | 'quarantined' | 'unhealthy' | 'cordoned';

const WORST_FIRST: readonly Trouble[] = [
  'lost',
  'suspect',
  'quarantined',
  'unhealthy',
  'cordoned',
];

function troubleOf(node: Node): Trouble | undefined {
  if (node.state === 'lost' || node.state === 'suspect') return node.state;
  if (node.cordoned) return 'cordoned';
  if (node.health?.quarantine) return 'quarantined';
  return node.health ? 'unhealthy' : undefined;
}

export const inTrouble = (node: Node) => troubleOf(node) !== undefined;

// Number of nodes with each trouble, worst first; zeros are left out.
export function troublesOf(nodes: readonly Node[]): [Trouble, number][] {
  return WORST_FIRST.map((word): [Trouble, number] => [
    word,
    nodes.filter((node) => troubleOf(node) === word).length,
  ]).filter(([, amount]) => amount > 0);
}

// Nodes in trouble first, worst first; all others in the order given.
export function troubledFirst(nodes: readonly Node[]): Node[] {
  const rank = (node: Node) => {
    const trouble = troubleOf(node);
    return trouble ? WORST_FIRST.indexOf(trouble) : WORST_FIRST.length;
  };
  return [...nodes].sort((a, b) => rank(a) - rank(b));
}
