import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { getJson } from './client';
import { codeIn, logIn, logOut } from './login';
import {
  SESSION_HEADER,
  followOtherTabs,
  clearSession,
  storeSession,
  refusal,
  storedSession,
} from './session';

const SESSION = { id: 'i1', secret: 's1' };

// The requests that the page has sent. The controller's prepared answers are used in order; the
// last one is repeated.
let asked: { path: string; init: RequestInit }[];
let answers: (() => Response)[];

const json = (status: number, body: unknown) => () =>
  new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json' },
  });
const sentSecret = (index: number) =>
  (asked[index]?.init.headers as Record<string, string>)[SESSION_HEADER];

beforeEach(() => {
  const kept = new Map<string, string>();
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
    removeItem: (key: string) => kept.delete(key),
  });
  asked = [];
  answers = [json(200, {})];
  vi.stubGlobal('fetch', async (path: string, init: RequestInit) => {
    asked.push({ path, init });
    const answer = answers.length > 1 ? answers.shift() : answers[0];
    return answer?.();
  });
  refusal.value = undefined;
});
afterEach(() => {
  vi.unstubAllGlobals();
});

describe('a session', () => {
  it('goes with each request as a header, and into no address', async () => {
    await getJson('/jobs');
    expect(sentSecret(0)).toBeUndefined();
    storeSession(SESSION);
    await getJson('/nodes');
    expect(sentSecret(1)).toBe('s1');
    expect(asked.map(({ path }) => path).join()).not.toContain('s1');
  });

  it('is forgotten when the controller refuses it, and the page says why', async () => {
    storeSession(SESSION);
    answers = [json(401, { detail: 'no' })];
    await expect(getJson('/jobs')).rejects.toThrow('no');
    expect(storedSession()).toBeUndefined();
    expect(refusal.value?.title).toBe('Your session has ended');
  });

  it('is needed where there is none', async () => {
    answers = [json(401, { detail: 'no' })];
    await expect(getJson('/jobs')).rejects.toThrow('no');
    expect(refusal.value?.title).toBe('You are not logged in');
  });

  it('of a newer login survives the refusal of the one before', async () => {
    storeSession(SESSION);
    answers = [
      () => {
        storeSession({ id: 'i2', secret: 's2' });
        return json(401, {})();
      },
    ];
    await expect(getJson('/jobs')).rejects.toThrow();
    expect(storedSession()?.secret).toBe('s2');
    expect(refusal.value).toBeUndefined();
  });

  it('that was damaged in the storage is none', () => {
    for (const text of ['', '{', 'null', '7', '{"id":"i"}', '{"id":"","secret":"s"}']) {
      localStorage.setItem('trainyard-session', text);
      expect(storedSession(), text).toBeUndefined();
    }
  });
});

describe('a login', () => {
  it('reads the code from the fragment only', () => {
    expect(codeIn('#code=abc')).toBe('abc');
    expect(codeIn('')).toBeUndefined();
    expect(codeIn('#code=')).toBeUndefined();
  });

  it('keeps the session and ends the one before', async () => {
    storeSession({ id: 'old', secret: 's0' });
    answers = [json(200, SESSION), json(200, { ended: 1 })];
    await logIn('abc');
    expect(storedSession()).toEqual(SESSION);
    expect(asked.map(({ path, init }) => `${init.method} ${path}`)).toEqual([
      'POST /login',
      'DELETE /api/v1/sessions/old',
    ]);
    expect(asked[0]?.init.body).toBe('{"code":"abc"}');
    expect(sentSecret(1)).toBe('s1');
  });

  it('that is refused says what to do, and keeps nothing', async () => {
    answers = [json(403, { detail: 'no' })];
    await logIn('abc');
    expect(storedSession()).toBeUndefined();
    expect(refusal.value?.text).toContain('already used');
  });
});

describe('a log-out', () => {
  it('ends the session in the controller and here', async () => {
    storeSession(SESSION);
    await logOut();
    expect(`${asked[0]?.init.method} ${asked[0]?.path}`).toBe('DELETE /api/v1/sessions/i1');
    expect(storedSession()).toBeUndefined();
    expect(refusal.value).toEqual({ title: 'You are logged out', text: '' });
  });

  it('says when the controller has not heard of it', async () => {
    storeSession(SESSION);
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')));
    await logOut();
    expect(storedSession()).toBeUndefined();
    expect(refusal.value?.text).toContain('trainyard server sessions --end i1');
  });
});

describe('another tab', () => {
  const follow = () => {
    let dispatch = (_: Partial<StorageEvent>) => {};
    const reload = vi.fn();
    vi.stubGlobal('location', { reload });
    vi.stubGlobal('addEventListener', (_: string, listener: typeof dispatch) => {
      dispatch = listener;
    });
    followOtherTabs();
    return { reload, dispatch: (event: Partial<StorageEvent>) => dispatch(event) };
  };

  it('that logs out closes this one', () => {
    storeSession(SESSION);
    const { dispatch } = follow();
    clearSession();
    dispatch({ key: 'another key', newValue: null });
    expect(refusal.value).toBeUndefined();
    dispatch({ key: 'trainyard-session', newValue: null });
    expect(refusal.value?.title).toBe('You are logged out');
  });

  it('that logs in opens this one again', () => {
    const { dispatch, reload } = follow();
    const newValue = JSON.stringify(SESSION);
    dispatch({ key: 'trainyard-session', newValue });
    expect(reload).not.toHaveBeenCalled();
    refusal.value = { title: 'You are not logged in', text: '' };
    dispatch({ key: 'trainyard-session', newValue });
    expect(reload).toHaveBeenCalledOnce();
  });
});
