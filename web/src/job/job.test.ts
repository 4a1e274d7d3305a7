import { describe, expect, it } from 'vitest';
import type {
  CompareSeriesResponse,
  Ledger,
  LogLine,
  RankStatus,
  ReadLogPageResponse,
  Series,
  StepTime,
} from '../api/types';
import {
  compareBuckets,
  compareCurves,
  runOrder,
  runsOf,
  withSpikes,
} from '../compare/runs';
import { curvesOf } from '../chart/curves';
import { dashOf } from '../chart/dashes';
import { diffSettings, flattenSpec, varyingKeys } from './flatten_spec';
import { segmentsOf, sharesOf } from './ledger_segments';
import {
  LINES_KEPT,
  NONE_OPEN,
  bufferOf,
  lineName,
  markMatches,
  olderCursorOf,
  openAfterKey,
  parseLineName,
  rankList,
  withNewer,
  withOlder,
  withoutEscapes,
} from './log_lines';
import {
  commandLineForNewJob,
  isJobName,
  newRequestId,
  resumable,
  specForNewJob,
} from './resubmit';
import { collectiveWaitTexts } from './collective_waits';
import { memberOf, outputMember, verdictMember } from './gang';
import { offeredKeys, panelsFor } from './panels';
import { failureOf, figuresOf, stepAge } from './progress';
import {
  groupRanks,
  heatOf,
  layoutSizes,
  medianStepSeconds,
  scaleOf,
  stragglers,
} from './rank_heat';
import { partsOf, waitSeconds } from './step_parts';

describe('settings', () => {
  const spec = { extends: [], command: ['sh', '-c'], train: { seq_length: 128, seed: 7 } } as never;
  const origins = [
    { key: 'train', source: 'recipe tiny' },
    { key: 'train.seed', source: '--set' },
  ];

  it('flattens with the nearest origin', () => {
    expect(flattenSpec(spec, origins)).toEqual([
      { key: 'command', value: '[sh, -c]', origin: 'default' },
      { key: 'train.seq_length', value: '128', origin: 'recipe tiny' },
      { key: 'train.seed', value: '7', origin: '--set' },
    ]);
  });

  it('tells changed from missing', () => {
    const at = (key: string, value: string) => ({ key, value, origin: '' });
    const rows = diffSettings(
      [at('a', '1'), at('b', '2'), at('c', '3')],
      [at('a', '1'), at('b', '9'), at('d', '4')],
    );
    expect(rows.map(({ key, kind }) => [key, kind])).toEqual([
      ['a', 'same'],
      ['b', 'changed'],
      ['c', 'left only'],
      ['d', 'right only'],
    ]);
    expect(
      varyingKeys([
        [at('a', '1'), at('b', '2')],
        [at('a', '1'), at('b', '3')],
      ]),
    ).toEqual(['b']);
  });
});

