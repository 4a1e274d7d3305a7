// Groups the slots of a node into ranges of adjacent slots of the same job. Pure functions.
import type { Node } from '../api/types';

export interface SlotRange {
  // 0: free.
  jobId: number;
  // The range contains the slots from `first` to `first + count - 1`.
  first: number;
  count: number;
  // Rank on the first slot. The ranks of a range are consecutive.
  rank: number;
  // Name of a process that occupies the slots and cannot be killed; empty if there is none.
  unkillable: string;
}

export function slotRangesOf(uses: Node['slot_uses']): SlotRange[] {
  const ranges: SlotRange[] = [];
  uses.forEach(({ job_id: jobId, rank, unkillable }, index) => {
    const last = ranges.at(-1);
    const next = last && (jobId === 0 || rank === last.rank + last.count);
    if (next && last.jobId === jobId && last.unkillable === unkillable) last.count++;
    else ranges.push({ jobId, first: index, count: 1, rank, unkillable });
  });
  return ranges;
}

// Number of slots per row of the map.
export const ROW_SLOTS = 8;

// Splits a range at row boundaries.
export function splitIntoRows({ jobId, first, count, rank, unkillable }: SlotRange): SlotRange[] {
  const rows: SlotRange[] = [];
  for (let at = first; at < first + count; ) {
    const end = Math.min(first + count, (Math.floor(at / ROW_SLOTS) + 1) * ROW_SLOTS);
    rows.push({ jobId, first: at, count: end - at, rank: rank + at - first, unkillable });
    at = end;
  }
  return rows;
}

// Returns a text such as "slot 3: llama #42, rank 11" or "slots 0 to 7: llama #42, ranks 8 to 15",
// followed by the process that cannot be killed, if any.
export function slotRangeText(slots: SlotRange, name: string): string {
  const { jobId, first, count, rank, unkillable } = slots;
  const range = (noun: string, from: number) =>
    count === 1 ? `${noun} ${from}` : `${noun}s ${from} to ${from + count - 1}`;
  if (jobId === 0) return `${range('slot', first)}, free`;
  const held = unkillable === '' ? '' : `; cannot be killed: ${unkillable}`;
  return `${range('slot', first)}: ${name} #${jobId}, ${range('rank', rank)}${held}`;
}
