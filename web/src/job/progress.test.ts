import { describe, expect, it } from 'vitest';
import type { JsonNumber } from '../api/types';
import { failureOf, figuresOf, oldLossText, restartsText, shapeText, stepAge } from './progress';

describe('figures of a job', () => {
  const progress = { step: 9, time_ms: 100_000, step_seconds: 8 };
  const job = (change: object) =>
    ({ state: 'running', attempts: [], progress, ...change }) as never;

  it('have the time of the last step while it runs, late once the controller says stalled', () => {
    expect(stepAge(job({}))).toEqual({ timeMs: 100_000, late: false });
    expect(stepAge(job({ health: { word: 'slow', findings: [] } }))?.late).toBe(false);
    expect(stepAge(job({ health: { word: 'stalled', findings: [] } }))?.late).toBe(true);
    expect(stepAge(job({ state: 'failed' }))).toBeUndefined();
    expect(stepAge(job({ progress: { ...progress, step: 0 } }))).toBeUndefined();
  });

  it('have no rate and no time left where the controller sends none', () => {
    const old = { ...progress, tokens_per_second: 0, eta_seconds: 0 };
    const now = { ...progress, tokens_per_second: 900, eta_seconds: 60 };
    const none = { tokensPerSecond: undefined, etaSeconds: undefined, isCurrent: false };
    expect(figuresOf(job({ progress: old }))).toMatchObject(none);
    expect(figuresOf(job({ progress: now }))).toMatchObject({ etaSeconds: 60, isCurrent: true });
    expect(figuresOf(job({ progress: old, state: 'failed' })).isCurrent).toBe(true);
  });

  it('have the step of a loss that is older than the newest step', () => {
    const at = (step: number, lossStep: number) =>
      oldLossText(job({ progress: { step, loss_step: lossStep } }));
    expect(at(1500, 1480)).toBe('(step 1,480)');
    expect(at(1500, 1500)).toBeUndefined();
    expect(at(1500, 0)).toBeUndefined();
    expect(oldLossText({})).toBeUndefined();
  });

  it('have the nodes of an elastic job', () => {
    const spec = { resources: { nodes: 8, slots_per_node: 4, device: 'gpu' } };
    const elastic = { ...spec, min_nodes: 2 };
    expect(shapeText(job({ spec }))).toBe('8 × 4 gpu');
    expect(shapeText(job({ spec: elastic }))).toBe('2..8 × 4 gpu');
    const attempts = [{ number: 1, layout: { nodes: 6 } }];
    expect(shapeText(job({ spec: elastic, attempts }))).toBe('6 of 2..8 × 4 gpu');
  });

  it('have the used part of the restart budget', () => {
    const budget = { restart: { max_restarts: 20 } };
    expect(restartsText(job({ restarts: 8, spec: budget }))).toBe('8 of 20 restarts');
    expect(restartsText(job({ restarts: 0, spec: budget }))).toBe('no restarts');
    expect(restartsText(job({ restarts: 1 }))).toBe('1 restart');
  });

  it('have the newest loss on evaluation sets of any name', () => {
    const text = (change: object) =>
      figuresOf(job({ progress: { ...progress, ...change } })).evaluations;
    const set = (name: string, loss: JsonNumber) => ({ data_set: name, step: 9, loss });
    expect(text({})).toBeUndefined();
    expect(text({ validation_loss: 2.31, evaluations: [] })).toBe('validation 2.3100');
    expect(text({ evaluations: [set('code', 1.08), set('val', 2.31)] })).toBe(
      'code 1.0800, validation 2.3100',
    );
    const many = ['a', 'b', 'c', 'd', 'e'].map((name) => set(name, 1));
    expect(text({ evaluations: [set('val', 'NaN')] })).toBe('validation NaN');
    expect(text({ evaluations: many })).toBe('a 1.0000, b 1.0000, c 1.0000, +2 sets');
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
