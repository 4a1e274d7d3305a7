import { describe, expect, it } from 'vitest';
import {
  ENDED_JOBS_KEPT,
  EMPTY_LIVE_STATE,
  mergeEvents,
  reduceLive,
  withHistory,
  withNewAlerts,
  withNewerState,
  type Live,
} from './live';
import type { EventEntry, GetJobResponse, Job, Node } from './types';

const job = (id: number, change: Partial<Job> = {}) =>
  ({
    id,
    name: `job-${id}`,
    state: 'running',
    ended_time_ms: 0,
    ...change,
  }) as Job;
const entry = (sequence: number, event: object = { node_uncordoned: { node_id: 'a' } }) =>
  ({ sequence, event: { time_ms: sequence, actor: '', ...event } }) as unknown as EventEntry;
const hello = (cluster: string) =>
  ({
    kind: 'hello',
    data: {
      cluster_id: cluster,
      version: '1',
      revision: 1,
      as_of_ms: 1,
      resumed: false,
    },
  }) as const;
const jobs = (all: Job[], snapshot: boolean, pending = {}, removed: number[] = []) =>
  ({
    kind: 'jobs',
    data: { snapshot, jobs: all, pending, as_of_ms: 1, waiting: 7, placed: 2, removed },
  }) as const;
const ids = (live: Live) => [...(live.jobs?.keys() ?? [])];

describe('reduceLive', () => {
  it('does not take missing data for an empty cluster', () => {
    expect(EMPTY_LIVE_STATE.jobs).toBeUndefined();
    expect(ids(reduceLive(EMPTY_LIVE_STATE, jobs([], true)))).toEqual([]);
    expect(reduceLive(EMPTY_LIVE_STATE, jobs([], true)).jobs).toBeDefined();
  });

  it('replaces all by a snapshot and one by a change', () => {
    const first = reduceLive(EMPTY_LIVE_STATE, jobs([job(1), job(2)], true));
    const changed = reduceLive(first, jobs([job(2, { state: 'failed' })], false));
    expect(changed.jobs?.get(2)?.state).toBe('failed');
    expect(ids(changed)).toEqual([1, 2]);
    expect(ids(reduceLive(changed, jobs([job(3)], true)))).toEqual([3]);
  });

  it('takes the counts of the whole cluster, not of what it holds', () => {
    const { waiting, placed } = reduceLive(EMPTY_LIVE_STATE, jobs([job(1)], false));
    expect([waiting, placed]).toEqual([7, 2]);
  });

  it('forgets why a job waited once it does not wait', () => {
    const reason = { code: 'resources', message: 'full', queue_position: 1, advice: '' };
    const waits = reduceLive(EMPTY_LIVE_STATE, jobs([job(1)], true, { 1: reason }));
    expect(waits.pending.get(1)?.message).toBe('full');
    expect(reduceLive(waits, jobs([job(1)], false)).pending.size).toBe(0);
  });

  it('takes a new reason of a job that has not changed itself', () => {
    const reason = { code: 'queued', message: 'second', queue_position: 2, advice: '' };
    const waits = reduceLive(EMPTY_LIVE_STATE, jobs([job(1)], true, { 1: reason }));
    const next = { ...reason, message: 'first', queue_position: 1 };
    const later = reduceLive(waits, jobs([], false, { 1: next, 99: next }));
    expect(later.pending.get(1)?.message).toBe('first');
    expect(later.pending.size).toBe(1);
  });

  it('drops everything when another cluster answers', () => {
    const before = reduceLive(reduceLive(EMPTY_LIVE_STATE, hello('a')), jobs([job(1)], true));
    expect(ids(reduceLive(before, hello('a')))).toEqual([1]);
    expect(reduceLive(before, hello('b')).jobs).toBeUndefined();
  });

  it('remembers the newest revision, whatever the order', () => {
    const at = reduceLive(EMPTY_LIVE_STATE, jobs([], true), 9);
    expect(reduceLive(at, jobs([], false), 4).revision).toBe(9);
  });

  it('bounds what it holds of ended jobs, and keeps live ones', () => {
    const many = Array.from({ length: ENDED_JOBS_KEPT + 50 }, (_, index) =>
      job(index + 2, { state: 'succeeded', ended_time_ms: index + 1 }),
    );
    const live = reduceLive(EMPTY_LIVE_STATE, jobs([job(1), ...many], true));
    expect(live.jobs?.size).toBe(ENDED_JOBS_KEPT + 1);
    expect(live.jobs?.has(1)).toBe(true);
    expect(live.jobs?.has(2)).toBe(false);
  });

  it('drops deleted jobs, and remembers them for lists that hold more', () => {
    const first = reduceLive(EMPTY_LIVE_STATE, jobs([job(1), job(2)], true, { 1: {} }));
    const next = reduceLive(first, jobs([], false, {}, [1, 9]));
    expect(ids(next)).toEqual([2]);
    expect([...next.pending.keys()]).toEqual([]);
    expect([...next.deleted]).toEqual([1, 9]);
    expect([...reduceLive(next, jobs([job(3)], false)).deleted]).toEqual([1, 9]);
  });

  it('takes nodes as it takes jobs', () => {
    const nodes = (all: Partial<Node>[], snapshot: boolean, removed: string[] = []) =>
      ({ kind: 'nodes', data: { snapshot, nodes: all as Node[], as_of_ms: 1, removed } }) as const;
    const first = reduceLive(EMPTY_LIVE_STATE, nodes([{ id: 'a', state: 'ready' }], true));
    const next = reduceLive(first, nodes([{ id: 'a', state: 'lost' }], false));
    expect(next.nodes?.get('a')?.state).toBe('lost');
    expect(reduceLive(next, nodes([], false, ['a'])).nodes?.size).toBe(0);
  });
});

