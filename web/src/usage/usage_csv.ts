// The report as a CSV file (RFC 4180). Pure functions.
import type { GetReportResponse, LedgerPhase } from '../api/types';
import type { UsageGroup } from './usage_view';

type Group = NonNullable<GetReportResponse['total']>;

const HOUR_SECONDS = 3600;

// A spreadsheet treats a text as a formula if it begins with one of these characters. Users choose
// the names, so such names get an apostrophe.
const FORMULA = /^[=+\-@\t\r]/;

function textCell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

const numberCell = (value: unknown) => (typeof value === 'number' ? String(value) : '');
const hoursCell = (seconds: unknown) =>
  typeof seconds === 'number' ? (seconds / HOUR_SECONDS).toFixed(4) : '';

function phasesIn(groups: readonly Group[]): LedgerPhase[] {
  return [...new Set(groups.flatMap(({ phases }) => phases.map(({ phase }) => phase)))].filter(
    (phase) => phase !== 'queued' && phase !== 'paused',
  );
}

function cellsOf(group: Group, phases: readonly LedgerPhase[], hasCost: boolean): string[] {
  const find = (name: LedgerPhase) => group.phases.find(({ phase }) => phase === name);
  return [
    textCell(group.name),
    group.job_id > 0 ? String(group.job_id) : '',
    String(group.jobs),
    String(group.restarts),
    hoursCell(find('queued')?.seconds ?? 0),
    hoursCell(group.slot_seconds),
    hoursCell(group.gpu_seconds),
    ...(hasCost ? [numberCell(group.cost?.amount), textCell(group.cost?.currency ?? '')] : []),
    ...phases.map((phase) => hoursCell(find(phase)?.slot_seconds ?? 0)),
  ];
}

// Returns one row per group, and one row for all groups beyond the limit. Phases are slot-hours.
export function usageCsv(report: GetReportResponse, by: UsageGroup): string {
  const groups = report.rest ? [...report.groups, report.rest] : report.groups;
  const hasCost = report.total?.cost !== undefined;
  const phases = phasesIn(groups);
  const head = [
    by,
    'job_id',
    'jobs',
    'restarts',
    'queued_hours',
    'slot_hours',
    'gpu_hours',
    ...(hasCost ? ['cost', 'currency'] : []),
    ...phases.map((phase) => `${phase}_slot_hours`),
  ];
  const rows = groups.map((group) => cellsOf(group, phases, hasCost));
  return [head, ...rows].map((cells) => `${cells.join(',')}\r\n`).join('');
}
