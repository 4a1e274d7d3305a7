import { describe, expect, it } from 'vitest';
import type { EventEntry } from '../api/types';
import { foldEvents, lineText, newestOf, withFirstPage } from './fold_events';

const entry = (sequence: number, event: object) =>
  ({ sequence, event: { time_ms: sequence, actor: 'node a', ...event } }) as EventEntry;
const started = (sequence: number, rank: number, epoch = 1) =>
  entry(sequence, { rank_started: { job_id: 7, epoch, rank } });
const exited = (sequence: number, rank: number, change: object = {}) => {
  const clean = { exit_code: 0, signal: 0, out_of_memory: false, spawn_error: '' };
  return entry(sequence, { rank_exited: { job_id: 7, epoch: 1, rank, ...clean, ...change } });
};
const running = (sequence: number, job = 7) =>
  entry(sequence, { attempt_running: { job_id: job, epoch: 1 } });
const quiet = (sequence: number) => entry(sequence, { attempt_cleared: { job_id: 7, epoch: 1 } });
const texts = (entries: readonly EventEntry[]) =>
  foldEvents(entries).map((line) => lineText(line)?.text);

describe('foldEvents', () => {
  it('tells the starts of a gang in one line, where the newest of them stands', () => {
    const ranks = Array.from({ length: 128 }, (_, rank) => started(10 + rank, rank));
    const lines = foldEvents([running(5), ...ranks, running(200)]);
    expect(lines.map(({ sequence }) => sequence)).toEqual([200, 137, 5]);
    expect(texts(ranks)).toEqual(['128 ranks started']);
    expect(texts([started(1, 3)])).toEqual(['rank 3 started']);
  });

  it('keeps attempts and ends that differ apart', () => {
    expect(texts([started(1, 0), started(2, 1), started(3, 0, 2)])).toEqual([
      'rank 0 started',
      '2 ranks started',
    ]);
    const killed = { signal: 9 };
    const ends = [
      exited(1, 5, { ...killed, out_of_memory: true }),
      exited(2, 0, killed),
      exited(3, 1, killed),
      exited(4, 2),
    ];
    expect(texts(ends)).toEqual([
      'rank 2 exited with 0',
      '2 ranks ended by signal 9',
      'rank 5 killed: out of memory',
    ]);
  });

  it('counts no rank twice, however often a stream repeats itself', () => {
    const once = foldEvents([started(1, 0), started(2, 1)]);
    expect(foldEvents([...once, started(2, 1), started(1, 0)])).toEqual(once);
    expect(lineText(foldEvents([...once, started(3, 2)])[0]!)?.text).toBe('3 ranks started');
  });

  it('leaves out what nobody reads', () => {
    expect(foldEvents([quiet(1)])).toEqual([]);
  });
});

it('finds the newest event of a job', () => {
  const lines = foldEvents([running(9, 8), running(4), running(3)]);
  expect(newestOf(lines, 7)).toBe(4);
  expect(newestOf(lines, 1)).toBe(0);
});

describe('a first page read anew', () => {
  it('joins what is held where the two meet', () => {
    const { entries, gap } = withFirstPage([running(3), running(2)], [running(4), running(3)]);
    expect(entries.map(({ sequence }) => sequence)).toEqual([4, 3, 2]);
    expect(gap).toBe(false);
  });

  it('does not hide a hole between the page and what is held', () => {
    const { entries, gap } = withFirstPage([running(3)], [running(9), running(8)]);
    expect(entries.map(({ sequence }) => sequence)).toEqual([9, 8]);
    expect(gap).toBe(true);
  });
});
