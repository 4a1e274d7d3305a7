import type { Node } from '../api/types';

// Returns a text such as "8 × NVIDIA H200". Devices of the same model are grouped.
export function deviceText(node: Node): string {
  const models = new Map<string, number>();
  for (const { model } of node.inventory?.slots ?? []) {
    models.set(model, (models.get(model) ?? 0) + 1);
  }
  return [...models].map(([model, amount]) => `${amount} × ${model}`).join(', ');
}
