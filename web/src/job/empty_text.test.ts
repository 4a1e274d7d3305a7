import { expect, it } from 'vitest';
import type { Job } from '../api/types';
import { emptyLog, noAttempt, noCheckpoint } from './empty_text';

const search = { grep: '', matchCase: false, regex: false, level: undefined };
const all = { ...search, ranks: '', attempt: undefined };
const job = (state: string, every = 0) =>
  ({ state, spec: { checkpoint: { every_steps: every } } }) as unknown as Job;

it('promises nothing of a job that has ended', () => {
  expect(emptyLog(all, false).title).toBe('No output yet');
  expect(emptyLog(all, true).title).toBe('This job wrote no output');
  expect(emptyLog({ ...all, attempt: 2 }, true).title).toBe('These ranks wrote no output');
  expect(emptyLog({ ...all, grep: 'x' }, true).title).toBe('No lines match “x”');
  expect(emptyLog({ ...all, grep: 'x' }, true).text).toBe('');
  expect(emptyLog({ ...all, grep: 'x', matchCase: true }, true).text).toContain('case-sensitive');
  expect(emptyLog({ ...all, level: 'error' }, true).title).toBe('No lines state an error');
  expect(noCheckpoint(job('running', 500)).text).toContain('every 500 steps');
  expect(noCheckpoint(job('failed', 500)).title).toBe('This job has no checkpoints');
  expect(noAttempt(job('queued')).title).toBe('No attempts yet');
  expect(noAttempt(job('stopped')).title).toBe('This job never ran');
});
