import { describe, expect, it } from 'vitest';
import { failureOf, figuresOf, stepAge } from './progress';

describe('figures of a job', () => {
  const progress = { step: 9, time_ms: 100_000, step_seconds: 8 };
  const job = (change: object) =>
    ({ state: 'running', attempts: [], progress, ...change }) as never;

  it('have the age of the last step while it runs, late after ten usual steps', () => {
    expect(stepAge(job({}), 120_000)).toEqual({ timeMs: 100_000, late: false });
    expect(stepAge(job({}), 181_000)?.late).toBe(true);
    const quick = { ...progress, step_seconds: 0.1 };
    expect(stepAge(job({ progress: quick }), 125_000)?.late).toBe(false);
    expect(stepAge(job({ state: 'failed' }), 120_000)).toBeUndefined();
    expect(stepAge(job({ progress: { ...progress, step: 0 } }), 120_000)).toBeUndefined();
  });

  it('have the tokens that the controller counted', () => {
    const counted = { ...progress, tokens: 900, total_tokens: 4000 };
    expect(figuresOf(job({ progress: counted }))).toMatchObject({ tokens: 900, totalTokens: 4000 });
    const begun = { ...counted, tokens: 0 };
    expect(figuresOf(job({ progress: begun })).tokens).toBe(0);
    const unknown = { ...progress, tokens: 0, total_tokens: 0 };
    expect(figuresOf(job({ progress: unknown })).tokens).toBeUndefined();
  });

  it('have the failure, also while it recovers', () => {
    const verdict = { cause: 'rank_signaled', summary: 'rank 3 was killed' };
    const attempts = [{ number: 1, verdict }];
    expect(failureOf(job({ state: 'failed', verdict }))).toBe('rank 3 was killed');
    expect(failureOf(job({ state: 'recovering', attempts }))).toBe('rank 3 was killed');
    expect(failureOf(job({ state: 'running', attempts }))).toBeUndefined();
    expect(failureOf(job({ state: 'stopped', verdict }))).toBeUndefined();
    const lost = { ...verdict, summary: '20 steps are lost', lost_steps: 20 };
    expect(failureOf(job({ state: 'stopped', verdict: lost }))).toBe('20 steps are lost');
  });
});
