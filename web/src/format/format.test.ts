import { describe, expect, it } from 'vitest';
import type { EventEntry } from '../api/types';
import { eventText, isInternal } from './event_text';
import { bytes, count, measured, percent, plural, short } from './numbers';
import { rateChangeText } from './rate_change';
import { ago, duration } from './time';

describe('numbers', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [999.6, '1k'],
    [1234, '1.23k'],
    [512_300, '512k'],
    [1_000_000, '1M'],
    [13_018_071_040, '13B'],
    [-1500, '−1.5k'],
    [NaN, '—'],
  ])('short(%d) is %s', (value, text) => expect(short(value)).toBe(text));

  it.each([
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [96.4e9, '89.8 GiB'],
    [1e12, '931 GiB'],
  ])('bytes(%d) is %s', (value, text) => expect(bytes(value)).toBe(text));

  it.each([
    [2.31271, '2.3127'],
    [0, '0'],
    [3e-4, '3.00e-4'],
    [12.3456, '12.35'],
    [123.45, '123.5'],
    [54_321, '54,321'],
    [1.5e9, '1.50e9'],
    [undefined, '—'],
    [null, '—'],
  ])('measured(%s) is %s', (value, text) => expect(measured(value)).toBe(text));

  it('says one and many', () => {
    expect(plural(1, 'node')).toBe('1 node');
    expect(plural(1200, 'node')).toBe('1,200 nodes');
    expect(percent(0.8235)).toBe('82.3 %');
    expect(count(undefined)).toBe('—');
  });
});

describe('times', () => {
  it.each([
    [0, '0 s'],
    [0.0042, '4.2 ms'],
    [0.35, '350 ms'],
    [8.19, '8.2 s'],
    [59.6, '1m 00s'],
    [3599.7, '1h 00m'],
    [7800, '2h 10m'],
    [187_200, '2d 04h'],
    [-1, '—'],
  ])('duration(%d) is %s', (seconds, text) => expect(duration(seconds)).toBe(text));

  it('takes a clock that is ahead for now', () => {
    expect(ago(2_000, 1_000)).toBe('now');
    expect(ago(1_000, 91_000)).toBe('1m ago');
    expect(ago(0, 91_000)).toBe('—');
  });
});