describe('what a job says of itself', () => {
  const progress = { step: 9, time_ms: 100_000, step_seconds: 8 };
  const job = (change: object) =>
    ({ state: 'running', attempts: [], progress, ...change }) as never;

  it('has the age of its last step while it trains, late after ten usual ones', () => {
    expect(stepAge(job({}), 120_000)).toEqual({ timeMs: 100_000, late: false });
    expect(stepAge(job({}), 181_000)?.late).toBe(true);
    const quick = { ...progress, step_seconds: 0.1 };
    expect(stepAge(job({ progress: quick }), 125_000)?.late).toBe(false);
    expect(stepAge(job({ state: 'failed' }), 120_000)).toBeUndefined();
    expect(stepAge(job({ progress: { ...progress, step: 0 } }), 120_000)).toBeUndefined();
  });

  it('has the tokens that the controller counted', () => {
    const counted = { ...progress, tokens: 900, total_tokens: 4000 };
    expect(figuresOf(job({ progress: counted }))).toMatchObject({ tokens: 900, totalTokens: 4000 });
    const begun = { ...counted, tokens: 0 };
    expect(figuresOf(job({ progress: begun })).tokens).toBe(0);
    const unknown = { ...progress, tokens: 0, total_tokens: 0 };
    expect(figuresOf(job({ progress: unknown })).tokens).toBeUndefined();
  });

  it('says why it failed, also while it recovers', () => {
    const verdict = { cause: 'rank_signaled', summary: 'rank 3 was killed' };
    const attempts = [{ number: 1, verdict }];
    expect(failureOf(job({ state: 'failed', verdict }))).toBe('rank 3 was killed');
    expect(failureOf(job({ state: 'recovering', attempts }))).toBe('rank 3 was killed');
    expect(failureOf(job({ state: 'running', attempts }))).toBeUndefined();
    expect(failureOf(job({ state: 'stopped', verdict }))).toBeUndefined();
  });
});

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
    expect(specForNewJob(spec, origins, { name: 'new', resumeFrom: undefined })).toEqual({
      name: 'new',
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
    const again = { name: 'new', resumeFrom: from };
    expect(specForNewJob(spec, origins, again)).toMatchObject({
      checkpoint: { every_steps: 5, resume_from: "/ckpt/it's/20" },
    });
    expect(commandLineForNewJob(7, origins, again)).toContain(
      `.checkpoint.resume_from = "/ckpt/it'\\''s/20"' > new.json`,
    );
  });

  it('is known by an id of its own', () => {
    expect(newRequestId(7)).toMatch(/^web-7-[0-9a-f]{16}$/);
    expect(newRequestId(7)).not.toBe(newRequestId(7));
  });

  it('has a command line that does the same', () => {
    const line = commandLineForNewJob(7, origins, { name: 'new', resumeFrom: undefined });
    expect(line).toContain('del(.extends, .layout.dp, .checkpoint.dir, .train.gone)');
    expect(isJobName('a-1')).toBe(true);
    expect(isJobName("a'; rm")).toBe(false);
  });
});

const NO_TIME: StepTime = {
  compute: 0,
  input_wait: 0,
  tp_wait: 0,
  cp_wait: 0,
  pp_wait: 0,
  dp_wait: 0,
  world_wait: 0,
  optimizer: 0,
  checkpoint_wait: 0,
};

