// Confirms an action on several jobs, states what each job loses or keeps, and shows the results.
import { useEffect, useRef, useState } from 'preact/hooks';
import { postJson } from '../api/client';
import { serverNow } from '../api/store';
import type { Job } from '../api/types';
import { count, plural } from '../format/numbers';
import { Confirm } from '../ui/confirm';
import { JobStatus } from '../ui/job_status';
import {
  bulkCommand,
  bulkLines,
  bulkWarning,
  sendToAll,
  type BulkAction,
  type BulkLine,
  type BulkResult,
} from './bulk_actions';
import { fresh } from './use_jobs';

const WORDS: Record<BulkAction, { verb: string; done: string }> = {
  stop: { verb: 'Stop', done: 'stop requested' },
  kill: { verb: 'Kill', done: 'kill requested' },
  pause: { verb: 'Pause', done: 'pause requested' },
  resume: { verb: 'Resume', done: 'resumed' },
};

interface LineProps {
  line: BulkLine;
  result: BulkResult | undefined;
  doneWord: string;
}

function LineText({ line, result, doneWord }: LineProps) {
  if (line.refusal) return <span class="faint">{line.refusal}</span>;
  if (result === 'sending') return <span class="faint">sending…</span>;
  if (result === 'done') return <span class="tone-good">{doneWord}</span>;
  if (result) return <span class="tone-bad">{result.message}</span>;
  if (line.warning) return <span class="tone-bad">{line.warning}</span>;
  return <span class="faint">{line.text}</span>;
}

type Results = ReadonlyMap<number, BulkResult>;

interface LinesProps {
  lines: readonly BulkLine[];
  results: Results;
  doneWord: string;
}

function Lines({ lines, results, doneWord }: LinesProps) {
  return (
    <ul class="bulk-lines" aria-label="Jobs" tabIndex={0}>
      {lines.map((line) => (
        <li key={line.job.id}>
          <span class="bulk-job">
            {line.job.name} <span class="number">#{line.job.id}</span>
          </span>
          <JobStatus job={line.job} />
          <LineText line={line} result={results.get(line.job.id)} doneWord={doneWord} />
        </li>
      ))}
    </ul>
  );
}

// Returns "11 of 12 jobs: stop requested. 1 failed."
function summaryOf(lines: readonly BulkLine[], results: Results, done: string): string {
  const all = [...results.values()];
  const good = all.filter((result) => result === 'done').length;
  const failed = all.filter((result) => typeof result !== 'string').length;
  const failures = failed > 0 ? ` ${count(failed)} failed.` : '';
  return `${count(good)} of ${plural(lines.length, 'job')}: ${done}.${failures}`;
}

export interface BulkDialogProps {
  action: BulkAction;
  jobs: readonly Job[];
  onClose: () => void;
}

export function BulkDialog({ action, jobs, onClose }: BulkDialogProps) {
  // The lines keep their order while jobs change.
  const [lines] = useState(() => bulkLines(action, jobs.map(fresh), serverNow.peek()));
  const [results, setResults] = useState<Results>(new Map());
  const abort = useRef<AbortController>(undefined);
  abort.current ??= new AbortController();
  useEffect(() => () => abort.current?.abort(), []);
  const applied = lines.filter(({ refusal }) => refusal === undefined);
  const left = lines.length - applied.length;
  const { verb, done } = WORDS[action];
  const act = () =>
    sendToAll(
      applied.map(({ job }) => job),
      {
        send: async ({ id }) => void (await postJson(`/jobs/${id}/${action}`, {})),
        onResult: (id, result) => setResults((old) => new Map(old).set(id, result)),
        signal: abort.current!.signal,
      },
    );
  const warning = bulkWarning(action, applied);
  const summary = summaryOf(applied, results, done);
  const skipped = left > 0 ? ` ${plural(left, 'job')} cannot be changed in this way.` : '';
  return (
    <Confirm
      title={`${verb} ${plural(applied.length, 'job')}?`}
      warning={results.size === 0 ? warning : undefined}
      text={(results.size > 0 ? summary : `${verb}s the jobs below.`) + skipped}
      commandLine={bulkCommand(action, applied)}
      button={`${verb} ${plural(applied.length, 'job')}`}
      danger={action === 'kill' || warning !== undefined}
      ready={applied.length > 0}
      staysOpen
      wide
      act={act}
      onClose={onClose}
    >
      <Lines lines={lines} results={results} doneWord={done} />
    </Confirm>
  );
}
