import { describe, expect, it } from 'vitest';
import {
  canStartFrom,
  cloneCommand,
  nameProblem,
  newRequestId,
  overridesOf,
  resumable,
  specForNewJob,
} from './resubmit';

describe('a job submitted again', () => {
  const spec = {
    name: 'old',
    extends: ['tiny'],
    layout: { tp: 2, dp: 8 },
    checkpoint: { dir: '/ckpt/7-old', every_steps: 5 },
  } as never;
  const origins = [
    { key: 'layout.dp', source: 'derived' },
    { key: 'checkpoint.dir', source: 'derived' },
    { key: 'train.gone', source: 'derived' },
    { key: 'layout.tp', source: '--set' },
  ];

  it('leaves out what was derived for the old one, and never shares its checkpoints', () => {
    expect(specForNewJob(spec, origins)).toEqual({
      name: 'old',
      layout: { tp: 2 },
      checkpoint: { every_steps: 5 },
    });
  });

  it('goes on from the newest sound checkpoint where that is asked for', () => {
    const checkpoint = (step: number, change: object = {}) =>
      ({ step, path: `/ckpt/it's/${step}`, deleted: false, damaged: false, ...change }) as never;
    const checkpoints = [
      checkpoint(10),
      checkpoint(20),
      checkpoint(30, { damaged: true }),
      checkpoint(40, { deleted: true }),
    ];
    const from = resumable({ checkpoints })?.path;
    expect(from).toBe("/ckpt/it's/20");
    expect(resumable({ checkpoints: [] })).toBeUndefined();
    expect(checkpoints.map(canStartFrom)).toEqual([true, true, false, false]);
    const rolledBack = checkpoint(50, { rolled_back: true });
    expect(canStartFrom(rolledBack)).toBe(true);
    expect(resumable({ checkpoints: [rolledBack] })).toBeUndefined();
    const again = { name: 'new', resumeFrom: from, changes: '' };
    expect(overridesOf(again)).toEqual(['name=new', "checkpoint.resume_from=/ckpt/it's/20"]);
    expect(cloneCommand(7, again)).toBe(
      "trainyard clone 7 name=new 'checkpoint.resume_from=/ckpt/it'\\''s/20'",
    );
  });

  it('is known by an id of its own', () => {
    expect(newRequestId(7)).toMatch(/^web-7-[0-9a-f]{16}$/);
    expect(newRequestId(7)).not.toBe(newRequestId(7));
  });

  it('has the changed settings, without empty lines', () => {
    const changes = ' optimizer.lr=3e-4\n\nenv.NOTE=a b \n';
    const newJob = { name: 'new', resumeFrom: undefined, changes };
    expect(overridesOf(newJob)).toEqual(['name=new', 'optimizer.lr=3e-4', 'env.NOTE=a b']);
    expect(cloneCommand(7, newJob)).toBe(
      "trainyard clone 7 name=new optimizer.lr=3e-4 'env.NOTE=a b'",
    );
  });

  it('has a name that the controller accepts', () => {
    expect(nameProblem('a-1')).toBeUndefined();
    expect(nameProblem("a'; rm")).toContain('lowercase letters');
  });
});
