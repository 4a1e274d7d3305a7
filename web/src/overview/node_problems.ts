// Finds the nodes that accept no new ranks, and the reasons. Pure functions.
import type { Node, NodeWord } from '../api/types';

type NodeProblem = Exclude<NodeWord, 'unspecified' | 'ok'>;

const WORST_FIRST: readonly NodeProblem[] = [
  'lost',
  'suspect',
  'quarantined',
  'unhealthy',
  'draining',
  'drained',
  'cordoned',
];

const isProblem = (word: NodeWord): word is NodeProblem =>
  WORST_FIRST.includes(word as NodeProblem);

export const hasProblem = ({ word }: Node) => isProblem(word);

// Returns the number of nodes with each problem, worst problem first. Leaves out problems of no
// node.
export function problemCounts(nodes: readonly Node[]): [NodeProblem, number][] {
  return WORST_FIRST.map((word): [NodeProblem, number] => [
    word,
    nodes.filter((node) => node.word === word).length,
  ]).filter(([, amount]) => amount > 0);
}

// Returns the nodes with problems, worst problem first, then all other nodes in the given order.
export function problemsFirst(nodes: readonly Node[]): Node[] {
  const rank = ({ word }: Node) =>
    isProblem(word) ? WORST_FIRST.indexOf(word) : WORST_FIRST.length;
  return [...nodes].sort((a, b) => rank(a) - rank(b));
}