describe('ranks', () => {
  const rank = (id: number, seconds: number, change: Partial<RankStatus> = {}) =>
    ({
      rank: id,
      node_id: `n${id >> 1}`,
      tp: id % 2,
      cp: 0,
      dp: id >> 1,
      pp: 0,
      step_seconds: seconds,
      ...change,
    }) as RankStatus;
  const ranks = [rank(0, 1), rank(1, 1), rank(2, 1), rank(3, 1.6)];

  it('groups by node and by a dimension of the layout', () => {
    expect(groupRanks(ranks, 'node').map(({ name }) => name)).toEqual(['n0', 'n1']);
    expect(groupRanks(ranks, 'tp').map(({ ranks: r }) => r.map((x) => x.rank))).toEqual([
      [0, 2],
      [1, 3],
    ]);
    expect(layoutSizes(ranks)).toEqual({ tp: 2, cp: 1, dp: 2, pp: 1 });
  });

  it('heats by the ratio to the median, and not what is unknown', () => {
    const median = medianStepSeconds(ranks);
    expect(median).toBe(1);
    const scale = scaleOf(ranks, 'step time');
    expect(heatOf(rank(9, 1), scale)).toBe(3);
    expect(heatOf(rank(9, 1.6), scale)).toBe(7);
    expect(heatOf(rank(9, 0.5), scale)).toBe(0);
    expect(heatOf(rank(9, 0), scale)).toBeUndefined();
    expect(stragglers(ranks).map(({ rank: r }) => r.rank)).toEqual([3]);
    expect(medianStepSeconds([])).toBe(0);
  });

  it('heats by memory from the least to the most, and by waiting from nothing', () => {
    const uses = (memory_bytes: number, data_stall_seconds = 0) =>
      rank(9, 1, { memory_bytes, data_stall_seconds });
    const memory = scaleOf([uses(40), uses(80), uses(0)], 'memory');
    expect([40, 60, 80].map((size) => heatOf(uses(size), memory))).toEqual([0, 4, 7]);
    expect(heatOf(uses(0), memory)).toBeUndefined();
    expect(heatOf(uses(40), scaleOf([uses(40), uses(40.1)], 'memory'))).toBe(3);
    const stall = scaleOf([uses(1, 2), uses(1, 8)], 'data stall');
    expect([0, 2, 8].map((seconds) => heatOf(uses(1, seconds), stall))).toEqual([0, 2, 7]);
  });

  const timed = (id: number, pp: number, compute: number, change: object = {}) =>
    rank(id, 2, { pp, step_time: { ...NO_TIME, compute, ...change } });

  it('heats by compute beside the ranks of the same stage', () => {
    const all = [timed(0, 0, 1), timed(1, 0, 1), timed(2, 1, 3), timed(3, 1, 3), rank(4, 2)];
    const scale = scaleOf(all, 'compute');
    expect(all.map((one) => heatOf(one, scale))).toEqual([3, 3, 3, 3, undefined]);
    expect(heatOf(timed(9, 0, 3), scale)).toBe(7);
    expect(heatOf(timed(9, 2, 3), scale)).toBeUndefined();
  });

  it('heats by the sum of waits, from nothing', () => {
    const waiting = (tp_wait: number, pp_wait: number) => timed(9, 0, 1, { tp_wait, pp_wait });
    const all = [waiting(1, 1), waiting(0, 0), waiting(3, 5), rank(9, 1)];
    const scale = scaleOf(all, 'waits');
    expect(scale).toMatchObject({ low: 0, high: 8 });
    expect(all.map((one) => heatOf(one, scale))).toEqual([2, 0, 7, undefined]);
  });

  it('finds the slow rank of a stage by compute, since all have the same step time', () => {
    const all = [
      ...[timed(0, 0, 1), timed(1, 0, 1), timed(2, 0, 1.2)],
      ...[timed(3, 1, 3), timed(4, 1, 4.5), timed(5, 1, 3)],
    ];
    const found = stragglers(all);
    expect(found.map(({ rank: r }) => r.rank)).toEqual([4, 2]);
    expect(found.map(({ ratio }) => ratio)).toEqual([1.5, 1.2]);
  });

  it('compares no rank of a stage of two, whose median is one of them', () => {
    const all = [timed(0, 0, 1), timed(1, 0, 2), ...[2, 3, 4].map((i) => timed(i, 1, 5))];
    expect(stragglers(all)).toEqual([]);
    expect(stragglers([...all, timed(5, 0, 1)]).map(({ rank: r }) => r.rank)).toEqual([1]);
  });

  it('compares no process that holds no place', () => {
    const spare = rank(5, 0, { standby: true });
    const all = [timed(0, 0, 1), timed(1, 0, 1), timed(2, 0, 1.5), spare];
    expect(stragglers(all).map(({ rank: r }) => r.rank)).toEqual([2]);
    expect(groupRanks(all, 'pp').map(({ name, ranks }) => [name, ranks.length])).toEqual([
      ['pp 0', 3],
      ['spare or replaced', 1],
    ]);
  });

  it('finds a slow rank by step time in a stage with a rank that reports no parts', () => {
    const slow = rank(2, 3);
    const all = [timed(0, 0, 1), timed(1, 0, 9), slow, timed(3, 1, 5), timed(4, 1, 5)];
    expect(stragglers(all)).toEqual([{ rank: slow, ratio: 1.5 }]);
  });

  it('has the parts of its newest step that took time', () => {
    const some = timed(0, 0, 0.3, { pp_wait: 0.1, tp_wait: 'NaN' });
    expect(partsOf(some)).toEqual([
      { name: 'Compute', seconds: 0.3 },
      { name: 'Pipeline bubble', seconds: 0.1 },
    ]);
    expect(waitSeconds(some)).toBeUndefined();
    expect(partsOf(rank(0, 1))).toEqual([]);
  });

  it('says in which operations it waits, and not which ones it has not entered', () => {
    const flight = { group: 'tp0', ranks: '0-3', sequence: 123, bytes: 8, queued_ms: 900 };
    const flights = [
      { ...flight, operation: 'all-reduce', entered_ms: 1_000 },
      { ...flight, operation: 'all-gather', entered_ms: 0 },
      { ...flight, operation: '', entered_ms: 1_000 },
    ];
    expect(collectiveWaitTexts({ flights }, 13_000)).toEqual([
      'all-reduce 123 of group tp0 (ranks 0-3), since 12s ago',
    ]);
  });

  it('knows the process that a verdict names', () => {
    const attempt = (number: number, cause: string, named: number) =>
      ({ number, verdict: { cause, rank: named } }) as never;
    const attempts = [
      attempt(1, 'rank_signaled', 11),
      attempt(2, 'node_lost', -1),
      attempt(3, 'stopped', 0),
    ];
    expect([1, 2, 3, 4].map((attempt) => verdictMember({ attempts }, attempt, []))).toEqual([
      11,
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('knows the process that holds a place after a heal', () => {
    const member = (rank: number, more = {}) => ({
      rank,
      node_id: `n${rank}`,
      standby: false,
      replaced: false,
      ...more,
    });
    const members = [
      member(0),
      member(1, { replaced: true }),
      member(2, { standby: true, place: 1 }),
      member(3, { standby: true }),
    ];
    const at = (place: number, node: string) => memberOf(members, { rank: place, node_id: node });
    expect([at(0, 'n0'), at(1, 'n2'), at(1, '')]).toEqual([0, 2, 2]);
    expect(at(1, 'n1'), 'its heal was abandoned').toBe(1);
    const verdict = { cause: 'rank_signaled', rank: 1, node_id: 'n2' };
    const attempts = [{ number: 1, verdict, ranks: members }] as never;
    expect(verdictMember({ attempts }, 1, members)).toBe(2);
    expect(outputMember({ attempts }, verdict)).toBe(2);
    expect(outputMember({ attempts: [] }, { rank: -1, node_id: '' })).toBe(0);
  });
});

describe('ledger', () => {
  const ledger = {
    phases: [
      { phase: 'train', seconds: 75, slot_seconds: 1 },
      { phase: 'init', seconds: 25, slot_seconds: 1 },
    ],
    wall_seconds: 100,
    goodput_ratio: 0.75,
    spans: [
      { phase: 'init', attempt: 1, begin_ms: 1_000, end_ms: 26_000 },
      { phase: 'train', attempt: 1, begin_ms: 26_000, end_ms: 0 },
    ],
  } as Ledger;

  it('covers the bar without a hole, the open stretch to the end', () => {
    const lanes = segmentsOf(ledger, 1_000, 101_000);
    expect(lanes.map(({ left, width }) => [left, width])).toEqual([
      [0, 0.25],
      [0.25, 0.75],
    ]);
  });

  it('has shares that sum to one', () => {
    expect(sharesOf(ledger).reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
  });
});

describe('log lines', () => {
  const page = (first: number, count: number, change: Partial<ReadLogPageResponse> = {}) =>
    ({
      lines: Array.from({ length: count }, (_, index) => ({ offset: first + index }) as LogLine),
      older_cursor: `before ${first}`,
      newer_cursor: `after ${first + count}`,
      at_end: true,
      complete: false,
      extents: [],
      ...change,
    }) as ReadLogPageResponse;

  it('grows at both ends', () => {
    const start = bufferOf(page(100, 10));
    const older = withOlder(start, page(90, 10));
    const { buffer } = withNewer(older, page(110, 5));
    expect(buffer.lines.map(({ offset }) => offset)).toEqual(
      Array.from({ length: 25 }, (_, index) => 90 + index),
    );
    expect(olderCursorOf(buffer)).toBe('before 90');
    expect(buffer.newerCursor).toBe('after 115');
  });

  it('lets whole pages go at the top, and knows how to find them again', () => {
    let buffer = bufferOf(page(0, LINES_KEPT));
    const first = withNewer(buffer, page(LINES_KEPT, 1_000));
    buffer = first.buffer;
    expect(first.dropped).toBe(LINES_KEPT);
    expect(buffer.lines[0]?.offset).toBe(LINES_KEPT);
    expect(olderCursorOf(buffer)).toBe(`before ${LINES_KEPT}`);
  });

  it('lets whole pages go at the end too, and is not at the end then', () => {
    let buffer = bufferOf(page(LINES_KEPT, 1_000, { at_end: true, complete: true }));
    for (let from = LINES_KEPT - 1_000; from >= 0; from -= 1_000) {
      buffer = withOlder(buffer, page(from, 1_000));
    }
    expect(buffer.lines.length).toBe(LINES_KEPT);
    expect(buffer.lines.at(-1)?.offset).toBe(LINES_KEPT - 1);
    expect([buffer.atEnd, buffer.complete]).toEqual([false, false]);
    // The next newer page is the one that was dropped.
    expect(buffer.newerCursor).toBe(`after ${LINES_KEPT}`);
  });

  it('names a line in an address', () => {
    const line = { attempt: 2, rank: 17, offset: 4_096 };
    expect(parseLineName(lineName(line))).toEqual(line);
    for (const text of ['', '1.2', '1.2.x', '1.2.3.4', '-1.2.3']) {
      expect(parseLineName(text), text).toBeUndefined();
    }
  });

  it('opens lines by keys', () => {
    expect(openAfterKey('Enter', NONE_OPEN, 40, 100)).toBe(40);
    expect(openAfterKey('ArrowDown', NONE_OPEN, 40, 100)).toBeUndefined();
    expect(openAfterKey('ArrowDown', 40, 40, 100)).toBe(41);
    expect(openAfterKey('ArrowDown', 99, 40, 100)).toBe(99);
    expect(openAfterKey('ArrowUp', 0, 0, 100)).toBe(0);
    expect(openAfterKey('Escape', 40, 40, 100)).toBe(NONE_OPEN);
    expect(openAfterKey('Enter', NONE_OPEN, 0, 0)).toBeUndefined();
  });

  it('keeps its cursor when a page has no lines', () => {
    const start = bufferOf(page(0, 3));
    expect(withNewer(start, page(3, 0, { newer_cursor: '' })).buffer.newerCursor).toBe('after 3');
  });

  it('reads lists of ranks', () => {
    expect(rankList(' 0, 8-15 ')).toBe('0,8-15');
    expect(rankList('')).toBe('');
    expect(rankList('0,')).toBeUndefined();
    expect(rankList('a')).toBeUndefined();
  });

  it('marks every match and keeps every letter', () => {
    expect(markMatches('abab', 'b')).toEqual([
      ['a', false],
      ['b', true],
      ['a', false],
      ['b', true],
    ]);
    expect(markMatches('abc', '')).toEqual([['abc', false]]);
    expect(markMatches('', 'x')).toEqual([['', false]]);
    expect(withoutEscapes('\u001b[31mred\u001b[0m')).toBe('red');
  });
});

describe('panels', () => {
  it('shows what the job has, then what was asked for', () => {
    const known = ['loss', 'val_loss', 'lr', 'entropy', 'tokens'];
    expect(panelsFor(known, ['entropy', 'absent', 'loss']).map(({ title }) => title)).toEqual([
      'Loss',
      'Learning rate',
      'entropy',
    ]);
    expect(offeredKeys(known)).toEqual(['entropy']);
  });

  it('shows the parts of steps when it has their compute, and offers each otherwise', () => {
    const whole = ['compute_seconds', 'pp_wait_seconds'];
    expect(panelsFor(whole, whole).map(({ title }) => title)).toEqual(['Step time by part']);
    expect(offeredKeys(whole)).toEqual([]);
    const lone = ['pp_wait_seconds'];
    expect(offeredKeys(lone)).toEqual(lone);
    expect(panelsFor(lone, lone).map(({ title }) => title)).toEqual(lone);
  });
});

describe('compared runs', () => {
  const steps = { logY: false, axis: 'step', from: undefined, to: undefined } as const;
  const series = (x: number[]) =>
    ({
      key: 'loss',
      steps: x,
      times_ms: x,
      last: x,
      mean: x,
      min: x,
      max: x,
      counts: x.map(() => 1),
      attempts: x,
      nan_counts: x,
      x,
      smoothed: [],
      abandoned: false,
      attempt: 0,
      job_id: 0,
    }) as Series;
  const run = (id: number, x?: number[]) => ({
    job: { id, name: 'a' } as never,
    series: x && series(x),
  });

  it('takes the runs of one answer apart, and draws them without bands', () => {
    const values = { last: [3, 2], mean: [3, 2], min: [3, 2], max: [3, 2] };
    const points = { ...values, steps: [1, 2], smoothed: [] };
    const answer = {
      jobs: [{ id: 4 }, { id: 9 }],
      series: [
        { ...points, job_id: 9, key: 'loss' },
        { ...points, job_id: 9, key: 'val_loss', x: [7, 8] },
      ],
    } as unknown as CompareSeriesResponse;
    const [first, second] = runsOf(answer, 'loss');
    expect(first?.series).toBeUndefined();
    expect(second?.series?.x).toEqual([1, 2]);
    expect(second?.validation?.x).toEqual([7, 8]);
    const curves = compareCurves(runsOf(answer, 'loss'), steps, curvesOf);
    expect(curves.map(({ role }) => role)).toEqual(['raw', 'raw']);
  });

  it('lets no time fall back where a node has a clock that is behind', () => {
    const loss = { key: 'loss', job_id: 9, steps: [1, 2, 3], x: [10, 5, 20] };
    const answer = { jobs: [{ id: 9 }], series: [loss] } as unknown as CompareSeriesResponse;
    expect(runsOf(answer, 'loss')[0]?.series?.x).toEqual([10, 10, 20]);
  });

  it('has one curve a run, also for a run without points', () => {
    const curves = compareCurves([run(1), run(2, [5, 6])], steps, curvesOf);
    expect(curves.map(({ x }) => x)).toEqual([[], [5, 6]]);
  });

  it('counts time from the start of each run', () => {
    const curves = compareCurves([run(1, [1000, 1500])], { ...steps, axis: 'time' }, curvesOf);
    expect(curves[0]?.x).toEqual([0, 500]);
  });

  it('draws the part of a window on the axis of time, up to the points around it', () => {
    const view = { ...steps, axis: 'time', from: 150, to: 350 } as const;
    const [curve] = compareCurves([run(1, [0, 100, 200, 300, 400, 500])], view, curvesOf);
    expect(curve?.x).toEqual([100, 200, 300, 400]);
    const [none] = compareCurves([run(1, [0, 100])], view, curvesOf);
    expect(none?.x).toEqual([]);
  });

  it('shows the spike that a bucket hides, up or down, and no other extreme', () => {
    const mean = [5, 4, 3, 2, 2];
    const min = [4.9, 3.9, 2.9, 1.9, 1.9];
    const max = [5.1, 4.1, 3.1, 2.1, 2.1];
    expect(withSpikes({ mean, min, max })).toEqual(mean);
    const high = max.with(2, 40);
    expect(withSpikes({ mean, min, max: high })).toEqual([5, 4, 40, 2, 2]);
    expect(withSpikes({ mean, min: min.with(3, -7), max })).toEqual([5, 4, 3, -7, 2]);
    // A steep fall inside of a bucket is the curve itself.
    expect(withSpikes({ mean: [9, 1, 1], min: [9, 1, 1], max: [9, 9, 1] })).toEqual([9, 1, 1]);
    const broken = ['NaN', 1, 1] as const;
    expect(withSpikes({ mean: [...broken], min: [...broken], max: [...broken] })).toEqual(broken);
  });

  it('asks for finer points the deeper the zoom, and for no more than can be drawn', () => {
    expect(compareBuckets(50, 1_400, 1)).toBe(300);
    expect(compareBuckets(2, 1_400, 1)).toBe(800);
    expect(compareBuckets(2, 1_400, 3)).toBe(3_200);
    expect(compareBuckets(2, 1_400, 1e6)).toBe(10_000);
    expect(compareBuckets(50, 1_400, 1e6)).toBe(600);
  });

  it('orders runs by their newest value, those without one last', () => {
    const runs = [run(1, [5, 6]), run(2), run(3, [2])].map((one) => ({
      ...one,
      series: one.series && { ...one.series, last: one.series.x },
    }));
    expect(runOrder(runs, true)).toEqual([2, 0, 1]);
    expect(runOrder(runs, false)).toEqual([0, 1, 2]);
  });

  it('tells runs of the same colour apart by dashes', () => {
    expect(dashOf(0)).toBeUndefined();
    expect(dashOf(8)).not.toEqual(dashOf(0));
    expect(dashOf(16)).not.toEqual(dashOf(8));
  });
});
