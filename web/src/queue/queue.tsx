// The queued jobs in queue order, each with its pending reason and advice.
import { live, serverNow, pausedJobs, waitingJobs } from '../api/store';
import type { Job } from '../api/types';
import { count } from '../format/numbers';
import { plainWords } from '../format/words';
import { ago, duration } from '../format/time';
import { shapeText } from '../job/progress';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { JobBadge } from '../ui/badge';
import { withCode } from '../ui/code_text';
import { Empty, Skeleton } from '../ui/notice';

function QueueRow({ job }: { job: Job }) {
  const reason = live.value.pending.get(job.id);
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
          {reason && <span class="code">{plainWords(reason.code)}</span>}
        </p>
        <p>
          {reason ? withCode(reason.message) : 'The nodes are still ending the previous attempt.'}
        </p>
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

function PausedJobs() {
  const jobs = pausedJobs.value ?? [];
  if (jobs.length === 0) return null;
  return (
    <section aria-labelledby="aside-title">
      <h2 id="aside-title" class="aside-title">
        Paused and held <span class="number">{count(jobs.length)}</span>
      </h2>
      <ol class="queue">
        {jobs.map((job) => (
          <QueueRow key={job.id} job={job} />
        ))}
      </ol>
    </section>
  );
}

export function Queue() {
  const jobs = waitingJobs.value;
  const amount = Math.max(live.value.waiting, jobs?.length ?? 0);
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
      {jobs && jobs.length > 0 && (
        <ol class="queue">
          {jobs.map((job) => (
            <QueueRow key={job.id} job={job} />
          ))}
        </ol>
      )}
      {jobs && amount > jobs.length && (
        <p class="density">
          Showing the first {count(jobs.length)} of {count(amount)}.{' '}
          <Link href="/jobs?states=queued,recovering">Show all</Link>
        </p>
      )}
      <PausedJobs />
    </>
  );
}
