import { useState } from 'preact/hooks';
import { serverNow } from '../api/store';
import type { Checkpoint, Job } from '../api/types';
import { bytes, count } from '../format/numbers';
import { ago, fullTime } from '../format/time';
import { EmptyState } from '../ui/notice';
import { Table, type Column } from '../ui/table';
import { bestOf, metricText } from './best_checkpoint';
import { noCheckpoint } from './empty_text';
import { canStartFrom } from './resubmit';
import { ResubmitDialog } from './resubmit_dialog';

// Lists the attempts that started from a checkpoint, or says that the checkpoint could not be read.
function usesOf(job: Job, checkpoint: Checkpoint): string {
  if (checkpoint.damaged) return '✕ damaged, rejected';
  if (checkpoint.rolled_back) return '✕ after a loss spike, not used';
  const users = job.attempts.filter(({ resume_from: from }) => from === checkpoint.path);
  return users.map(({ number }) => `attempt ${number}`).join(', ');
}

// Submits a new job that starts from the checkpoint.
function ResumeButton({ checkpoint, onOpen }: { checkpoint: Checkpoint; onOpen: () => void }) {
  if (!canStartFrom(checkpoint)) return null;
  return (
    <button
      type="button"
      class="quiet"
      aria-label={`New job from the checkpoint at step ${count(checkpoint.step)}`}
      onClick={onOpen}
    >
      New job…
    </button>
  );
}

const columnsOf = (job: Job, onOpen: (checkpoint: Checkpoint) => void): Column<Checkpoint>[] => {
  const best = bestOf(job.checkpoints);
  return [
    { name: 'Step', width: '100px', right: true, cell: (c) => count(c.step) },
    { name: 'Size', width: '100px', right: true, priority: 2, cell: (c) => bytes(c.bytes) },
    { name: 'Attempt', width: '80px', right: true, priority: 2, cell: (c) => c.attempt },
    {
      name: 'Saved',
      width: '110px',
      cell: (c) => <time title={fullTime(c.time_ms)}>{ago(c.time_ms, serverNow.value)}</time>,
    },
    { name: 'Metric', width: '190px', priority: 2, cell: (c) => metricText(c, c === best) },
    { name: 'Used by', width: '150px', priority: 2, cell: (c) => usesOf(job, c) },
    { name: 'Directory', priority: 3, cell: (c) => <code title={c.path}>{c.path}</code> },
    {
      name: 'Resume',
      quietName: true,
      width: '124px',
      right: true,
      cell: (c) => <ResumeButton checkpoint={c} onOpen={() => onOpen(c)} />,
    },
  ];
};

export function Checkpoints({ job }: { job: Job }) {
  const [from, setFrom] = useState<Checkpoint>();
  const rows = [...job.checkpoints].sort((a, b) => b.step - a.step);
  if (rows.length === 0) return <EmptyState words={noCheckpoint(job)} />;
  return (
    <>
      <Table
        label="Checkpoints"
        columns={columnsOf(job, setFrom)}
        rows={rows}
        rowKey={(c) => `${c.attempt}-${c.step}`}
      />
      {from && <ResubmitDialog job={job} from={from} onClose={() => setFrom(undefined)} />}
    </>
  );
}
