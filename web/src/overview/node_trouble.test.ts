import { expect, it } from 'vitest';
import type { Node } from '../api/types';
import { troubledFirst, troublesOf } from './node_trouble';

const node = (name: string, state: Node['state'], cordoned = false) =>
  ({ name, state, cordoned }) as Node;
const NODES = [
  node('a', 'ready'),
  node('b', 'ready', true),
  node('c', 'lost'),
  node('d', 'ready'),
  node('e', 'suspect', true),
];

it('counts nodes in trouble, each once, worst first', () => {
  expect(troublesOf(NODES)).toEqual([
    ['lost', 1],
    ['suspect', 1],
    ['cordoned', 1],
  ]);
  expect(troublesOf([node('a', 'ready')])).toEqual([]);
});

it('puts them first and leaves the others in their order', () => {
  expect(troubledFirst(NODES).map(({ name }) => name)).toEqual(['c', 'e', 'b', 'a', 'd']);
});
