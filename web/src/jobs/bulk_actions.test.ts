import { describe, expect, it } from 'vitest';
import { RequestError } from '../api/client';
import type { Job, JobState } from '../api/types';
import {
  bulkCommand,
  bulkLine,
  bulkLines,
  bulkWarning,
  sendToAll,
  type BulkResult,
} from './bulk_actions';

const NOW = 1_000_000;

function job(id: number, state: JobState, change: object = {}): Job {
  const base = { id, name: `job-${id}`, state, attempts: [{}], checkpoints: [] };
  return { ...base, progress: { step: 500 }, ...change } as unknown as Job;
}

const unsaved = (id: number, steps: number) =>
  job(id, 'running', {
    health: {
      word: 'unsaved',
      findings: [{ word: 'unsaved' }],
      steps_at_risk: steps,
      saved_step: 100,
      at_risk_since_ms: NOW - 60_000,
    },
  });

describe('bulkLine', () => {
  it.each([
    ['stop', 'succeeded', 'has ended (succeeded)'],
    ['kill', 'failed', 'has ended (failed)'],
    ['stop', 'stopping', 'is already stopping'],
    ['pause', 'held', 'is already held'],
    ['resume', 'running', 'is not paused'],
  ] as const)('leaves out what does not apply: %s of a %s job', (action, state, reason) => {
    expect(bulkLine(action, job(1, state), NOW).refusal).toBe(reason);
  });

  it.each([
    ['kill', 'stopping'],
    ['resume', 'held'],
    ['pause', 'queued'],
    ['stop', 'paused'],
  ] as const)('applies: %s of a %s job', (action, state) => {
    expect(bulkLine(action, job(1, state), NOW).refusal).toBeUndefined();
  });

  it('states the loss of each job as its own dialog does', () => {
    const line = bulkLine('stop', unsaved(1, 400), NOW);
    expect(line.warning).toContain('stopping now loses 400 steps');
    expect(line.lostSteps).toBe(400);
  });
});

describe('bulkLines', () => {
  const jobs = [job(1, 'failed'), job(2, 'running'), unsaved(3, 10), unsaved(4, 900)];
  const lines = bulkLines('stop', jobs, NOW);

  it('has the greatest losses first, and what does not apply last', () => {
    expect(lines.map(({ job: { id } }) => id)).toEqual([4, 3, 2, 1]);
  });

  it('adds up the losses', () => {
    expect(bulkWarning('stop', lines)).toBe('2 jobs lose up to 910 steps if you stop them now.');
    const one = '1 job loses up to 10 steps if you stop it now.';
    expect(bulkWarning('stop', lines.slice(1))).toBe(one);
    expect(bulkWarning('stop', lines.slice(2))).toBeUndefined();
  });

  it('names the same jobs on the command line', () => {
    expect(bulkCommand('kill', lines.slice(0, 2))).toBe('trainyard kill 4 3 -y');
  });
});

describe('sendToAll', () => {
  const jobs = Array.from({ length: 9 }, (_, index) => job(index + 1, 'running'));

  it('reports each job, also after a failure, and sends few at a time', async () => {
    const results = new Map<number, BulkResult>();
    let open = 0;
    let most = 0;
    await sendToAll(jobs, {
      send: async ({ id }) => {
        most = Math.max(most, ++open);
        await Promise.resolve();
        open--;
        if (id === 3) throw new RequestError('job 3 has ended', 409);
      },
      onResult: (id, result) => results.set(id, result),
      signal: new AbortController().signal,
    });
    expect(most).toBe(4);
    expect(results.get(3)).toMatchObject({ message: 'job 3 has ended' });
    expect([...results.values()].filter((result) => result === 'done')).toHaveLength(8);
  });

  it('sends no more once it is aborted', async () => {
    const abort = new AbortController();
    const sent: number[] = [];
    await sendToAll(jobs, {
      send: async ({ id }) => {
        sent.push(id);
        abort.abort();
      },
      onResult: () => undefined,
      signal: abort.signal,
    });
    expect(sent.length).toBeLessThanOrEqual(4);
  });
});
