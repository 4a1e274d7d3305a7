import { expect, it } from 'vitest';
import type { Job, PendingReason } from '../api/types';
import { groupQueue } from './queue_groups';

const job = (id: number) => ({ id }) as Job;
const behind = (blocking_job_id: number) => ({ blocking_job_id }) as PendingReason;
const ids = (jobs: readonly Job[]) => jobs.map(({ id }) => id);

it('separates jobs with a reason of their own from jobs behind the head', () => {
  const pending = new Map([
    [1, behind(0)],
    [2, behind(1)],
    [3, behind(0)],
    [4, behind(1)],
  ]);
  const groups = groupQueue([1, 2, 3, 4, 5].map(job), pending, 5);
  expect(ids(groups.waiting)).toEqual([1, 3, 5]);
  expect(groups.behind).toEqual([{ blockerId: 1, jobs: [job(2), job(4)], total: 2 }]);
});

it('counts jobs that were not sent in the last group', () => {
  const pending = new Map([
    [2, behind(1)],
    [3, behind(9)],
  ]);
  const groups = groupQueue([1, 2, 3].map(job), pending, 2_502);
  expect(groups.behind.map(({ total }) => total)).toEqual([1, 2_500]);
});

it('has no group for an empty queue', () => {
  expect(groupQueue([], new Map(), 0)).toEqual({ waiting: [], behind: [] });
});
