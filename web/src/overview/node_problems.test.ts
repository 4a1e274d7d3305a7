import { expect, it } from 'vitest';
import type { Node } from '../api/types';
import { problemsFirst, problemCounts } from './node_problems';

const node = (name: string, state: Node['state'], cordoned = false) =>
  ({ name, state, cordoned }) as Node;

it('counts a node that is unhealthy and cordoned as unhealthy', () => {
  const health = { reason: 'disk full' };
  const sick = { ...node('a', 'ready'), health } as Node;
  expect(problemCounts([sick, { ...sick, cordoned: true }, node('b', 'ready')])).toEqual([
    ['unhealthy', 2],
  ]);
});

it('tells quarantine from other trouble', () => {
  const health = { reason: 'two failures', quarantine: { reason: 'two failures' } };
  const shut = { ...node('a', 'ready'), health } as Node;
  expect(problemCounts([shut])).toEqual([['quarantined', 1]]);
});

const NODES = [
  node('a', 'ready'),
  node('b', 'ready', true),
  node('c', 'lost'),
  node('d', 'ready'),
  node('e', 'suspect', true),
];

it('counts nodes in trouble, each once, worst first', () => {
  expect(problemCounts(NODES)).toEqual([
    ['lost', 1],
    ['suspect', 1],
    ['cordoned', 1],
  ]);
  expect(problemCounts([node('a', 'ready')])).toEqual([]);
});

it('puts them first and leaves the others in their order', () => {
  expect(problemsFirst(NODES).map(({ name }) => name)).toEqual(['c', 'e', 'b', 'a', 'd']);
});
