import { expect, it } from 'vitest';
import type { NodeAttempt } from '../api/types';
import { attemptsOn, endedAttempts, rankText } from './node_attempts';

const use = (job_id: number, rank: number, unkillable = '') => ({
  job_id,
  attempt: 2,
  rank,
  unkillable,
  requested_cpus: 0,
  requested_memory_bytes: 0,
});

it('finds the attempts on a node with their ranks', () => {
  const slot_uses = [use(7, 9), use(0, 0), use(9, 1, 'pid 12 in disk sleep'), use(7, 8)];
  expect(attemptsOn({ slot_uses })).toEqual([
    { jobId: 7, attempt: 2, ranks: [8, 9], unkillable: [] },
    { jobId: 9, attempt: 2, ranks: [1], unkillable: ['pid 12 in disk sleep'] },
  ]);
});

it('knows the attempts that have ended', () => {
  const states = ['running', 'ended', 'stopping', 'ended'];
  const attempts = states.map((state, attempt) => ({ state, attempt })) as NodeAttempt[];
  expect(endedAttempts(attempts).map(({ attempt }) => attempt)).toEqual([1, 3]);
});

it('joins neighboring ranks', () => {
  expect(rankText([3])).toBe('rank 3');
  expect(rankText([8, 9, 10])).toBe('ranks 8–10');
  expect(rankText([0, 2, 5, 6])).toBe('ranks 0, 2, 5–6');
});
