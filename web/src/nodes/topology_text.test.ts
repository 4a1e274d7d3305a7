import { describe, expect, it } from 'vitest';
import type { GetTopologyResponse } from '../api/types';
import { changedText, groupRows, topologyNotes } from './topology_text';

const COUNTS = { nodes: 2, open_nodes: 2, idle_nodes: 1 };
const GROUPS = [
  { name: 'spine1', level: 'spine', parent: '', ...COUNTS },
  { name: 'leaf1', level: 'leaf', parent: 'spine1', ...COUNTS },
  { name: 'leaf9', level: 'leaf', parent: '', ...COUNTS },
];

function topology(part: Partial<GetTopologyResponse>): GetTopologyResponse {
  return {
    levels: ['spine', 'leaf'],
    groups: GROUPS,
    level_figures: [],
    absent_nodes: [],
    other_nodes: [],
    revision: 1,
    as_of_ms: 1,
    ...part,
  };
}

describe('groupRows', () => {
  it('counts the groups above each group', () => {
    expect(groupRows(GROUPS).map(({ depth }) => depth)).toEqual([0, 1, 0]);
  });
});

describe('topologyNotes', () => {
  it('states figures of levels and nodes outside of the topology', () => {
    const names = Array.from({ length: 12 }, (_, index) => `n${index}`);
    const notes = topologyNotes(
      topology({
        level_figures: [
          { name: 'spine', gpu_bandwidth: 0, latency_seconds: 0 },
          { name: 'leaf', gpu_bandwidth: 50e9, latency_seconds: 0.002 },
        ],
        absent_nodes: ['gpu07'],
        other_nodes: names,
      }),
    );
    expect(notes).toEqual([
      'Level leaf: 50.0 GB/s per GPU, 2.0 ms per hop.',
      'Nodes of the topology that have not joined: gpu07.',
      'Nodes in no group: n0, n1, n2, n3, n4, n5, n6, n7, n8, n9 and 2 more.',
    ]);
  });
  it('has no notes without a topology', () => {
    expect(topologyNotes(topology({ groups: [], other_nodes: ['a'] }))).toEqual([]);
  });
});

describe('changedText', () => {
  it('states the groups and the levels', () => {
    expect(changedText(topology({}))).toBe('The topology has 3 groups of the levels spine, leaf.');
    expect(changedText(topology({ groups: [] }))).toBe('The cluster has no topology now.');
  });
});
