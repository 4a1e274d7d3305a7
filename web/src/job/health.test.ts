import { describe, expect, it } from 'vitest';
import type { HealthFinding, HealthWord, Job } from '../api/types';
import {
  attentionLook,
  hasFinding,
  headline,
  isSick,
  ranksAtFault,
  sinceText,
  worstFirst,
} from './health';

const finding = (change: Partial<HealthFinding> = {}): HealthFinding => ({
  word: 'stalled',
  since_ms: 0,
  ranks: [],
  node: '',
  message: 'no rank has made progress since step 7',
  advice: '',
  ...change,
});
const job = (id: number, word?: HealthWord) =>
  ({
    id,
    state: 'running',
    ...(word ? { health: { word, findings: [finding({ word })], steps_at_risk: 0 } } : {}),
  }) as Job;
const ids = (jobs: Job[]) => jobs.map(({ id }) => id);

describe('health of a job', () => {
  it('orders the words, and keeps the order of jobs that are equally well', () => {
    const words: HealthWord[] = [
      'healed',
      'stalled',
      'ok',
      'slow',
      'looping',
      'unsaved',
      'diverging',
    ];
    const jobs = [job(9), ...words.map((word, index) => job(index, word)), job(8, 'stalled')];
    expect(ids(worstFirst(jobs))).toEqual([1, 8, 6, 4, 5, 3, 0, 2, 9]);
  });

  it('needs attention from slow on; a healed job has a finding only', () => {
    const words: HealthWord[] = ['ok', 'healed', 'slow', 'unsaved', 'looping', 'diverging'];
    expect(words.filter((word) => !isSick(job(1, word)))).toEqual(['ok', 'healed']);
    expect(words.filter((word) => !hasFinding(job(1, word)))).toEqual(['ok']);
    expect([isSick(job(1)), hasFinding(job(1))]).toEqual([false, false]);
    expect(attentionLook(job(1, 'slow'))).toMatchObject({ word: 'slow', tone: 'warn' });
    expect(attentionLook(job(1, 'healed'))).toBeUndefined();
  });

  it('has the state and the sentence in the title of its badge', () => {
    const text = 'running, stalled: no rank has made progress since step 7';
    expect(headline(job(1, 'stalled'))).toBe(text);
    expect(headline(job(1))).toBeUndefined();
  });
});

describe('a finding', () => {
  it('names the ranks at fault and the node of the first one', () => {
    expect(ranksAtFault(finding())).toBeUndefined();
    expect(ranksAtFault(finding({ ranks: [3], node: 'node-6' }))).toBe('Rank 3 on node-6');
    expect(ranksAtFault(finding({ ranks: [3, 1, 2] }))).toBe('Rank 3 and 2 more');
  });

  it('has its duration if its beginning is known', () => {
    expect(sinceText(1_000, 253_000)).toBe('for 4m 12s');
    expect(sinceText(9_000, 1_000)).toBe('for 0 s');
    expect(sinceText(0, 253_000)).toBe('');
  });
});
