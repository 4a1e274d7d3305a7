// The numbers of a plan, with the order and names that the page uses. Pure functions.
import type { PlanLayoutResponse, PlannedMemory, PlannedStep } from '../api/types';
import { STEP_PARTS } from '../job/step_parts';

export interface Part {
  name: string;
  value: number;
}

const MEMORY_PARTS: readonly (readonly [keyof PlannedMemory, string])[] = [
  ['weights_bytes', 'Weights'],
  ['gradients_bytes', 'Gradients'],
  ['moments_bytes', 'Moments'],
  ['activations_bytes', 'Saved activations'],
  ['dispatch_bytes', 'Expert inputs'],
  ['working_bytes', 'Working memory'],
  ['overhead_bytes', 'CUDA and libraries'],
];

export const memoryParts = (memory: PlannedMemory): Part[] =>
  MEMORY_PARTS.map(([key, name]) => ({ name, value: memory[key] })).filter(
    ({ value }) => value > 0,
  );

// Returns the parts of a step, with the same names as on the page of a running job.
export function stepParts(step: PlannedStep): Part[] {
  const values = step as unknown as Record<string, number | undefined>;
  return STEP_PARTS.map(({ key, name }) => ({ name, value: values[key] ?? 0 })).filter(
    ({ value }) => value > 0,
  );
}

// Returns the lowest and highest cost in dollars; undefined if no price is known.
export function costRange({ costs }: PlanLayoutResponse): [number, number] | undefined {
  if (costs.length === 0) return undefined;
  const all = costs.flatMap(({ dollars }) => dollars as number[]);
  return [Math.min(...all), Math.max(...all)];
}

export interface PlannedRank {
  rank: number;
  // Counted from 0, like ranks.
  node: number;
  slot: number;
  stage: number;
  // Such as "tp 1 · cp 0 · dp 3 · pp 2".
  coordinates: string;
}

export function rankOf(plan: PlanLayoutResponse, rank: number): PlannedRank {
  const perNode = plan.cluster?.per_node ?? 1;
  const at = plan.rank_axes.map(({ name, size, stride }) => ({
    name,
    index: Math.floor(rank / stride) % size,
  }));
  return {
    rank,
    node: Math.floor(rank / perNode),
    slot: rank % perNode,
    stage: at.find(({ name }) => name === 'pp')?.index ?? 0,
    coordinates: at.map(({ name, index }) => `${name} ${index}`).join(' · '),
  };
}

// Returns the ranks of each node, in order.
export function ranksByNode(plan: PlanLayoutResponse): { name: string; ranks: PlannedRank[] }[] {
  const { nodes = 0, per_node: perNode = 0 } = plan.cluster ?? {};
  return Array.from({ length: nodes }, (_, node) => ({
    name: `node ${node + 1}`,
    ranks: Array.from({ length: perNode }, (_unused, slot) => rankOf(plan, node * perNode + slot)),
  }));
}
