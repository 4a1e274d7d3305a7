// The list of jobs. It is loaded page by page, while the jobs in it change. Pure functions.
import type { Job, JobOrder, JobState } from '../api/types';

export const STATES: readonly JobState[] = [
  'queued',
  'starting',
  'running',
  'recovering',
  'stopping',
  'pausing',
  'paused',
  'held',
  'succeeded',
  'failed',
  'stopped',
];
// Number of jobs on the first page. They fill a tall window, so that the list is shown at once.
export const FIRST_PAGE = 60;
// Maximum number of jobs that the controller returns in one page.
const LIMIT_MAX = 1_000;
const ORDERS: readonly JobOrder[] = ['newest', 'name', 'user', 'state', 'progress', 'ended'];

export interface JobFilter {
  states: readonly JobState[];
  order: JobOrder;
  reverse: boolean;
  text: string | undefined;
}

// Reads the filter in an address. Invalid values are ignored.
export function filterIn(query: URLSearchParams): JobFilter {
  const asked = (query.get('states') ?? '').split(',');
  return {
    states: STATES.filter((state) => asked.includes(state)),
    order: ORDERS.find((name) => name === query.get('sort')) ?? 'newest',
    reverse: query.get('reverse') === '1',
    text: query.get('q') || undefined,
  };
}

// Returns a text that changes when the list may have changed: after a new job, after a deletion,
// and after a change of a state or step on which the filter or the order depends. The text filter
// does not matter, because it matches only fields that never change.
export function listTick(
  jobs: Iterable<Job>,
  deleted: number,
  { states, order }: JobFilter,
): string {
  const looksAtState = states.length > 0 || order === 'state' || order === 'ended';
  let newest = 0;
  const words: string[] = [];
  for (const job of jobs) {
    newest = Math.max(newest, job.id);
    if (looksAtState) words.push(`${job.id}${job.state}`);
    if (order === 'progress') words.push(`${job.id}:${job.progress?.step ?? 0}`);
  }
  return `${newest}/${deleted}/${words.join()}`;
}

// Returns the number of jobs to request again. If there is no filter and the newest job is first,
// new jobs appear only at the beginning. Otherwise any loaded job may have left the list.
export function refreshLimit(held: number, filter: JobFilter): number {
  const growsOnly = filter.states.length === 0 && filter.order === 'newest' && !filter.reverse;
  return growsOnly ? FIRST_PAGE : Math.min(LIMIT_MAX, Math.max(FIRST_PAGE, held));
}

// Replaces the first `limit` jobs of the list by a new response. The loaded jobs below them are
// kept, so that the scroll position does not change. `whole`: true if no jobs were kept, so that
// the response's cursor applies.
export function refreshed(
  old: readonly Job[],
  page: readonly Job[],
  limit: number,
): { jobs: readonly Job[]; whole: boolean } {
  const whole = old.length <= limit || page.length < limit;
  return { jobs: whole ? page : joined(page, old), whole };
}

// Joins a page to the list. Each job is kept once, at its first position, because jobs move in the
// list while its pages are read.
export function joined(held: readonly Job[], page: readonly Job[]): readonly Job[] {
  const known = new Set(held.map(({ id }) => id));
  return [...held, ...page.filter(({ id }) => !known.has(id))];
}

// Returns the jobs that still exist and still match the filter, according to their newest state in
// the stream.
export function stillMatching(
  jobs: readonly Job[],
  { states }: JobFilter,
  { deleted, fresh }: { deleted: ReadonlySet<number>; fresh: (job: Job) => Job },
): readonly Job[] {
  if (states.length === 0 && deleted.size === 0) return jobs;
  const matches = (job: Job) => states.length === 0 || states.includes(fresh(job).state);
  return jobs.filter((job) => !deleted.has(job.id) && matches(job));
}
