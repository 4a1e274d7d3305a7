// The list of jobs, loaded page by page while the jobs change. Pure functions.
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
// Number of jobs on the first page, enough to fill a tall window at once.
export const FIRST_PAGE = 60;
// The controller returns at most this many jobs in one page.
const LIMIT_MAX = 1_000;
// Sort orders whose figures change while a job trains.
const BY_PROGRESS: readonly JobOrder[] = ['progress', 'loss', 'best_loss', 'rate', 'eta'];
const ORDERS: readonly JobOrder[] = [
  ...['newest', 'name', 'user', 'state', 'ended', 'slots', 'restarts'] as const,
  ...BY_PROGRESS,
];

// `health`: sick jobs first, the worst first. All other jobs follow, newest first. The page sorts
// by health, because the stream sends each change of a job's health.
export type ListOrder = JobOrder | 'health';

export interface JobFilter {
  states: readonly JobState[];
  order: ListOrder;
  reverse: boolean;
  text: string | undefined;
}

// Reads the filter from a URL's query. Invalid values are ignored.
export function filterIn(query: URLSearchParams): JobFilter {
  const asked = (query.get('states') ?? '').split(',');
  return {
    states: STATES.filter((state) => asked.includes(state)),
    order: ORDERS.find((name) => name === query.get('sort')) ?? 'health',
    reverse: query.get('reverse') === '1',
    text: query.get('q') || undefined,
  };
}

// Returns a text that changes when the list may have changed: when a job is submitted or deleted,
// and when a state or step used by the filter or the order changes. The text filter is not
// considered, because it matches only constant fields.
export function listTick(
  jobs: Iterable<Job>,
  deleted: number,
  { states, order }: JobFilter,
): string {
  // A restart also changes the state.
  const looksAtState = states.length > 0 || ['state', 'ended', 'restarts'].includes(order);
  const looksAtSteps = order !== 'health' && BY_PROGRESS.includes(order);
  let newest = 0;
  const words: string[] = [];
  for (const job of jobs) {
    newest = Math.max(newest, job.id);
    if (looksAtState) words.push(`${job.id}${job.state}`);
    if (looksAtSteps) words.push(`${job.id}:${job.progress?.step ?? 0}`);
  }
  return `${newest}/${deleted}/${words.join()}`;
}

// Returns how many of the loaded jobs to request again. Without a filter and with the newest job
// first, new jobs appear only at the beginning. In other views, any loaded job may have left.
export function refreshLimit(held: number, filter: JobFilter): number {
  const newestFirst = filter.order === 'health' || (filter.order === 'newest' && !filter.reverse);
  const growsOnly = filter.states.length === 0 && newestFirst;
  return growsOnly ? FIRST_PAGE : Math.min(LIMIT_MAX, Math.max(FIRST_PAGE, held));
}

// Replaces the first `limit` jobs of the list with a new response. Keeps the loaded jobs below
// them, so that the scroll position does not change. `whole`: no jobs were kept, so the response's
// cursor applies.
export function refreshed(
  old: readonly Job[],
  page: readonly Job[],
  limit: number,
): { jobs: readonly Job[]; whole: boolean } {
  const whole = old.length <= limit || page.length < limit;
  return { jobs: whole ? page : joined(page, old), whole };
}

// Appends a page to the list. A job in both is kept once, at its first position, because jobs move
// in the list while the pages are read.
export function joined(held: readonly Job[], page: readonly Job[]): readonly Job[] {
  const known = new Set(held.map(({ id }) => id));
  return [...held, ...page.filter(({ id }) => !known.has(id))];
}

// Returns the jobs that still exist and still match the filter, according to the newest state in
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

// Returns the sort parameters of the address after a click on a column: sorted by the column, then
// reversed, then the default order.
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
