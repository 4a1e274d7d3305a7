// The selected jobs of the list. Pure functions.
import type { Job } from '../api/types';

// Maximum number of selected jobs, so that one action never changes thousands of jobs.
export const SELECTED_MAX = 200;

export interface Selection {
  // In the order in which they were selected.
  jobs: ReadonlyMap<number, Job>;
  // The last clicked job. A click with Shift selects the rows from this job to the clicked one.
  anchor: number | undefined;
}

export const NOTHING: Selection = { jobs: new Map(), anchor: undefined };

function withJobs(old: ReadonlyMap<number, Job>, added: readonly Job[]): ReadonlyMap<number, Job> {
  const next = new Map(old);
  for (const job of added) {
    if (next.size >= SELECTED_MAX && !next.has(job.id)) break;
    next.set(job.id, job);
  }
  return next;
}

function withoutJob(old: ReadonlyMap<number, Job>, id: number): ReadonlyMap<number, Job> {
  const next = new Map(old);
  next.delete(id);
  return next;
}

// Returns the rows from the anchor to the job; undefined if the anchor is not in the list.
function rangeOf(rows: readonly Job[], anchor: number | undefined, id: number) {
  const from = rows.findIndex((row) => row.id === anchor);
  const to = rows.findIndex((row) => row.id === id);
  if (from === -1 || to === -1) return undefined;
  return from <= to ? rows.slice(from, to + 1) : rows.slice(to, from + 1).reverse();
}

// Selects the job, or removes it from the selection. `range`: selects all rows from the previously
// clicked job to this job.
export function afterClick(
  { jobs, anchor }: Selection,
  job: Job,
  rows: readonly Job[],
  range: boolean,
): Selection {
  const found = range ? rangeOf(rows, anchor, job.id) : undefined;
  if (found) return { jobs: withJobs(jobs, found), anchor: job.id };
  const next = jobs.has(job.id) ? withoutJob(jobs, job.id) : withJobs(jobs, [job]);
  return { jobs: next, anchor: job.id };
}

// Selects the first jobs of the list.
export const allOf = (rows: readonly Job[]): Selection => ({
  jobs: withJobs(new Map(), rows),
  anchor: undefined,
});

export function withoutDeleted(selection: Selection, deleted: ReadonlySet<number>): Selection {
  const gone = [...selection.jobs.keys()].filter((id) => deleted.has(id));
  if (gone.length === 0) return selection;
  return { ...selection, jobs: gone.reduce(withoutJob, selection.jobs) };
}
