// The attempts on a node. Pure functions.
import type { Node, NodeAttempt as AttemptOnNode } from '../api/types';

export interface HeldSlots {
  jobId: number;
  attempt: number;
  // Ranks on the node, ascending.
  ranks: number[];
  // Processes that occupy slots and cannot be killed.
  unkillable: string[];
}

// Returns the attempts in the order of their first slot.
export function attemptsOn({ slot_uses: uses }: Pick<Node, 'slot_uses'>): HeldSlots[] {
  const found = new Map<string, HeldSlots>();
  for (const { job_id: jobId, attempt, rank, unkillable } of uses) {
    if (jobId === 0) continue;
    const key = `${jobId}/${attempt}`;
    const held = found.get(key) ?? { jobId, attempt, ranks: [], unkillable: [] };
    held.ranks.push(rank);
    const isNew = unkillable !== '' && !held.unkillable.includes(unkillable);
    if (isNew) held.unkillable.push(unkillable);
    found.set(key, held);
  }
  for (const { ranks } of found.values()) ranks.sort((a, b) => a - b);
  return [...found.values()];
}

// Returns the attempts that have ended, in the order given.
export const endedAttempts = (attempts: readonly AttemptOnNode[]): AttemptOnNode[] =>
  attempts.filter(({ state }) => state === 'ended');

// Returns a text such as "rank 3", "ranks 8–15" or "ranks 0, 2, 5–7".
export function rankText(ranks: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const rank of ranks) {
    const last = ranges.at(-1);
    if (last && rank === last[1] + 1) last[1] = rank;
    else ranges.push([rank, rank]);
  }
  const text = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}–${to}`)).join(', ');
  return `rank${ranks.length === 1 ? '' : 's'} ${text}`;
}
