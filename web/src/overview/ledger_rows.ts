// Converts the report about many jobs to rows of bars. Pure functions.
import type { GetReportResponse, LedgerPhase } from '../api/types';

export interface LedgerRow {
  name: string;
  slotSeconds: number;
  // From 0 to 1; undefined if the user's jobs had no slots.
  goodput: number | undefined;
  effective: number | undefined;
  // The phases in which slots are used, largest first. The parts add up to 1.
  parts: { phase: LedgerPhase; part: number }[];
}

type Group = NonNullable<GetReportResponse['total']>;

const numberOf = (value: unknown) => (typeof value === 'number' ? value : 0);

function rowOf(group: Group): LedgerRow {
  const slots = numberOf(group.slot_seconds);
  const parts = group.phases
    .map(({ phase, slot_seconds: seconds }) => ({ phase, part: numberOf(seconds) / (slots || 1) }))
    .filter(({ part }) => part > 0)
    .sort((a, b) => b.part - a.part);
  const ratio = (value: unknown) => (slots > 0 ? numberOf(value) : undefined);
  return {
    name: group.name,
    slotSeconds: slots,
    goodput: ratio(group.goodput_ratio),
    effective: ratio(group.effective_ratio),
    parts,
  };
}

// Returns one row for each of the largest groups, one for all other groups and, if there are
// several rows, one for the total.
export function ledgerRows(report: GetReportResponse): LedgerRow[] {
  const groups = report.rest ? [...report.groups, report.rest] : report.groups;
  const rows = groups.map(rowOf);
  return rows.length > 1 && report.total ? [...rows, rowOf(report.total)] : rows;
}
