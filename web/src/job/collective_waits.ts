// The collective operations in which a rank waits for the other ranks of its group. Pure functions.
import type { RankStatus } from '../api/types';
import { ago } from '../format/time';

// Returns one text per operation that the rank's device has entered, such as
// "all-reduce 123 of group tp0 (ranks 0-3), entered 12s ago".
export function collectiveWaitTexts(
  { flights }: Pick<RankStatus, 'flights'>,
  nowMs: number,
): string[] {
  return flights
    .filter(({ operation, entered_ms: entered }) => operation !== '' && entered > 0)
    .map(({ operation, sequence, group, ranks, entered_ms: entered }) => {
      const age = ago(entered, nowMs);
      return `${operation} ${sequence} of group ${group} (ranks ${ranks}), entered ${age}`;
    });
}
