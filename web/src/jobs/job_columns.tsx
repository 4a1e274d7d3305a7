// The columns of the list of jobs.
import type { ComponentChildren } from 'preact';
import { hasEnded } from '../api/live';
import { live, serverNow } from '../api/store';
import type { Job } from '../api/types';
import { ABSENT, count, percent, short } from '../format/numbers';
import { ago, duration, fullTime } from '../format/time';
import { HEALTH_LOOK, lookOf } from '../format/words';
import { isSick, worstFinding } from '../job/health';
import {
  failureOf,
  figuresOf,
  oldLossText,
  restartsText,
  shapeText,
  wallSeconds,
} from '../job/progress';
import { JobSpark } from '../overview/job_spark';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { JobStatus } from '../ui/job_status';
import { Loss } from '../ui/loss';
import { Measured } from '../ui/measured';
import type { Column } from '../ui/table';
import type { ColumnName } from './column_choice';
import { fresh } from './use_jobs';

// On phones, which have no columns for this, shows why a job is queued, or its progress.
function NarrowNote({ job }: { job: Job }) {
  const { step, done, etaSeconds } = figuresOf(job);
  const figures = [
    step > 0 && `step ${count(step)}`,
    step > 0 && done !== undefined && percent(done, 0),
    etaSeconds !== undefined && `${duration(etaSeconds)} left`,
    hasEnded(job) && `ended ${ago(job.ended_time_ms, serverNow.value)}`,
  ];
  const reason = live.value.pending.get(job.id)?.message;
  return <span class="row-note faint">{reason ?? figures.filter(Boolean).join(' · ')}</span>;
}

// Shows under the name of a job why it is sick or has failed.
function RowReason({ job }: { job: Job }) {
  const finding = isSick(job) ? worstFinding(job) : undefined;
  const reason = finding?.message ?? failureOf(job);
  if (!reason) return <NarrowNote job={job} />;
  const tone = finding ? lookOf(HEALTH_LOOK, finding.word).tone : 'bad';
  return (
    <span class={`row-reason tone-${tone}`} title={reason}>
      {reason}
    </span>
  );
}

const NUMBER: Column<Job> = {
  name: '#',
  width: '60px',
  right: true,
  priority: 2,
  sort: 'newest',
  cell: (job) => job.id,
};

const NAME: Column<Job> = {
  name: 'Name',
  sort: 'name',
  cell: (job) => (
    <>
      <Link href={jobPath(job.id)} data-row>
        {job.name}
      </Link>
      <span class="number narrow-only">#{job.id}</span>
      <RowReason job={fresh(job)} />
    </>
  ),
};

const STATE: Column<Job> = {
  name: 'State',
  width: '116px',
  sort: 'state',
  cell: (job) => <JobStatus job={fresh(job)} />,
};

function StepCell({ job }: { job: Job }) {
  const { step, done } = figuresOf(job);
  // The list has no step counts for jobs that ended long ago.
  if (step === 0) return <>{ABSENT}</>;
  return (
    <>
      {count(step)} {done !== undefined && <span class="faint">{percent(done, 0)}</span>}
    </>
  );
}

function LossCell({ job }: { job: Job }) {
  const old = oldLossText(job);
  return (
    <>
      <Loss job={job} />
      {old && <span class="row-reason faint">{old}</span>}
    </>
  );
}

// Shows the restarts and their budget, such as "8 / 20".
function RestartsCell({ job }: { job: Job }) {
  if (job.restarts === 0) return <span class="faint">0</span>;
  const budget = job.spec?.restart?.max_restarts;
  return (
    <span title={restartsText(job)}>
      {count(job.restarts)} {budget !== undefined && <span class="faint">/ {count(budget)}</span>}
    </span>
  );
}

// Rows that the user scrolls past request no curve.
const CURVE_SETTLE_MS = 300;

const CHOSEN: Record<ColumnName, Column<Job>> = {
  step: {
    name: 'Step',
    width: '112px',
    right: true,
    priority: 2,
    sort: 'progress',
    cell: (job) => <StepCell job={fresh(job)} />,
  },
  loss: {
    name: 'Loss',
    width: '76px',
    right: true,
    priority: 2,
    sort: 'loss',
    cell: (job) => <LossCell job={fresh(job)} />,
  },
  best: {
    name: 'Best loss',
    width: '90px',
    right: true,
    priority: 4,
    sort: 'best_loss',
    cell: (job) => <Measured value={fresh(job).progress?.best_loss} />,
  },
  curve: {
    name: 'Curve',
    width: '104px',
    priority: 4,
    cell: (job) => job.attempts.length > 0 && (
      <JobSpark job={fresh(job)} settleMs={CURVE_SETTLE_MS} />
    ),
  },
  rate: {
    name: 'Tokens/s',
    width: '86px',
    right: true,
    priority: 3,
    sort: 'rate',
    cell: (job) => short(figuresOf(fresh(job)).tokensPerSecond),
  },
  eta: {
    name: 'Time left',
    width: '88px',
    right: true,
    priority: 3,
    sort: 'eta',
    cell: (job) => duration(figuresOf(fresh(job)).etaSeconds),
  },
  slots: { name: 'Slots', width: '98px', priority: 4, sort: 'slots', cell: shapeText },
  restarts: {
    name: 'Restarts',
    width: '84px',
    right: true,
    priority: 4,
    sort: 'restarts',
    cell: (job) => <RestartsCell job={fresh(job)} />,
  },
  user: { name: 'User', width: '84px', priority: 4, sort: 'user', cell: (job) => job.user },
  submitted: {
    name: 'Submitted',
    width: '90px',
    priority: 3,
    // Jobs are numbered in the order of their submission.
    sort: 'newest',
    cell: (job) => (
      <time title={fullTime(job.submitted_time_ms)}>
        {ago(job.submitted_time_ms, serverNow.value)}
      </time>
    ),
  },
  duration: {
    name: 'Duration',
    width: '86px',
    right: true,
    priority: 4,
    sort: 'ended',
    cell: (job) => duration(wallSeconds(fresh(job), serverNow.value)),
  },
};

interface SelectColumn {
  head: ComponentChildren;
  cell: (job: Job) => ComponentChildren;
}

// Returns the columns of the table: the columns that every view has, and the chosen columns.
export const jobColumns = (chosen: readonly ColumnName[], select: SelectColumn): Column<Job>[] => [
  { name: 'Select', width: '38px', priority: 3, ...select },
  NUMBER,
  NAME,
  STATE,
  ...chosen.map((name) => CHOSEN[name]),
];
