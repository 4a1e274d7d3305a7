// The list of jobs. It is loaded page by page, while the jobs in it change. Pure functions.
import type { Job, JobOrder, JobState } from '../api/types';
import { isSick, worstFirst } from '../job/health';

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

// `health`: sick jobs first, the worst first. All other jobs follow, newest first. The page sorts
// them, because the stream sends each change of a job's health.
export type ListOrder = JobOrder | 'health';

export interface JobFilter {
  states: readonly JobState[];
  order: ListOrder;
  reverse: boolean;
  text: string | undefined;
}

// Reads the filter in an address. Invalid values are ignored.
export function filterIn(query: URLSearchParams): JobFilter {
  const asked = (query.get('states') ?? '').split(',');
  return {
    states: STATES.filter((state) => asked.includes(state)),
    order: ORDERS.find((name) => name === query.get('sort')) ?? 'health',
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
  const newestFirst = filter.order === 'health' || (filter.order === 'newest' && !filter.reverse);
  const growsOnly = filter.states.length === 0 && newestFirst;
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

// Returns the sort parameters of the address after a click on a column: sorted by it, then
// reversed, then the default order again.
export function sortAfterClick(
  by: string,
  { order, reverse }: JobFilter,
): { sort: string | undefined; reverse: number | undefined } {
  if (by !== order) return { sort: by, reverse: undefined };
  return reverse ? { sort: undefined, reverse: undefined } : { sort: by, reverse: 1 };
}

// The search of the controller's list.
function hasText(job: Job, text: string): boolean {
  const texts = [String(job.id), job.name, job.user, job.spec?.description ?? ''];
  return texts.some((one) => one.toLowerCase().includes(text.toLowerCase()));
}

// Puts the sick jobs that match the filter first, even if their page is not loaded yet. `live`: the
// jobs of the stream.
export function sickFirst(
  jobs: readonly Job[],
  live: Iterable<Job>,
  { states, order, text }: JobFilter,
): readonly Job[] {
  if (order !== 'health') return jobs;
  const matches = (job: Job) =>
    (states.length === 0 || states.includes(job.state)) && hasText(job, text ?? '');
  const found = [...live].filter((job) => isSick(job) && matches(job));
  const sick = worstFirst(found.sort((a, b) => b.id - a.id));
  return sick.length === 0 ? jobs : joined(sick, jobs);
}