it('merges events newest first, each once', () => {
  const merged = mergeEvents([entry(3), entry(1)], [entry(2), entry(3)]);
  expect(merged.map(({ sequence }) => sequence)).toEqual([3, 2, 1]);
});

it('keeps what happened before a gang of ranks began', () => {
  const ranks = Array.from({ length: 1_024 }, (_, rank) =>
    entry(10 + rank, { rank_started: { job_id: 1, attempt: 1, rank } }),
  );
  const facts = Array.from({ length: 500 }, (_, n) => entry(2_000 + n, { facts_received: {} }));
  const kept = mergeEvents(mergeEvents([entry(1)], ranks), facts);
  expect(kept.map(({ sequence }) => sequence)).toEqual([1_033, 1]);
});

describe('the open job', () => {
  const alert = { sequence: 5, time_ms: 1, attempt: 1, step: 9, code: 'nan_loss', message: 'm' };
  const open = (id: number, change: object = {}) =>
    ({ job: job(id), events: [], alerts: [], ...change }) as unknown as GetJobResponse;
  const raised = (sequence: number, jobId: number) =>
    ({
      sequence,
      event: {
        time_ms: 2,
        actor: 'rank 0',
        alert_raised: { job_id: jobId, attempt: 1, step: 9, code: 'loss_spike', message: 'm' },
      },
    }) as unknown as EventEntry;

  it('keeps alerts and old progress, which the stream does not tell', () => {
    const progress = { step: 3 } as Job['progress'];
    const held = open(1, { job: job(1, { progress }), alerts: [alert] });
    const update = withHistory(open(1, { job: job(1, { state: 'failed' }) }), held);
    expect(update.alerts).toEqual([alert]);
    expect(update.job?.state).toBe('failed');
    expect(update.job?.progress?.step).toBe(3);
    expect(withHistory(open(2), held).alerts).toEqual([]);
  });

  it('is not set back by an answer that the stream has overtaken', () => {
    const update = open(1, { revision: 9, job: job(1, { state: 'stopped' }) });
    const answer = open(1, { revision: 8, alerts: [alert], job: job(1, { state: 'stopping' }) });
    expect(withNewerState(answer, update).job?.state).toBe('stopped');
    expect(withNewerState(answer, update).alerts).toEqual([alert]);
    expect(withNewerState({ ...answer, revision: 9 }, update).job?.state).toBe('stopping');
    expect(withNewerState(open(2, { revision: 1 }), update).job?.id).toBe(2);
  });

  it('takes new alerts of its own once', () => {
    const held = open(1, { alerts: [alert] });
    const next = withNewAlerts(held, [raised(5, 1), raised(6, 1), raised(7, 2)]);
    expect(next.alerts.map(({ sequence }) => sequence)).toEqual([5, 6]);
    expect(withNewAlerts(held, [raised(5, 1)])).toBe(held);
  });
});
