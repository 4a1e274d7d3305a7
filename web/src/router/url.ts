// The URLs of views. A URL contains the whole state of a view, so that the recipient of a link sees
// the same view as the sender.

export const JOB_TABS = [
  'curves',
  'ranks',
  'timeline',
  'checkpoints',
  'logs',
  'config',
  'events',
  'experts',
  'data',
  'elements',
] as const;
export type JobTab = (typeof JOB_TABS)[number];

export type Place =
  | {
      page:
        | 'overview'
        | 'jobs'
        | 'queue'
        | 'nodes'
        | 'compare'
        | 'events'
        | 'planner'
        | 'usage'
        | 'submit';
    }
  | { page: 'job'; job: string; tab: JobTab }
  | { page: 'node'; node: string }
  | { page: 'unknown' };

const PAGES = [
  'jobs',
  'queue',
  'nodes',
  'compare',
  'events',
  'planner',
  'usage',
  'submit',
] as const;

function decoded(word: string): string {
  try {
    return decodeURIComponent(word);
  } catch {
    return word;
  }
}

export function parsePath(path: string): Place {
  const words = path
    .split('/')
    .filter((word) => word !== '')
    .map(decoded);
  const [first, second, third] = words;
  if (first === undefined) return { page: 'overview' };
  if (first === 'jobs' && second !== undefined) {
    const tab = (third ?? 'curves') as JobTab;
    if (words.length > 3 || !JOB_TABS.includes(tab)) return { page: 'unknown' };
    return { page: 'job', job: second, tab };
  }
  if (first === 'nodes' && second !== undefined && words.length === 2) {
    return { page: 'node', node: second };
  }
  const page = PAGES.find((name) => name === first);
  return page && second === undefined ? { page } : { page: 'unknown' };
}

export function jobPath(job: number | string, tab: JobTab = 'curves'): string {
  const base = `/jobs/${encodeURIComponent(String(job))}`;
  return tab === 'curves' ? base : `${base}/${tab}`;
}

export const nodePath = (id: string) => `/nodes/${encodeURIComponent(id)}`;

// The query parameters that all views of a job share: the attempt, and how curves are drawn.
const SHARED = ['attempt', 'axis', 'baseline', 'keys', 'smooth', 'y'];

// Returns the query for links to other views of the same job.
export function sharedQuery(query: URLSearchParams): string {
  const { from, to } = parseCurveView(query);
  const changes: Record<string, string | number | undefined> = { from, to };
  for (const name of SHARED) changes[name] = query.get(name) ?? undefined;
  return formatQuery(changeQuery(new URLSearchParams(), changes));
}

// Applies `changes` to the query. undefined or an empty text removes a parameter. Parameters are
// sorted, so that each view has only one URL.
export function changeQuery(
  query: URLSearchParams,
  changes: Record<string, string | number | undefined>,
): URLSearchParams {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') next.delete(name);
    else next.set(name, String(value));
  }
  next.sort();
  return next;
}

// Formats like URLSearchParams, but does not escape commas.
export function formatQuery(query: URLSearchParams): string {
  const text = query.toString().replaceAll('%2C', ',');
  return text === '' ? '' : `?${text}`;
}

export type Axis = 'step' | 'tokens' | 'time';
export const AXES: readonly Axis[] = ['step', 'tokens', 'time'];
// Smoothing weights in the order of the smoothing key.
export const SMOOTHINGS: readonly number[] = [0, 0.6, 0.9, 0.97, 0.99];

export interface CurveView {
  axis: Axis;
  logY: boolean;
  // True if the y axis contains every value. If false, a few extreme values may be outside.
  fullY: boolean;
  smooth: number;
  // Start of the window on the x axis; undefined: show the whole run.
  from: number | undefined;
  to: number | undefined;
  // Series that the user added to the default panels.
  extra: string[];
  // undefined: show all attempts, joined.
  attempt: number | undefined;
  // Number or name of the job whose curves are drawn over those of the open job.
  baseline: string | undefined;
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text.trim() === '') return undefined;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : undefined;
}

// Returns a number that counts from 1, such as a step or an attempt; undefined for other values.
export function ordinalIn(query: URLSearchParams, name: string): number | undefined {
  const value = numberIn(query, name);
  return Number.isSafeInteger(value) && value !== 0 ? value : undefined;
}

export function listIn(query: URLSearchParams, name: string): string[] {
  return (query.get(name) ?? '')
    .split(',')
    .filter((word) => word !== '')
    .map(decoded);
}

// The inverse of listIn. Escapes commas, because names of series may contain them.
export function listText(words: readonly string[]): string {
  return words.map((word) => word.replaceAll('%', '%25').replaceAll(',', '%2C')).join(',');
}

// Reads from a URL's query how curves are shown. Invalid values are ignored.
export function parseCurveView(query: URLSearchParams): CurveView {
  const axis = AXES.find((name) => name === query.get('axis')) ?? 'step';
  const smooth = numberIn(query, 'smooth') ?? 0;
  const from = numberIn(query, 'from');
  const to = numberIn(query, 'to');
  const window = from !== undefined && to !== undefined && to > from;
  return {
    axis,
    logY: query.get('y') === 'log',
    fullY: query.get('y') === 'full',
    smooth: smooth < 1 ? smooth : 0,
    from: window ? from : undefined,
    to: window ? to : undefined,
    extra: listIn(query, 'keys').slice(0, 32),
    attempt: ordinalIn(query, 'attempt'),
    baseline: query.get('baseline') || undefined,
  };
}

// Returns the value after `value`. The first value follows the last value and any value that is not
// in `values`.
export function nextOf<T>(values: readonly T[], value: T): T {
  return values[(values.indexOf(value) + 1) % values.length] as T;
}
