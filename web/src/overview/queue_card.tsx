// The queue on the overview: jobs with a reason of their own, then one line for the jobs behind the
// head of the queue.
import { live, waitingJobs } from '../api/store';
import type { Job } from '../api/types';
import { plural } from '../format/numbers';
import { sentence } from '../format/words';
import { shapeText } from '../job/progress';
import { BehindText } from '../queue/behind_text';
import { groupQueue } from '../queue/queue_groups';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { withCode } from '../ui/code_text';
import { JobStatus } from '../ui/job_status';
import { Empty } from '../ui/notice';

// Maximum number of jobs that are shown with their reasons.
const ROWS = 6;

function Row({ job }: { job: Job }) {
  const reason = live.value.pending.get(job.id);
  return (
    <li>
      <p>
        <Link href={jobPath(job.id)} data-row>
          {job.name}
        </Link>
        <span class="number">#{job.id}</span>
        {job.state !== 'queued' && <JobStatus job={job} />}
        <span class="faint end">{shapeText(job)}</span>
      </p>
      <p class="faint">
        {reason ? withCode(sentence(reason.message)) : 'Waiting for the previous attempt to exit.'}
      </p>
    </li>
  );
}

export function QueueCard() {
  const jobs = waitingJobs.value ?? [];
  const amount = Math.max(live.value.waiting, jobs.length);
  const { waiting, behind } = groupQueue(jobs, live.value.pending, amount);
  return (
    <section class="card" aria-labelledby="queue-title">
      <header>
        <h2 id="queue-title">Queue</h2>
        {amount > 0 && (
          <Link href="/queue" class="faint">
            {plural(amount, 'job')}
          </Link>
        )}
      </header>
      {amount === 0 && (
        <Empty title="No queued jobs">
          Queued jobs appear here with the reason they are waiting.
        </Empty>
      )}
      {amount > 0 && (
        <ul class="waits">
          {waiting.slice(0, ROWS).map((job) => (
            <Row key={job.id} job={job} />
          ))}
          {waiting.length > ROWS && (
            <li class="faint">{plural(waiting.length - ROWS, 'more job')} with other reasons.</li>
          )}
          {behind.map((group) => (
            <li key={`behind-${group.blockerId}`} class="behind">
              <BehindText group={group} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
