// Sends requests to /api/v1. Every failure is thrown as a RequestError with a readable message.
import { refused, sessionHeaders, storedSession, type Session } from './session';
import type { Problem } from './types';

const PREFIX = '/api/v1';
const TIMEOUT_MS = 15_000;
// Ten minutes, because a download may contain millions of points.
const DOWNLOAD_TIMEOUT_MS = 600_000;
const LOG_OUT_TIMEOUT_MS = 3_000;

export class RequestError extends Error {
  constructor(
    message: string,
    // HTTP status; 0 if no response was received.
    readonly status: number,
    readonly hint = '',
  ) {
    super(message);
  }
}

// A list becomes one parameter per element.
export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

// Omits undefined and empty values, so that equal views have equal URLs.
export function queryText(query: Query): string {
  const words: string[] = [];
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    if (Array.isArray(value)) {
      for (const one of value) words.push(`${name}=${encodeURIComponent(one)}`);
    } else {
      words.push(`${name}=${encodeURIComponent(String(value)).replaceAll('%2C', ',')}`);
    }
  }
  return words.length > 0 ? `?${words.join('&')}` : '';
}

export function apiPath(path: string, query: Query = {}): string {
  return `${PREFIX}${path}${queryText(query)}`;
}

async function problemOf(response: Response): Promise<RequestError> {
  const type = response.headers.get('content-type') ?? '';
  if (!type.includes('json')) {
    return new RequestError(`The controller returned HTTP ${response.status}`, response.status);
  }
  const problem = (await response.json().catch(() => ({}))) as Partial<Problem>;
  const message =
    problem.detail || problem.title || `The controller returned HTTP ${response.status}`;
  return new RequestError(message, response.status, problem.hint ?? '');
}

// Sends a request with this origin's session, if there is one.
async function send(path: string, init: RequestInit): Promise<Response> {
  const session = storedSession();
  let response: Response;
  try {
    response = await fetch(path, {
      ...init,
      headers: { ...init.headers, ...sessionHeaders(session) },
    });
  } catch (error) {
    if (init.signal?.aborted && init.signal.reason?.name !== 'TimeoutError') throw error;
    throw new RequestError('The controller is not responding', 0, 'Retrying automatically.');
  }
  if (response.status === 401) refused(session);
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function request(
  path: string,
  init: RequestInit,
  timeoutMs = TIMEOUT_MS,
): Promise<Response> {
  const limit = AbortSignal.timeout(timeoutMs);
  return send(path, {
    ...init,
    signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit,
  });
}

// Requests the event stream, which is the body of the response. There is no time limit.
export function openStream(query: Query, signal: AbortSignal): Promise<Response> {
  return send(apiPath('/events/stream', query), { signal });
}

// Returns the contents of a file for download. A plain link would not send the session.
export async function getBlob(address: string): Promise<Blob> {
  return (await request(address, {}, DOWNLOAD_TIMEOUT_MS)).blob();
}

export async function exchangeCode(code: string): Promise<Session> {
  const response = await request('/login', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code }),
  });
  return (await response.json()) as Session;
}

export async function endSession(id: string): Promise<void> {
  const path = apiPath(`/sessions/${encodeURIComponent(id)}`);
  await request(path, { method: 'DELETE' }, LOG_OUT_TIMEOUT_MS);
}

// Responses to requests that prefetch() sent, by URL.
const prefetched = new Map<string, Promise<unknown>>();
const PREFETCH_KEPT_MS = 5_000;

async function fetchJson<T>(address: string, signal?: AbortSignal): Promise<T> {
  const response = await request(address, signal ? { signal } : {});
  return (await response.json()) as T;
}

// Sends a request before the view that needs it is mounted. The next getJson for the same URL gets
// the response.
export function prefetch(path: string, query: Query = {}): void {
  const address = apiPath(path, query);
  if (prefetched.has(address)) return;
  const answer = fetchJson(address);
  prefetched.set(address, answer);
  // Prevents an unhandled rejection. The getJson that uses the response reports the failure;
  // without one, the failure is ignored.
  answer.catch(() => undefined);
  setTimeout(() => prefetched.delete(address), PREFETCH_KEPT_MS);
}

export async function getJson<T>(path: string, query: Query = {}, signal?: AbortSignal) {
  const address = apiPath(path, query);
  const asked = prefetched.get(address) as Promise<T> | undefined;
  prefetched.delete(address);
  return asked ?? fetchJson<T>(address, signal);
}

export async function postJson<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
  const response = await request(apiPath(path), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  });
  return (await response.json()) as T;
}

export async function deleteJson<T>(path: string): Promise<T> {
  const response = await request(apiPath(path), { method: 'DELETE' });
  return (await response.json()) as T;
}

export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

export function asRequestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  return new RequestError(error instanceof Error ? error.message : String(error), 0);
}
