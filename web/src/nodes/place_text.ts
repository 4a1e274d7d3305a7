import type { Node } from '../api/types';

// Returns the labels of a node, such as "pool=a, rack=r7". Empty without labels.
export function labelText(node: Node): string {
  return Object.entries(node.labels ?? {})
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(', ');
}

// Returns the groups of the topology that contain the node, such as "spine1/leaf3". Empty if the
// node is in no group.
export function groupText(node: Node): string {
  return (node.groups ?? []).join('/');
}
