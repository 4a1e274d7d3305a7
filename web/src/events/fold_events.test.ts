import { describe, expect, it } from 'vitest';
import type { EventEntry } from '../api/types';
import { foldEvents, lineText, newestOf, withFirstPage } from './fold_events';

const entry = (sequence: number, event: object) =>
  ({ sequence, event: { time_ms: sequence, actor: 'node a', ...event } }) as EventEntry;
const started = (sequence: number, rank: number, attempt = 1) =>
  entry(sequence, { rank_started: { job_id: 7, attempt, rank } });
const exited = (sequence: number, rank: number, change: object = {}) => {
  const clean = { exit_code: 0, signal: 0, out_of_memory: false, spawn_error: '' };
  return entry(sequence, { rank_exited: { job_id: 7, attempt: 1, rank, ...clean, ...change } });
};
const running = (sequence: number, job = 7) =>
  entry(sequence, { attempt_running: { job_id: job, attempt: 1 } });
const saved = (sequence: number, step: number, job = 7, attempt = 1) =>
  entry(sequence, {
    checkpoint_published: { job_id: job, checkpoint: { step, attempt, bytes: 1024 } },
  });
// An internal event, which lists do not show.
const quiet = (sequence: number) => entry(sequence, { attempt_cleared: { job_id: 7, attempt: 1 } });
const texts = (entries: readonly EventEntry[]) =>
  foldEvents(entries).map((line) => lineText(line)?.text);

describe('foldEvents', () => {
  it('shows the starts of a gang in one line, at the place of the newest', () => {
    const ranks = Array.from({ length: 128 }, (_, rank) => started(10 + rank, rank));
    const lines = foldEvents([running(5), ...ranks, running(200)]);
    expect(lines.map(({ sequence }) => sequence)).toEqual([200, 137, 5]);
    expect(texts(ranks)).toEqual(['128 ranks started']);
    expect(texts([started(1, 3)])).toEqual(['rank 3 started']);
  });

  it('merges neither starts of different attempts nor different kinds of exit', () => {
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
      'rank 2 exited with code 0',
      '2 ranks terminated by signal 9',
      'rank 5 killed: out of memory',
    ]);
  });

  it('keeps exits after a stop request apart from failures', () => {
    const ended = (sequence: number, rank: number, stop_requested: boolean) =>
      exited(sequence, rank, { exit_code: 143, stop_requested });
    expect(texts([ended(1, 0, false), ended(2, 1, true), ended(3, 2, true)])).toEqual([
      '2 ranks exited with code 143 after the stop request',
      'rank 0 exited with code 143',
    ]);
  });

  it('counts no rank twice, however often a stream repeats itself', () => {
    // Folded lines can be folded again together with new events.
    const once = foldEvents([started(1, 0), started(2, 1)]);
    expect(foldEvents([...once, started(2, 1), started(1, 0)])).toEqual(once);
    expect(lineText(foldEvents([...once, started(3, 2)])[0]!)?.text).toBe('3 ranks started');
  });

  it('shows consecutive checkpoints of a job in one line, at the place of the newest', () => {
    // The events of two jobs, alternating.
    const rows = [
      ...[saved(1, 500), saved(3, 1000), saved(5, 1500)],
      ...[saved(2, 500, 8), saved(6, 1000, 8)],
    ];
    expect(texts(rows)).toEqual([
      '2 checkpoints from step 500, latest at step 1000, 1.0 KiB',
      '3 checkpoints from step 500, latest at step 1500, 1.0 KiB',
    ]);
    expect(foldEvents(rows).map(({ sequence }) => sequence)).toEqual([6, 5]);
    expect(texts([saved(1, 500)])).toEqual(['checkpoint at step 500, 1.0 KiB']);
  });

  it('does not merge checkpoints with another event of their job in between', () => {
    // running(3) separates checkpoints of its job, 7. running(5, 8) does not, because it belongs to
    // job 8.
    const rows = [saved(1, 500), saved(2, 1000), running(3), saved(4, 1500), running(5, 8)];
    const folded = foldEvents([...rows, saved(6, 2000)]);
    expect(folded.map(({ sequence }) => sequence)).toEqual([6, 5, 3, 2]);
    expect(foldEvents([...folded, running(3), saved(6, 2000)])).toEqual(folded);
    // Checkpoints of different attempts are not folded together.
    expect(texts([saved(1, 500, 7, 1), saved(2, 500, 7, 2)])).toHaveLength(2);
  });

  it('shows the reconnects of one worker in one line, until something else happens to it', () => {
    const lost = (sequence: number, node = 'a') =>
      entry(sequence, { node_suspected: { node_id: node } });
    const back = (sequence: number, node = 'a') =>
      entry(sequence, { node_returned: { node_id: node } });
    const joined = (sequence: number) =>
      entry(sequence, { node_joined: { node: { id: 'a', inventory: { slots: [{}, {}] } } } });
    const flaps = [lost(1), back(2), lost(4), back(5), joined(7)];
    const others = [lost(3, 'b'), back(6, 'b')];
    expect(texts([...flaps, ...others])).toEqual([
      'joined with 2 slots (connected 3 times)',
      'reconnected',
    ]);
    expect(texts([...flaps, lost(8)])).toEqual(['no heartbeat (connected 3 times)']);
    const cordoned = entry(6, { node_cordoned: { node_id: 'a', reason: '' } });
    expect(texts([...flaps, cordoned])).toEqual([
      'joined with 2 slots',
      'cordoned',
      'reconnected (2 times)',
    ]);
    const folded = foldEvents([...flaps, ...others, cordoned]);
    expect(foldEvents([...folded, back(5), cordoned])).toEqual(folded);
  });

  it('shows equal alerts at one step in one line', () => {
    const alert = (sequence: number, step: number, code = 'checkpoint_failed') =>
      entry(sequence, { alert_raised: { job_id: 7, attempt: 1, code, step, message: 'full' } });
    const rows = [saved(1, 40), alert(2, 80), alert(3, 80), alert(4, 120), alert(5, 80, 'stalled')];
    expect(texts([...rows, saved(6, 160)])).toEqual([
      'checkpoint at step 160, 1.0 KiB',
      'stalled at step 80: full',
      'checkpoint failed at step 120: full',
      'checkpoint failed at step 80: full (reported 2 times)',
      'checkpoint at step 40, 1.0 KiB',
    ]);
    const folded = foldEvents(rows);
    expect(foldEvents([...folded, alert(2, 80)])).toEqual(folded);
  });

  it('leaves out quiet events', () => {
    expect(foldEvents([quiet(1)])).toEqual([]);
  });
});

it('finds the sequence of the newest event of a job, 0 when there is none', () => {
  const lines = foldEvents([running(9, 8), running(4), running(3)]);
  expect(newestOf(lines, 7)).toBe(4);
  expect(newestOf(lines, 1)).toBe(0);
});

describe('withFirstPage, for a first page that is read again', () => {
  it('joins it with the entries held, where the two overlap', () => {
    const held = [running(3), running(2)];
    const { entries, gap } = withFirstPage(held, [running(4), running(3)]);
    expect(entries.map(({ sequence }) => sequence)).toEqual([4, 3, 2]);
    expect(gap).toBe(false);
  });

  it('drops the entries held and reports a gap, where the two do not overlap', () => {
    const held = [running(3)];
    const { entries, gap } = withFirstPage(held, [running(9), running(8)]);
    expect(entries.map(({ sequence }) => sequence)).toEqual([9, 8]);
    expect(gap).toBe(true);
  });
});
