import { describe, expect, it } from 'vitest';
import type { Job, JobState } from '../api/types';
import {
  filterIn,
  joined,
  listTick,
  refreshLimit,
  refreshed,
  sickFirst,
  sortAfterClick,
  stillMatching,
} from './job_pages';

const job = (id: number, state: JobState = 'running', step = 0) =>
  ({ id, state, progress: { step } }) as Job;
const filter = (text: string) => filterIn(new URLSearchParams(text));
const ids = (jobs: readonly Job[]) => jobs.map(({ id }) => id);

describe('filterIn', () => {
  it('reads an address', () => {
    expect(filter('states=failed,running&sort=name&reverse=1&q=llama')).toEqual({
      states: ['running', 'failed'],
      order: 'name',
      reverse: true,
      text: 'llama',
    });
  });

  it('takes nonsense for not given', () => {
    const nothing = { states: [], order: 'health', reverse: false, text: undefined };
    expect(filter('states=happy&sort=nonsense&reverse=yes&q=')).toEqual(nothing);
  });
});

describe('listTick', () => {
  const tick = (address: string, ...jobs: Job[]) => listTick(jobs, 0, filter(address));

  it('follows deletions', () => {
    expect(listTick([], 1, filter(''))).not.toBe(listTick([], 0, filter('')));
  });

  it('looks only for new jobs where nothing is chosen', () => {
    expect(tick('', job(1, 'running', 3))).toBe(tick('', job(1, 'failed', 9)));
    expect(tick('', job(1))).not.toBe(tick('', job(2), job(1)));
  });

  it('follows states under a filter of states, and steps in the order of progress', () => {
    for (const address of ['states=running', 'sort=state', 'sort=ended', 'sort=restarts']) {
      expect(tick(address, job(1)), address).not.toBe(tick(address, job(1, 'failed')));
      expect(tick(address, job(1)), address).toBe(tick(address, job(1, 'running', 5)));
    }
    const orders = ['progress', 'loss', 'best_loss', 'rate', 'eta', 'progress&states=running'];
    for (const order of orders.map((name) => `sort=${name}`)) {
      expect(tick(order, job(1)), order).not.toBe(tick(order, job(1, 'running', 5)));
    }
  });
});

describe('the list read again', () => {
  const old = [5, 4, 3, 2, 1].map((id) => job(id));

  it('drops what it held and holds no more', () => {
    const { jobs, whole } = refreshed(old, [job(6), job(5), job(3)], 5);
    expect([ids(jobs), whole]).toEqual([[6, 5, 3], true]);
  });

  it('loses nothing that a new job has pushed out of the page', () => {
    const { jobs, whole } = refreshed(old, [job(6), job(5)], 2);
    expect([ids(jobs), whole]).toEqual([[6, 5, 4, 3, 2, 1], false]);
  });

  it('asks for all that is held only where jobs can leave the list', () => {
    expect(refreshLimit(500, filter(''))).toBe(60);
    expect(refreshLimit(500, filter('sort=newest'))).toBe(60);
    expect(refreshLimit(500, filter('sort=newest&reverse=1'))).toBe(500);
    expect(refreshLimit(500, filter('states=running'))).toBe(500);
    expect(refreshLimit(5_000, filter('sort=progress'))).toBe(1_000);
    expect(refreshLimit(3, filter('states=running'))).toBe(60);
  });
});

it('holds each job once', () => {
  expect(ids(joined([job(3), job(2)], [job(2), job(1)]))).toEqual([3, 2, 1]);
});

it('drops jobs that match no longer, by what the stream says', () => {
  const streamed = new Map([[2, job(2, 'failed')]]);
  const fresh = (old: Job) => streamed.get(old.id) ?? old;
  const held = [job(3), job(2), job(1)];
  const now = { deleted: new Set<number>(), fresh };
  expect(ids(stillMatching(held, filter('states=running'), now))).toEqual([3, 1]);
  expect(ids(stillMatching(held, filter(''), now))).toEqual([3, 2, 1]);
  const gone = { deleted: new Set([2]), fresh };
  expect(ids(stillMatching(held, filter(''), gone))).toEqual([3, 1]);
});

describe('sick jobs', () => {
  const sick = (id: number, word: string) => {
    const health = { word, findings: [] };
    return { ...job(id), name: `job-${id}`, user: 'ada', health } as unknown as Job;
  };
  const live = [sick(2, 'slow'), sick(7, 'slow'), sick(1, 'stalled'), sick(4, 'healed'), job(9)];
  const order = (address: string) =>
    ids(sickFirst([job(9), job(4), job(2)], live, filter(address)));

  it('come first, the worst first, even before their page is loaded', () => {
    expect(order('')).toEqual([1, 7, 2, 9, 4]);
  });

  it('have to match the filter', () => {
    expect(order('states=failed')).toEqual([9, 4, 2]);
    expect(order('q=JOB-7')).toEqual([7, 9, 4, 2]);
    expect(order('q=ada&states=running')).toEqual([1, 7, 2, 9, 4]);
  });

  it('have no place of their own in another order', () => {
    expect(order('sort=newest')).toEqual([9, 4, 2]);
  });
});

it('sorts by a column, then in reverse, then as at first', () => {
  const after = (address: string) => sortAfterClick('name', filter(address));
  expect(after('')).toEqual({ sort: 'name', reverse: undefined });
  expect(after('sort=name')).toEqual({ sort: 'name', reverse: 1 });
  expect(after('sort=name&reverse=1')).toEqual({ sort: undefined, reverse: undefined });
});
