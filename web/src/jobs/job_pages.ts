// The list of jobs, loaded page by page, while the listed jobs change. Pure.
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
// Jobs of the first page: enough to fill a tall window, so that the list is shown at once.
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

// Filter in an address; invalid values are ignored.
export function filterIn(query: URLSearchParams): JobFilter {
  const asked = (query.get('states') ?? '').split(',');
  return {
    states: STATES.filter((state) => asked.includes(state)),
    order: ORDERS.find((name) => name === query.get('sort')) ?? 'newest',
    reverse: query.get('reverse') === '1',
    text: query.get('q') || undefined,
  };
}

// Text that changes when the list may have changed: after a new job, a deletion, or a change of a
// state or step that the filter or the order depends on. The text filter matches only immutable
// fields.
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

// Number of jobs to request again. Without a filter, and with the newest job first, jobs are only
// added at the beginning; otherwise any loaded job may have left the list.
export function refreshLimit(held: number, filter: JobFilter): number {
  const growsOnly = filter.states.length === 0 && filter.order === 'newest' && !filter.reverse;
  return growsOnly ? FIRST_PAGE : Math.min(LIMIT_MAX, Math.max(FIRST_PAGE, held));
}

// Replaces the beginning of the list, up to `limit` jobs, by a new response. Jobs loaded below it
// are kept, so that the scroll position is unchanged. `whole`: none were kept, so the response's
// cursor applies.
export function refreshed(
  old: readonly Job[],
  page: readonly Job[],
  limit: number,
): { jobs: readonly Job[]; whole: boolean } {
  const whole = old.length <= limit || page.length < limit;
  return { jobs: whole ? page : joined(page, old), whole };
}

// Each job once, at its first position: lists shift while they are being read.
export function joined(held: readonly Job[], page: readonly Job[]): readonly Job[] {
  const known = new Set(held.map(({ id }) => id));
  return [...held, ...page.filter(({ id }) => !known.has(id))];
}

// Jobs that exist and still match the filter, using their newest state from the stream.
export function stillMatching(
  jobs: readonly Job[],
  { states }: JobFilter,
  { deleted, fresh }: { deleted: ReadonlySet<number>; fresh: (job: Job) => Job },
): readonly Job[] {
  if (states.length === 0 && deleted.size === 0) return jobs;
  const matches = (job: Job) => states.length === 0 || states.includes(fresh(job).state);
  return jobs.filter((job) => !deleted.has(job.id) && matches(job));
}
