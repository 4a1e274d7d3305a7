import { describe, expect, it } from 'vitest';
import type { EventEntry } from '../api/types';
import { isShown } from './event_filter';
import { foldEvents } from './fold_events';
import { groupLines } from './group_lines';

const SECOND = 1_000;
const entry = (sequence: number, event: object) =>
  ({
    sequence,
    event: { time_ms: sequence * SECOND, actor: 'controller', ...event },
  }) as EventEntry;

const verdict = (rank: number) => ({
  ...{ cause: 'rank_exited', rank, exit_code: 1, signal: 0, error_line: '' },
  summary: `rank ${rank} exited with code 1`,
});
// The events of one failure of `attempt`, and of the start of the next attempt.
function restart(first: number, attempt: number): EventEntry[] {
  const [job_id, next] = [7, attempt + 1];
  const clean = { signal: 0, out_of_memory: false, spawn_error: '' };
  return [
    entry(first, { rank_exited: { job_id, attempt, rank: 0, exit_code: 1, ...clean } }),
    entry(first + 1, { attempt_failed: { job_id, attempt, verdict: verdict(attempt % 4) } }),
    entry(first + 2, { rank_exited: { job_id, attempt, rank: 1, exit_code: 143, ...clean } }),
    entry(first + 3, { attempt_ended: { job_id, attempt } }),
    entry(first + 4, { job_placed: { job_id, attempt: next, ranks: [{}, {}], resume_step: 2000 } }),
    entry(first + 5, { rank_started: { job_id, attempt: next, rank: 0 } }),
    entry(first + 6, { attempt_running: { job_id, attempt: next } }),
  ];
}

const itemsOf = (entries: EventEntry[]) => groupLines(foldEvents(entries));
const textsOf = (entries: EventEntry[]) =>
  itemsOf(entries).map(({ described, parts }) => [described.text, parts.length]);

describe('groupLines', () => {
  it('makes one entry of a restart', () => {
    expect(textsOf(restart(10, 1))).toEqual([
      [
        'attempt 1 failed: rank 1 exited with code 1; ' +
          'restarted from step 2,000 in 5.0 s (attempt 2)',
        7,
      ],
    ]);
    expect(textsOf(restart(10, 1).slice(0, 5))[0]![0]).toMatch(
      /; restarting from step 2,000 \(attempt 2\)$/,
    );
    expect(textsOf(restart(10, 1).slice(0, 3))).toEqual([
      ['attempt 1 failed: rank 1 exited with code 1', 3],
    ]);
  });

  it('keeps other events of the job, and attempts that did not fail, apart', () => {
    const alert = { job_id: 7, attempt: 2, code: 'stalled', step: 5, message: 'm' };
    const first = entry(1, { attempt_running: { job_id: 7, attempt: 1 } });
    const all = [first, ...restart(10, 1), entry(30, { alert_raised: alert })];
    expect(textsOf(all).map(([text]) => text)).toEqual([
      'stalled at step 5: m',
      expect.stringContaining('restarted'),
      'attempt 1 running',
    ]);
  });

  it('makes one entry of equal restarts in a row', () => {
    const crashes = Array.from({ length: 21 }, (_, index) => restart(index * 10, index + 1));
    const [only, ...others] = itemsOf(crashes.flat());
    expect(others).toEqual([]);
    expect(only!.described.text).toMatch(/^21 equal failures since attempt 1; newest: attempt 21/);
    expect(only!.parts).toHaveLength(21 * 7);
    expect(textsOf(crashes.slice(0, 2).flat())).toHaveLength(2);
  });

  it('makes one entry of many nodes that reconnect together', () => {
    const back = (sequence: number) =>
      entry(sequence, { node_returned: { node_id: `node-${sequence}` } });
    const nodes = Array.from({ length: 40 }, (_, index) => back(100 + index));
    const other = entry(120.5, { node_cordoned: { node_id: 'node-1', reason: '' } });
    expect(textsOf([...nodes, other])).toEqual([
      ['40 nodes reconnected', 40],
      ['cordoned', 0],
    ]);
    expect(textsOf([back(100), back(101)])).toHaveLength(2);
    expect(textsOf([back(1), back(2), back(300), back(301)])).toHaveLength(4);
  });
});

describe('isShown', () => {
  const named = () => 'llama #7';
  const shown = (kind: Parameters<typeof isShown>[1]['kind'], text = '') =>
    foldEvents(restart(10, 1))
      .filter((line) => isShown(line, { kind, text }, named))
      .map(({ sequence }) => sequence);

  it('filters by kind', () => {
    expect(shown('all')).toHaveLength(7);
    expect(shown('attempts')).toHaveLength(7);
    expect(shown('problems')).toEqual([12, 11, 10]);
    expect(shown('nodes')).toEqual([]);
  });

  it('finds every word in the text, the name or the actor', () => {
    expect(shown('all', 'EXITED 143')).toEqual([12]);
    expect(shown('all', 'llama placed')).toEqual([14]);
    expect(shown('all', 'controller')).toHaveLength(7);
  });
});
