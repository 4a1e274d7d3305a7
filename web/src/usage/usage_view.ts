// The state of the page Usage in its URL, and the request for it. Pure functions.

export type UsageGroup = 'user' | 'job' | 'week';
export type Period = '7d' | '28d' | '91d' | 'all';

export const GROUPS: readonly (readonly [UsageGroup, string])[] = [
  ['user', 'User'],
  ['job', 'Job'],
  ['week', 'Week'],
];
export const PERIODS: readonly (readonly [Period, string])[] = [
  ['7d', '7 days'],
  ['28d', '4 weeks'],
  ['91d', '13 weeks'],
  ['all', 'All time'],
];
const DAYS: Record<Period, number> = { '7d': 7, '28d': 28, '91d': 91, all: 0 };

export interface UsageView {
  by: UsageGroup;
  period: Period;
  // Only jobs of this user; undefined: of all users.
  user: string | undefined;
  // Only this job; undefined: all jobs.
  job: number | undefined;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;
// 1970-01-05, the first Monday of Unix time.
const FIRST_MONDAY_MS = 4 * DAY_MS;
// The controller returns at most this many groups. It sums the remaining groups.
const GROUPS_MAX = 1_000;

// Reads the view from a URL's query. Invalid values are replaced by defaults.
export function usageViewIn(query: URLSearchParams): UsageView {
  const find = <T extends string>(choices: readonly (readonly [T, string])[], name: string) =>
    choices.find(([choice]) => choice === query.get(name))?.[0];
  return {
    by: find(GROUPS, 'by') ?? 'user',
    period: find(PERIODS, 'period') ?? '28d',
    user: query.get('user') || undefined,
    job: /^[1-9]\d{0,14}$/.test(query.get('job') ?? '') ? Number(query.get('job')) : undefined,
  };
}

// Returns the start of the period, Unix milliseconds. Weeks begin on Monday, 00:00 UTC. A report by
// week begins with a whole week. Other reports begin at a full hour.
export function sinceOf({ by, period }: UsageView, nowMs: number): number | undefined {
  if (period === 'all') return undefined;
  const begin = nowMs - DAYS[period] * DAY_MS;
  const since =
    by === 'week'
      ? begin - ((begin - FIRST_MONDAY_MS) % WEEK_MS)
      : Math.floor(begin / HOUR_MS) * HOUR_MS;
  return Math.max(1, since);
}

export function reportQuery(view: UsageView, nowMs: number) {
  const { by, user, job } = view;
  return { by, since: sinceOf(view, nowMs), user, job_id: job, limit: GROUPS_MAX };
}

// Returns the URL of the view of one user's jobs.
export function userHref(user: string, period: Period): string {
  return `/usage?by=job&period=${period}&user=${encodeURIComponent(user)}`;
}

// Returns the URL of the weeks of one job.
export const weeksHref = (job: number) => `/usage?by=week&job=${job}&period=all`;
