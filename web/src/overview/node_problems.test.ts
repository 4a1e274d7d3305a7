import { expect, it } from 'vitest';
import type { Node, NodeWord } from '../api/types';
import { hasProblem, problemsFirst, problemCounts } from './node_problems';

const node = (name: string, word: NodeWord) => ({ name, word }) as Node;

const NODES = [
  node('a', 'ok'),
  node('b', 'cordoned'),
  node('c', 'lost'),
  node('d', 'ok'),
  node('e', 'suspect'),
  node('f', 'cordoned'),
  node('g', 'quarantined'),
  node('h', 'unhealthy'),
];

it('counts nodes by their word, worst first', () => {
  expect(problemCounts(NODES)).toEqual([
    ['lost', 1],
    ['suspect', 1],
    ['quarantined', 1],
    ['unhealthy', 1],
    ['cordoned', 2],
  ]);
  expect(problemCounts([node('a', 'ok')])).toEqual([]);
});

it('puts them first and leaves the others in their order', () => {
  const names = problemsFirst(NODES).map(({ name }) => name);
  expect(names).toEqual(['c', 'e', 'g', 'h', 'b', 'f', 'a', 'd']);
});

it('takes a word that a newer controller may send for no problem', () => {
  expect(hasProblem(node('a', 'resting' as NodeWord))).toBe(false);
  expect(hasProblem(node('a', 'unspecified'))).toBe(false);
});
