import { describe, expect, it } from 'vitest';
import type { Job, Node } from '../api/types';
import { attentionGroups, type AttentionView } from './attention_items';

const HOUR = 3_600_000;
const NOW = 100 * HOUR;

const job = (id: number, change: object = {}) =>
  ({
    id,
    name: `job-${id}`,
    state: 'running',
    attempts: [],
    restarts: 0,
    ended_time_ms: 0,
    ...change,
  }) as unknown as Job;
const node = (name: string, change: object = {}) =>
  ({ id: name, name, word: 'ok', state: 'ready', state_reason: '', ...change }) as Node;
const sick = (word: string, change: object = {}) => ({
  health: {
    word,
    steps_at_risk: 0,
    findings: [
      { word, since_ms: 5, ranks: [], node: '', message: `is ${word}`, advice: '', ...change },
    ],
  },
});
const budget = (restarts: number, max: number) => ({
  restarts,
  spec: { restart: { max_restarts: max } },
});

const groupsOf = (view: Partial<AttentionView>) =>
  attentionGroups({ jobs: [], nodes: [], server: undefined, nowMs: NOW, ...view });
const texts = (view: Partial<AttentionView>) =>
  groupsOf(view).flatMap(({ items }) =>
    items.map(({ look, name, text }) => `${look?.word ?? 'node'} ${name}: ${text}`),
  );

describe('what needs attention', () => {
  it('is nothing where all is well', () => {
    expect(groupsOf({ jobs: [job(1), job(2, sick('ok'))], nodes: [node('a')] })).toEqual([]);
    expect(groupsOf({ jobs: [job(1, sick('healed'))] })).toEqual([]);
  });

  it('are sick jobs, the worst first, with the rank at fault', () => {
    const stalled = job(2, sick('stalled', { ranks: [3], node: 'node-6' }));
    expect(texts({ jobs: [job(1, sick('slow')), stalled] })).toEqual([
      'stalled job-2: is stalled',
      'slow job-1: is slow',
    ]);
    expect(groupsOf({ jobs: [stalled] })[0]?.items[0]).toMatchObject({
      href: '/jobs/2',
      sinceMs: 5,
      ranks: { text: 'Rank 3 on node-6', href: '/jobs/2/ranks?rank=3' },
    });
  });

  it('are jobs that failed within a day, the newest first', () => {
    const failed = (id: number, hours: number) =>
      job(id, {
        state: 'failed',
        ended_time_ms: NOW - hours * HOUR,
        verdict: { summary: `${hours} h` },
      });
    expect(texts({ jobs: [failed(1, 25), failed(2, 23), failed(3, 1)] })).toEqual([
      'failed job-3: 1 h',
      'failed job-2: 23 h',
    ]);
  });

  it('are nodes with their problem, the worst first', () => {
    const nodes = [
      node('a', { word: 'cordoned', cordon_reason: 'ECC errors' }),
      node('b'),
      node('c', { word: 'unhealthy', health: { reason: 'no start', since_ms: 7 } }),
      node('d', {
        word: 'quarantined',
        health: { reason: 'x', since_ms: 7, quarantine: { reason: 'blamed twice', since_ms: 8 } },
      }),
      node('e', { word: 'suspect', state: 'suspect', state_reason: 'no heartbeat' }),
      node('f', {
        word: 'lost',
        state: 'lost',
        state_reason: 'no heartbeat',
        last_heartbeat_ms: 3,
      }),
      node('g', { word: 'cordoned', cordon_reason: '' }),
    ];
    expect(texts({ nodes })).toEqual([
      'node f: no heartbeat',
      'node e: no heartbeat',
      'node d: blamed twice',
      'node c: no start',
      'node a: ECC errors',
      'node g: no new ranks are placed here',
    ]);
    const items = groupsOf({ nodes })[0]?.items ?? [];
    expect(items.map(({ sinceMs }) => sinceMs)).toEqual([0, 0, 8, 7, 0, 0]);
    expect(items[0]?.atMs).toBe(3);
  });

  it('are restart budgets that run out, unless the job is looping or has ended', () => {
    const jobs = [
      job(1, budget(15, 20)),
      job(2, budget(16, 20)),
      job(3, budget(5, 5)),
      job(4, { ...budget(20, 20), ...sick('looping') }),
      job(5, { ...budget(20, 20), state: 'succeeded' }),
      job(6, { restarts: 3 }),
    ];
    expect(texts({ jobs })).toEqual([
      'looping job-4: is looping',
      'restarts job-2: 16 of 20 restarts used; 4 left before the job fails',
      'restarts job-3: 5 of 5 restarts used; the next failure ends the job',
    ]);
  });

  it('are problems of the controller first, and its warnings last', () => {
    const server = {
      storage_problems: [
        { store: 'logs', message: 'disk is full', since_ms: 9 },
        { store: 'events', message: 'disk is full', since_ms: 9 },
      ],
      warnings: ['port 7070 is open to anybody'],
    };
    const [first, second, ...rest] = texts({ server, jobs: [job(1, sick('slow'))] });
    expect(first).toBe('storage logs store of the controller: disk is full');
    expect(second).toMatch(/disk is full\. Jobs cannot be submitted/);
    expect(rest).toEqual([
      'slow job-1: is slow',
      'warning controller: port 7070 is open to anybody',
    ]);
  });
});
