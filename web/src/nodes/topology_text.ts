// Texts about the topology of the cluster. Pure functions.
import type { GetTopologyResponse, GroupState } from '../api/types';
import { gigabytes, plural } from '../format/numbers';
import { preciseSeconds } from '../format/time';

export interface GroupRow extends GroupState {
  // Number of groups that contain the group.
  depth: number;
}

// The controller lists each group after the group that contains it.
export function groupRows(groups: readonly GroupState[]): GroupRow[] {
  const depths = new Map<string, number>();
  return groups.map((group) => {
    const depth = (depths.get(group.parent) ?? -1) + 1;
    depths.set(group.name, depth);
    return { ...group, depth };
  });
}

const NAMED_MAX = 10;

function namesText(what: string, names: readonly string[]): string[] {
  if (names.length === 0) return [];
  const more = names.length > NAMED_MAX ? ` and ${names.length - NAMED_MAX} more` : '';
  return [`${what}: ${names.slice(0, NAMED_MAX).join(', ')}${more}.`];
}

// Returns the figures of the levels and the nodes outside of the topology, one sentence each.
export function topologyNotes(topology: GetTopologyResponse): string[] {
  const { groups, level_figures: levels, absent_nodes: absent, other_nodes: other } = topology;
  if (groups.length === 0) return [];
  const figures = levels.flatMap(({ name, gpu_bandwidth: bandwidth, latency_seconds: latency }) => {
    const parts = [];
    if (Number(bandwidth) > 0) parts.push(`${gigabytes(Number(bandwidth))}/s per GPU`);
    if (Number(latency) > 0) parts.push(`${preciseSeconds(Number(latency))} per hop`);
    return parts.length > 0 ? [`Level ${name}: ${parts.join(', ')}.`] : [];
  });
  return [
    ...figures,
    ...namesText('Nodes of the topology that have not joined', absent),
    ...namesText('Nodes in no group', other),
  ];
}

// Returns the sentence that states the result of a change.
export function changedText({ groups, levels }: GetTopologyResponse): string {
  if (groups.length === 0) return 'The cluster has no topology now.';
  const of = levels.length > 0 ? ` of the levels ${levels.join(', ')}` : '';
  return `The topology has ${plural(groups.length, 'group')}${of}.`;
}
