// The list of jobs, held page by page, while the jobs in it change. Pure.
import type { Job, JobOrder, JobState } from '../api/types';

export const STATES: readonly JobState[] = [
  'queued',
  'starting',
  'running',
  'recovering',
  'stopping',
  'succeeded',
  'failed',
  'stopped',
];
// What fills a tall window comes first, so that the list is there at once.
export const FIRST_PAGE = 60;
// The controller gives no more at once.
const LIMIT_MAX = 1_000;
const ORDERS: readonly JobOrder[] = ['newest', 'name', 'user', 'state', 'progress', 'ended'];

export interface JobFilter {
  states: readonly JobState[];
  order: JobOrder;
  reverse: boolean;
  text: string | undefined;
}

// Reads any address: what makes no sense counts as not given.
export function filterIn(query: URLSearchParams): JobFilter {
  const asked = (query.get('states') ?? '').split(',');
  return {
    states: STATES.filter((state) => asked.includes(state)),
    order: ORDERS.find((name) => name === query.get('sort')) ?? 'newest',
    reverse: query.get('reverse') === '1',
    text: query.get('q') || undefined,
  };
}

// Changes when the list may have: with a new job, and under a filter or another order with all that
// they look at. Text matches nothing that changes.
export function listTick(jobs: Iterable<Job>, { states, order }: JobFilter): string {
  const looksAtState = states.length > 0 || order === 'state' || order === 'ended';
  let newest = 0;
  const words: string[] = [];
  for (const job of jobs) {
    newest = Math.max(newest, job.id);
    if (looksAtState) words.push(`${job.id}${job.state}`);
    else if (order === 'progress') words.push(`${job.id}:${job.progress?.step ?? 0}`);
  }
  return `${newest}/${words.join()}`;
}

// How many jobs to ask for again. Under no filter jobs only join at the beginning; else anything
// that is held may have left.
export function refreshLimit(held: number, filter: JobFilter): number {
  const growsOnly = filter.states.length === 0 && filter.order === 'newest';
  return growsOnly ? FIRST_PAGE : Math.min(LIMIT_MAX, Math.max(FIRST_PAGE, held));
}

// The beginning of the list, up to `limit` jobs, read again. What was loaded below stays, so that
// nobody who has scrolled down loses the place. `whole`: nothing did, so the page's cursor counts.
export function refreshed(
  old: readonly Job[],
  page: readonly Job[],
  limit: number,
): { jobs: readonly Job[]; whole: boolean } {
  const whole = old.length <= limit || page.length < limit;
  return { jobs: whole ? page : joined(page, old), whole };
}

// Each job once, where it was first: lists move while they are read.
export function joined(held: readonly Job[], page: readonly Job[]): readonly Job[] {
  const known = new Set(held.map(({ id }) => id));
  return [...held, ...page.filter(({ id }) => !known.has(id))];
}

// Without those that match no longer, by what the stream says of them.
export function stillMatching(
  jobs: readonly Job[],
  { states }: JobFilter,
  fresh: (job: Job) => Job,
): readonly Job[] {
  if (states.length === 0) return jobs;
  return jobs.filter((job) => states.includes(fresh(job).state));
}
