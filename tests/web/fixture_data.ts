// The report of the data set of a data job, as data/report/README.md describes it.
import type { GetDataReportResponse, Job, ReportedDataSet } from '../../web/src/api/types';
import { NOW } from './fixtures';

const KEPT = 'The night train leaves the yard at ten and passes the old signal box. '.repeat(6);
const COPY = KEPT.replace('night train', 'morning train').replace('old signal', 'new signal');

function drops(reasons: [string, number][], of: number) {
  return reasons.map(([reason, documents]) => ({
    reason,
    documents,
    bytes: 410 * documents,
    share: documents / of,
    samples: [`/data/web/a.jsonl:${documents}`],
  }));
}

const lengths = (counts: number[]) =>
  counts.map((documents, bit) => ({ from: 2 ** (bit + 5), below: 2 ** (bit + 6), documents }));

const input = (directory: string, documents: number, step: number | null) => ({
  directory,
  use: 'train',
  step,
  plan: null,
  files: 12,
  bytes_on_disk: 900 * documents,
  documents_in: documents,
  documents_out: documents,
  bytes_in: 2_000 * documents,
  bytes_out: 2_000 * documents,
});

interface Stage {
  name: string;
  in: number;
  out: number;
  dropped: [string, number][];
}

function runStep(stage: Stage, more: object) {
  const { name, in: read, out, dropped } = stage;
  return {
    directory: `/shared/prepared/${name}`,
    name,
    plan: `${name.length}2f49ab8c01d7e6`.repeat(2),
    complete: true,
    blocks: 40,
    blocks_done: 40,
    seconds: 130,
    settings: { field: 'text' },
    inputs: [],
    bad_lines: 0,
    run: {
      documents_in: read,
      documents_out: out,
      bytes_in: 2_000 * read,
      bytes_out: 2_010 * out,
      dropped: drops(dropped, read),
      other_dropped: { reasons: 0, documents: 0, bytes: 0 },
      lengths: lengths([120, 900, 4_200, 9_000, 3_100, 500]),
      slowest_blocks: [
        { file: '/data/web/b.jsonl', begin: 16_777_216, bytes_on_disk: 16_777_216, seconds: 13 },
      ],
      details: null,
    },
    tokens: null,
    texts: { dropped: [], clusters: [] },
    problems: [],
    ...more,
  };
}

const filter = runStep(
  {
    name: 'filter',
    in: 24_000,
    out: 19_200,
    dropped: [
      ['words', 3_600],
      ['symbols', 1_200],
    ],
  },
  {
    settings: { rules: 'gopher,c4', field: 'text' },
    inputs: [input('/data/web', 20_000, null), input('/data/code', 4_000, null)],
    bad_lines: 3,
    texts: {
      dropped: [
        {
          reason: 'words',
          verdict: { rule: 'words', value: 2 },
          place: '/data/web/a.jsonl:3600',
          bytes: 9,
          text: 'Click me!',
        },
        {
          reason: 'symbols',
          verdict: { rule: 'symbols', value: 0.4 },
          place: '/data/web/a.jsonl:1200',
          bytes: 5_000,
          text: '#'.repeat(600),
        },
      ],
      clusters: [],
    },
    problems: ['1 of 24 inputs has changed since; repeat the command with --force'],
  },
);

const dedup = (() => {
  const step = runStep({ name: 'dedup', in: 19_200, out: 17_820, dropped: [['near', 1_380]] }, {});
  return {
    ...step,
    inputs: [input('/shared/prepared/filter', 19_200, 0)],
    run: {
      ...step.run,
      details: {
        clusters: 310,
        largest: [{ kept: 'filter/part-0.jsonl.zst:9', documents: 7, lowest_similarity: 0.83 }],
      },
    },
    texts: {
      dropped: [],
      clusters: [
        {
          cluster: 0,
          kept: { place: 'filter/part-0.jsonl.zst:9', bytes: KEPT.length, text: KEPT },
          members: [
            {
              place: 'filter/part-3.jsonl.zst:2',
              bytes: COPY.length,
              text: COPY,
              similarity: 0.83,
            },
          ],
        },
      ],
    },
  };
})();

