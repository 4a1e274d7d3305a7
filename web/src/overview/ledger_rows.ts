// Converts the report about many jobs to rows of bars. Pure functions.
import type { Cost, GetReportResponse } from '../api/types';
import type { PhasePart } from '../ui/phase_bar';

export interface LedgerRow {
  name: string;
  // 0 unless the row is one job.
  jobId: number;
  jobs: number;
  restarts: number;
  slotSeconds: number;
  gpuSeconds: number;
  // Wall time in the queue, without slots.
  queuedSeconds: number;
  // Slot time that no job used; undefined if unknown.
  idleSeconds: number | undefined;
  // Undefined if the controller has no price.
  cost: Cost | undefined;
  // From 0 to 1; undefined if the user's jobs had no slots.
  goodput: number | undefined;
  // The phases in which slots are used, largest first. The parts add up to 1.
  parts: PhasePart[];
}

type Group = NonNullable<GetReportResponse['total']>;

const numberOf = (value: unknown) => (typeof value === 'number' ? value : 0);

export function rowOf(group: Group): LedgerRow {
  const slots = numberOf(group.slot_seconds);
  const parts = group.phases
    .map(({ phase, slot_seconds: seconds }) => ({ phase, part: numberOf(seconds) / (slots || 1) }))
    .filter(({ part }) => part > 0)
    .sort((a, b) => b.part - a.part);
  const queued = group.phases.find(({ phase }) => phase === 'queued');
  return {
    name: group.name,
    jobId: group.job_id,
    jobs: group.jobs,
    restarts: group.restarts,
    slotSeconds: slots,
    gpuSeconds: numberOf(group.gpu_seconds),
    queuedSeconds: numberOf(queued?.seconds),
    idleSeconds: group.idle_since_ms > 0 ? numberOf(group.idle_slot_seconds) : undefined,
    cost: group.cost,
    goodput: slots > 0 ? numberOf(group.goodput_ratio) : undefined,
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
