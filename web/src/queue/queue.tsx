// The queued jobs, grouped by what they wait for. A job with a reason of its own shows the reason.
// Jobs behind the head of the queue are one table, because they all wait for the same job.
import { live, serverNow, pausedJobs, waitingJobs } from '../api/store';
import type { Job, ListQueuesResponse, PendingReason } from '../api/types';
import { count } from '../format/numbers';
import { ago, duration } from '../format/time';
import { plainWords, sentence } from '../format/words';
import { estimateCell, estimateText } from '../job/estimate';
import { shapeText } from '../job/progress';
import { Promises } from '../job/promises';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { JobBadge } from '../ui/badge';
import { withCode } from '../ui/code_text';
import { Empty, Skeleton } from '../ui/notice';
import { useLoad } from '../ui/load';
import { Table, type Column } from '../ui/table';
import { BehindText } from './behind_text';
import { groupQueue, type BehindGroup } from './queue_groups';
import { SharesCard } from './shares_card';

// Reasons already named by the state of the job or by the reason's message.
const UNTAGGED: readonly PendingReason['code'][] = ['paused', 'priority', 'stopping'];

// Reasons with estimated starts, by job.
type Estimates = ReadonlyMap<number, PendingReason>;

function QueueRow({ job, estimates }: { job: Job; estimates: Estimates }) {
  const reason = live.value.pending.get(job.id);
  const estimated = estimates.get(job.id);
  const estimate = estimated && estimateText(estimated, serverNow.value);
  const backoff = job.not_before_ms - serverNow.value;
  return (
    <li class="queue-row">
      <span class="place" aria-label="Position">
        {reason?.queue_position || '—'}
      </span>
      <div class="queue-text">
        <p>
          <Link href={jobPath(job.id)} data-row>
            {job.name}
          </Link>
          <span class="number">#{job.id}</span>
          <JobBadge state={job.state} />
          {reason && !UNTAGGED.includes(reason.code) && (
            <span class="code">{plainWords(reason.code)}</span>
          )}
        </p>
        <p>
          {reason
            ? withCode(sentence(reason.message))
            : 'Waiting for the previous attempt to exit.'}
        </p>
        {estimate && <p class="faint">{estimate}.</p>}
        {estimated && <Promises pending={estimated} />}
        {reason?.advice && <p class="faint">{withCode(reason.advice)}</p>}
      </div>
      <dl>
        <div>
          <dt>Requests</dt>
          <dd>{shapeText(job)}</dd>
        </div>
        <div>
          <dt>{backoff > 0 ? 'Retry in' : 'Submitted'}</dt>
          <dd>
            {backoff > 0 ? duration(backoff / 1000) : ago(job.submitted_time_ms, serverNow.value)}
          </dd>
        </div>
        <div>
          <dt>User</dt>
          <dd>{job.user || '—'}</dd>
        </div>
      </dl>
    </li>
  );
}

const COLUMNS: readonly Column<Job>[] = [
  {
    name: 'Position',
    width: '84px',
    right: true,
    cell: (job) => live.value.pending.get(job.id)?.queue_position || '—',
  },
  {
    name: 'Job',
    cell: (job) => (
      <>
        <Link href={jobPath(job.id)} data-row>
          {job.name}
        </Link>{' '}
        <span class="number">#{job.id}</span>
      </>
    ),
  },
  { name: 'Requests', width: '130px', cell: shapeText },
  {
    name: 'Submitted',
    width: '110px',
    priority: 2,
    cell: (job) => ago(job.submitted_time_ms, serverNow.value),
  },
  { name: 'User', width: '120px', priority: 3, cell: (job) => job.user || '—' },
];

// The number of jobs for which estimated starts are loaded, and how often they are.
const ESTIMATED_JOBS = 500;
const REFRESH_MS = 15_000;

function startsColumn(estimates: Estimates): Column<Job> {
  return {
    name: 'Starts in',
    width: '110px',
    right: true,
    priority: 1,
    cell: (job) => estimateCell(estimates.get(job.id), serverNow.value),
  };
}

// Returns the reasons with estimated starts, by job. Empty until they are loaded.
function useEstimates(): Estimates {
  const tick = Math.floor(serverNow.value / REFRESH_MS);
  const query = { limit: ESTIMATED_JOBS };
  const { data } = useLoad<ListQueuesResponse>('/queues', query, 'queued-jobs', tick);
  const jobs = data?.jobs ?? [];
  return new Map(jobs.flatMap((job) => (job.reason ? [[job.job_id, job.reason] as const] : [])));
}

function BehindJobs({ group, estimates }: { group: BehindGroup; estimates: Estimates }) {
  const { blockerId, jobs, total } = group;
  const title = `behind-${blockerId}`;
  return (
    <section class="queue-group" aria-labelledby={title}>
      <h2 id={title}>
        <BehindText group={group} />
      </h2>
      <p class="faint">
        Jobs start in queue order. A later job may start first if it does not delay the first job.
      </p>
      <Table
        label="Jobs in queue order"
        columns={[...COLUMNS, startsColumn(estimates)]}
        rows={jobs}
        rowKey={(job) => job.id}
        rowHref={(job) => jobPath(job.id)}
        total={total}
      />
      {total > jobs.length && (
        <p class="density">
          Showing the first {count(jobs.length)} of {count(total)}.{' '}
          <Link href="/jobs?states=queued,recovering">Show all</Link>
        </p>
      )}
    </section>
  );
}

function Rows({ jobs, estimates }: { jobs: readonly Job[]; estimates: Estimates }) {
  return (
    <ol class="queue">
      {jobs.map((job) => (
        <QueueRow key={job.id} job={job} estimates={estimates} />
      ))}
    </ol>
  );
}

function PausedJobs() {
  const jobs = pausedJobs.value ?? [];
  if (jobs.length === 0) return null;
  return (
    <section class="queue-group" aria-labelledby="aside-title">
      <h2 id="aside-title">
        Paused and held <span class="number">{count(jobs.length)}</span>
      </h2>
      <Rows jobs={jobs} estimates={new Map()} />
    </section>
  );
}

export function Queue() {
  const jobs = waitingJobs.value;
  const estimates = useEstimates();
  const amount = Math.max(live.value.waiting, jobs?.length ?? 0);
  const { waiting, behind } = groupQueue(jobs ?? [], live.value.pending, amount);
  return (
    <>
      <div class="page-head">
        <h1>Queue {jobs && <span class="number">{count(amount)}</span>}</h1>
      </div>
      {!jobs && <Skeleton rows={5} height={54} />}
      {jobs?.length === 0 && (
        <Empty title="No queued jobs">
          All submitted jobs have slots, have ended, or are paused or held.
        </Empty>
      )}
      {waiting.length > 0 && <Rows jobs={waiting} estimates={estimates} />}
      {behind.map((group) => (
        <BehindJobs key={group.blockerId} group={group} estimates={estimates} />
      ))}
      <SharesCard />
      <PausedJobs />
    </>
  );
}