describe('events', () => {
  const head = { time_ms: 1, actor: 'controller', actor_verified: false, leader_term: 7 };
  const entry = (event: object): EventEntry =>
    ({ sequence: 1, event: { ...head, ...event } }) as EventEntry;

  it('tells what happened and to whom', () => {
    const shown = eventText(
      entry({
        rank_exited: {
          job_id: 7,
          attempt: 1,
          rank: 3,
          exit_code: 0,
          signal: 9,
          out_of_memory: true,
          spawn_error: '',
          start_fault: 'unspecified',
          limit_exceeded: '',
          log_tail: '',
          stacks: '',
          time_ms: 1,
        },
      }).event!,
    );
    expect(shown).toMatchObject({ text: 'rank 3 killed: out of memory', tone: 'bad', jobId: 7 });
  });

  it('tells that a node takes no new ranks, and why', () => {
    const shown = eventText(
      entry({ node_unhealthy: { node_id: 'a', health: { reason: 'disk full' } } as never }).event!,
    );
    expect(shown).toMatchObject({ text: 'unhealthy: disk full', nodeId: 'a' });
  });

  it('shows the text of a note', () => {
    const written = { job_id: 7, note_id: 2, step: 900, text: 'lr halved' };
    const shown = eventText(entry({ note_written: written }).event!);
    expect(shown).toMatchObject({ text: 'note on step 900: lr halved', jobId: 7 });
    const deleted = eventText(entry({ note_deleted: { job_id: 7, note_id: 2, step: 900 } }).event!);
    expect(deleted?.text).toBe('note 2 on step 900 deleted');
  });

  it('names the command of a session beside a rank', () => {
    const opened = { job_id: 7, attempt: 2, rank: 3, node_id: 'a', command: 'nvidia-smi' };
    const shown = eventText(entry({ exec_opened: opened }).event!);
    expect(shown).toMatchObject({ text: 'ran `nvidia-smi` beside rank 3 of attempt 2', jobId: 7 });
    const shell = eventText(entry({ exec_opened: { ...opened, command: '' } }).event!);
    expect(shell?.text).toBe('opened a shell beside rank 3 of attempt 2');
  });

  it('names both controllers of a hand-over', () => {
    const change = { from: '10.0.0.1:7070', to: '10.0.0.2:7070' };
    expect(eventText(entry({ leadership_handed_over: change }).event!)?.text).toBe(
      'leadership handed over from 10.0.0.1:7070 to 10.0.0.2:7070',
    );
  });

  it('is not alarmed by a rank that exits because it was asked to stop', () => {
    const exit = { rank: 3, exit_code: 143, signal: 0, stop_requested: true };
    const shown = (change: object) =>
      eventText(entry({ rank_exited: { ...exit, ...change } }).event!);
    expect(shown({})).toEqual({
      text: 'rank 3 exited with code 143 after the stop request',
      tone: 'idle',
      icon: 'stop',
    });
    expect(shown({ stop_requested: false })).toMatchObject({ tone: 'bad', icon: 'cross' });
    expect(shown({ exit_code: 0, signal: 9 }).text).toBe(
      'rank 3 terminated by signal 9 after the stop request',
    );
    expect(shown({ out_of_memory: true }).tone).toBe('bad');
  });

  it('tells the first start of a controller from a reboot and a clock that was set', () => {
    const text = (change: object) =>
      eventText(entry({ clock_set: { step_ms: 0, assumed_ms: 0, doubt: '', ...change } }).event!)
        .text;
    expect(text({})).toBe('cluster created by the first start of its controller');
    expect(text({ assumed_ms: 300_000 })).toBe(
      'controller started after a reboot, 5m 00s after its newest event',
    );
    expect(text({ step_ms: 90_000 })).toBe("the controller's clock was set forward by 1m 30s");
    expect(text({ step_ms: -5_000 })).toBe("the controller's clock was set back by 5.0 s");
    expect(text({ doubt: 'a year passed' })).toBe(
      "the controller's clock may be wrong: a year passed",
    );
  });

  it('names the step that an attempt starts from', () => {
    const text = (event: object) => eventText(entry(event).event!).text;
    const placed = { job_id: 4, attempt: 2, ranks: [{}] };
    expect(text({ job_placed: { ...placed, resume_step: 4000, resume_from: '/c/4000' } })).toBe(
      'attempt 2 placed on 1 slot, continuing from step 4000',
    );
    expect(text({ job_placed: { ...placed, resume_step: 0, resume_from: '/theirs' } })).toBe(
      'attempt 2 placed on 1 slot, continuing from /theirs',
    );
    expect(text({ job_placed: { ...placed, resume_step: 0, resume_from: '' } })).toBe(
      'attempt 2 placed on 1 slot',
    );
    const size = 'shrunk from 8 to 6 nodes: node gpu07 is lost';
    expect(text({ job_placed: { ...placed, resume_step: 9, size_change: size } })).toBe(
      `attempt 2 placed on 1 slot, continuing from step 9; ${size}`,
    );
    const running = { job_id: 4, attempt: 2, resume_step: 4000 };
    expect(text({ attempt_running: running })).toBe('attempt 2 running from step 4000');
    expect(text({ attempt_running: { ...running, resume_step: 0 } })).toBe('attempt 2 running');
    expect(text({ attempt_ended: { job_id: 4, attempt: 2, last_step: 4100 } })).toBe(
      'attempt 2 ended at step 4100',
    );
    const reason = 'job 9 (large) of a higher priority needs its slots';
    expect(text({ attempt_yielded: { job_id: 4, attempt: 2, yield: { reason } } })).toBe(
      `attempt 2 yields its slots: ${reason}`,
    );
  });

  it('tells both rates of a schedule that changed at a resume', () => {
    const change = { step: 4000, before: 3e-4, after: 1.2e-4 };
    const shown = eventText(
      entry({ learning_rate_changed: { job_id: 4, attempt: 2, change } }).event!,
    );
    expect(shown).toMatchObject({
      text: 'learning rate changed at the resume from step 4000: 3.00e-4 before, 1.20e-4 after',
      tone: 'warn',
      jobId: 4,
    });
  });

  it('tells a rate that is not finite', () => {
    const change = { step: 40, before: 3e-4, after: 'NaN' as const };
    expect(rateChangeText(change)).toMatch(/: 3\.00e-4 before, NaN after$/);
  });

  it('has words for an event that it does not know', () => {
    const shown = eventText(entry({ job_promoted: { job_id: 4 } }).event!);
    expect(shown).toMatchObject({ text: 'job promoted', jobId: 4 });
  });

  it('leaves bookkeeping out', () => {
    expect(isInternal(entry({ facts_received: { node_id: 'a', fact_sequence: 3 } }))).toBe(true);
    expect(isInternal(entry({ job_archived: { job_id: 7 } }))).toBe(true);
    expect(isInternal(entry({ node_lost: { node_id: 'a', reason: 'gone' } }))).toBe(false);
  });
});
