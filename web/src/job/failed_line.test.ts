import { expect, it } from 'vitest';
import type { Job } from '../api/types';
import { failedOutput, opensAtFailure } from './failed_line';

const verdict = { rank: 3, node_id: 'b', error_line: "KeyError: 'w'" };
const job = (state: string, change: object = {}): Job =>
  ({ state, verdict, attempts: [{ number: 2, ranks: [] }], ...change }) as unknown as Job;

it('finds the output of the rank that failed first', () => {
  const output = { attempt: 2, rank: 3, errorLine: "KeyError: 'w'" };
  expect(failedOutput(job('failed'))).toEqual(output);
  const attempts = [{ number: 2, ranks: [], verdict }];
  expect(failedOutput(job('recovering', { verdict: undefined, attempts }))).toEqual(output);
});

it('finds nothing if no rank is at fault', () => {
  expect(failedOutput(job('running'))).toBeUndefined();
  expect(failedOutput(job('failed', { verdict: { ...verdict, rank: -1 } }))).toBeUndefined();
  expect(failedOutput(job('failed', { attempts: [] }))).toBeUndefined();
});

it('opens at the failure unless the address chooses another part', () => {
  const output = failedOutput(job('failed'))!;
  const opens = (query: string) => opensAtFailure(new URLSearchParams(query), output);
  expect(['', 'ranks=3'].map(opens)).toEqual([true, true]);
  expect(['ranks=1', 'line=1.2.3', 'grep=x', 'level=error', 'from=start'].map(opens)).toEqual(
    Array(5).fill(false),
  );
});
