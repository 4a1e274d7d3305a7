// Finds the nodes that accept no new ranks, and the reasons. Pure functions.
import type { Node } from '../api/types';
import { wordOf, type NodeWord } from '../nodes/node_word';

type NodeProblem = Exclude<NodeWord, 'ok'>;

const WORST_FIRST: readonly NodeProblem[] = [
  'lost',
  'suspect',
  'quarantined',
  'unhealthy',
  'cordoned',
];

function problemOf(node: Node): NodeProblem | undefined {
  const word = wordOf(node);
  return word === 'ok' ? undefined : word;
}

export const hasProblem = (node: Node) => problemOf(node) !== undefined;

// Returns the number of nodes with each problem, worst problem first. Leaves out problems of no
// node.
export function problemCounts(nodes: readonly Node[]): [NodeProblem, number][] {
  return WORST_FIRST.map((word): [NodeProblem, number] => [
    word,
    nodes.filter((node) => problemOf(node) === word).length,
  ]).filter(([, amount]) => amount > 0);
}

// Returns the nodes with problems, worst problem first, then all other nodes in the given order.
export function problemsFirst(nodes: readonly Node[]): Node[] {
  const rank = (node: Node) => {
    const problem = problemOf(node);
    return problem ? WORST_FIRST.indexOf(problem) : WORST_FIRST.length;
  };
  return [...nodes].sort((a, b) => rank(a) - rank(b));
}
