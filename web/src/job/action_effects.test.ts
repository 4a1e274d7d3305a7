import { describe, expect, it } from 'vitest';
import type { Job } from '../api/types';
import { killEffect, pauseEffect, resumeText, stopEffect } from './action_effects';

const NOW = 10_000_000;

// A job at step 3,418 whose newest checkpoint has step 80, with one finding.
const job = (word: string, change: object = {}): Job =>
  ({
    id: 7,
    state: 'running',
    attempts: [{ number: 1, last_step: 3_418 }],
    checkpoints: [],
    progress: { step: 3_418 },
    health: {
      word,
      findings: word === 'ok' ? [] : [{ word }],
      steps_at_risk: 3_338,
      saved_step: 80,
      at_risk_since_ms: NOW - 1_690_000,
    },
    ...change,
  }) as unknown as Job;

const saved = (steps: number) => ({
  health: { word: 'ok', findings: [], steps_at_risk: 0, saved_step: steps, at_risk_since_ms: 0 },
});

describe('a stop', () => {
  it('names the steps that it loses while checkpoints fail', () => {
    const effect = stopEffect(job('unsaved'), NOW);
    expect(effect.warning).toBe(
      'Checkpoints have failed since step 80: stopping now loses 3,338 steps (28m 10s of work).',
    );
    expect([effect.button, effect.danger]).toEqual(['Stop and lose 3,338 steps', true]);
  });

  it('warns that a stalled gang may be unable to save', () => {
    const effect = stopEffect(job('stalled'), NOW);
    expect(effect.warning).toContain('stopping now may lose 3,338 steps');
    expect([effect.button, effect.danger]).toEqual(['Stop job', true]);
  });

  it('names the steps that its checkpoint keeps', () => {
    const effect = stopEffect(job('ok'), NOW);
    expect(effect.warning).toBeUndefined();
    expect(effect.text).toContain('saves a checkpoint with the 3,338 steps since step 80, then');
    expect([effect.button, effect.danger]).toEqual(['Save and stop', false]);
  });

  it('promises no steps for a job without health', () => {
    const effect = stopEffect(job('ok', { health: undefined }), NOW);
    expect(effect.text).toContain('The job saves a checkpoint, then stops.');
  });

  it('says that the failure began with the job when there is no checkpoint', () => {
    const health = { ...job('unsaved').health, saved_step: 0, steps_at_risk: 1 };
    const effect = stopEffect(job('unsaved', { health }), NOW);
    expect(effect.warning).toContain('failed since the start: stopping now loses 1 step (');
  });
});

describe('a kill', () => {
  it('names the steps at risk and how long they took', () => {
    expect(killEffect(job('ok'), NOW).warning).toBe(
      'Killing now loses 3,338 steps (28m 10s of work) since step 80.',
    );
  });

  it('says that nothing is lost right after a checkpoint', () => {
    const effect = killEffect(job('ok', saved(3_418)), NOW);
    expect(effect.warning).toBeUndefined();
    expect(effect.text).toContain('the newest checkpoint contains step 3,418');
  });

  it('knows no steps while the job stops', () => {
    const stopping = job('ok', { state: 'stopping', health: undefined });
    expect(killEffect(stopping, NOW).warning).toBe('Progress since the last checkpoint is lost.');
    expect(killEffect({ ...stopping, attempts: [] }, NOW).warning).toBeUndefined();
  });
});

describe('a pause', () => {
  it('names what it loses or keeps', () => {
    expect(pauseEffect(job('unsaved'), NOW)).toMatchObject({
      verb: 'Pause',
      button: 'Pause and lose 3,338 steps',
      danger: true,
    });
    expect(pauseEffect(job('ok'), NOW).text).toContain('with the 3,338 steps since step 80 and');
  });

  it('holds a job that never started', () => {
    const queued = job('ok', { state: 'queued', attempts: [], health: undefined });
    expect(pauseEffect(queued, NOW)).toMatchObject({ verb: 'Hold', button: 'Hold job' });
  });
});

describe('a resume', () => {
  const checkpoint = (step: number) => ({ step, path: `/c/${step}` });

  it('names the checkpoint and the steps that are redone', () => {
    const checkpoints = [checkpoint(80), checkpoint(3_400)];
    expect(resumeText(job('ok', { checkpoints }))).toBe(
      'The job returns to its place in the queue. It continues from the checkpoint at step ' +
        '3,400. The 18 steps after it are redone.',
    );
    expect(resumeText(job('ok', { checkpoints: [checkpoint(3_418)] }))).not.toContain('redone');
  });

  it('names the start of a job without a checkpoint', () => {
    expect(resumeText(job('ok'))).toContain('It starts at step 0.');
    const spec = { checkpoint: { resume_from: '/other/9' } };
    expect(resumeText(job('ok', { spec }))).toContain('It starts from /other/9.');
  });
});
