import { expect, test } from 'vitest';
import type { Node } from '../api/types';
import { groupText, labelText } from './place_text';

const nodeWith = (change: Partial<Node>) => change as Node;

test('labels are sorted by name', () => {
  expect(labelText(nodeWith({ labels: { rack: 'r7', pool: 'a' } }))).toBe('pool=a, rack=r7');
  expect(labelText(nodeWith({ labels: {} }))).toBe('');
  expect(labelText(nodeWith({}))).toBe('');
});

test('groups are joined from the largest', () => {
  expect(groupText(nodeWith({ groups: ['spine1', 'leaf3'] }))).toBe('spine1/leaf3');
  expect(groupText(nodeWith({}))).toBe('');
});