const tokenize = {
  ...runStep({ name: 'tokenize', in: 0, out: 0, dropped: [] }, {}),
  name: 'prepare',
  plan: null,
  settings: { tokenizer: 'train_tokenizer/tokenizer.json', format: 'trainyard' },
  inputs: [input('/shared/prepared/dedup', 17_820, 1)],
  run: null,
  tokens: {
    tokenizer: { name: 'bpe', vocab_size: 32_000, fingerprint: '46e5c09d' },
    splits: [
      { name: 'train', documents: 16_930, tokens: 8_100_000, bytes: 34e6, bytes_per_token: 4.2 },
      { name: 'val', documents: 890, tokens: 430_000, bytes: 1.8e6, bytes_per_token: 4.19 },
    ],
    sources: [
      { directory: '/data/web', documents: 14_900, bytes: 30e6, tokens: 6_820_000 },
      { directory: '/data/code', documents: 2_920, bytes: 5.8e6, tokens: 1_710_000 },
    ],
  },
  texts: null,
};

const SAMPLE = 'Günther’s 2 trains 😀';

function sample(place: string) {
  const bytes = new TextEncoder().encode(SAMPLE).length;
  const whole = { tokens: 3, bytes_per_token: bytes / 3, normalized_text: null };
  return {
    place,
    bytes,
    text: SAMPLE,
    tokenizers: [
      // The last two tokens are parts of a character.
      { tokenizer: 'gpt2', name: 'gpt2', ...whole, ids: [7, 8, 9], ends: [8, bytes - 2, bytes] },
      {
        tokenizer: '/shared/prepared/train_tokenizer/tokenizer.json',
        name: 'bpe',
        ...whole,
        tokens: 1,
        bytes_per_token: bytes,
        ids: [5],
        ends: [bytes],
      },
    ],
  };
}

const linked = { path: '/shared/prepared/tokenize', xxh64: '8b337a0252c17b16', tokens: 8_100_000 };

// The data set of the fixtures, as the job that makes it or a job that trains on it reports it.
const madeSets = (): ReportedDataSet[] => [
  {
    ...linked,
    is_input: false,
    jobs: [{ job_id: 40, name: 'llama3-8b', path: '/disk/copy' }],
    omitted_jobs: 3,
  },
];
const readSets = (): ReportedDataSet[] => [
  {
    ...linked,
    is_input: true,
    jobs: [{ job_id: 43, name: 'corpus', path: linked.path }],
    omitted_jobs: 0,
  },
  { path: '/data/text', xxh64: '', tokens: 0, is_input: true, jobs: [], omitted_jobs: 0 },
];

// `steps`: number of finished steps of the pipeline; 0 means that no report was sent.
export function dataReportResponse(job: Job, steps: number): GetDataReportResponse {
  const stamp = { revision: 7, as_of_ms: NOW };
  if (steps === 0) return { report: '', attempt: 0, time_ms: 0, ...stamp, data_sets: [] };
  if (job.spec?.kind !== 'data') {
    const report = JSON.stringify({ format: 'trainyard-data-use', version: 1 });
    return { report, attempt: 1, time_ms: NOW - 9_000, ...stamp, data_sets: readSets() };
  }
  const finished = [filter, dedup, tokenize].slice(0, steps);
  const report = {
    format: 'trainyard-data-report',
    version: 1,
    directory: finished.at(-1)!.directory,
    omits_steps: false,
    steps: finished,
    tokenized: [sample('kept:1'), sample('kept:8910')],
  };
  return {
    report: JSON.stringify(report),
    attempt: 1,
    time_ms: NOW - 9_000,
    ...stamp,
    data_sets: steps === 3 ? madeSets() : [],
  };
}
