import { expect, it } from 'vitest';
import type { Node } from '../api/types';
import { troubledFirst, troublesOf } from './node_trouble';

const node = (name: string, state: Node['state'], cordoned = false) =>
  ({ name, state, cordoned }) as Node;

it('counts an unhealthy node, unless it is cordoned', () => {
  const health = { reason: 'disk full' };
  const sick = { ...node('a', 'ready'), health } as Node;
  expect(troublesOf([sick, { ...sick, cordoned: true }, node('b', 'ready')])).toEqual([
    ['unhealthy', 1],
    ['cordoned', 1],
  ]);
});

it('tells quarantine from other trouble', () => {
  const health = { reason: 'two failures', quarantine: { reason: 'two failures' } };
  const shut = { ...node('a', 'ready'), health } as Node;
  expect(troublesOf([shut])).toEqual([['quarantined', 1]]);
});

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
