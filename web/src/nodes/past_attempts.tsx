// The attempts on a node that have ended, the newest first.
import { serverNow } from '../api/store';
import type { NodeAttempt } from '../api/types';
import { ago, duration, fullTime } from '../format/time';
import { attemptLook } from '../job/attempt_look';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { Badge } from '../ui/badge';
import { Empty, Skeleton } from '../ui/notice';
import { endedAttempts, rankText } from './node_attempts';

function PastAttempt({ past }: { past: NodeAttempt }) {
  const { job_id: job, ended_time_ms: ended, placed_time_ms: placed, stop_reason, state } = past;
  const look = attemptLook({ state, stop_reason, verdict: { cause: past.cause } });
  return (
    <li>
      <p>
        <Link href={jobPath(job, 'timeline')} data-row>
          {past.job_name} #{job}
        </Link>
        <Badge look={look} />
        <span class="faint">attempt {past.attempt}</span>
        <span>{rankText(past.ranks)}</span>
        <span class="faint">{duration((ended - placed) / 1000)}</span>
        <time class="faint end" title={fullTime(ended)}>
          {ago(ended, serverNow.value)}
        </time>
      </p>
      {past.summary && <p class={past.at_fault ? 'tone-bad' : 'faint'}>{past.summary}</p>}
    </li>
  );
}

// `attempts`: undefined while they load.
export function PastAttempts({ attempts }: { attempts: readonly NodeAttempt[] | undefined }) {
  const past = attempts && endedAttempts(attempts);
  return (
    <section class="card past-attempts" aria-labelledby="past-title">
      <header>
        <h2 id="past-title">Past attempts</h2>
      </header>
      {!past && <Skeleton rows={3} height={32} />}
      {past?.length === 0 && <Empty title="None" />}
      <ul class="waits">
        {past?.map((one) => <PastAttempt key={`${one.job_id}/${one.attempt}`} past={one} />)}
      </ul>
    </section>
  );
}
