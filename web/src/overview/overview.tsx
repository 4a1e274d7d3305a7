// The first page: what needs attention, running and queued jobs, a map of the cluster, and recent
// events.
import { jobList, live, nodeList, runningJobs, serverNow } from '../api/store';
import type { Job } from '../api/types';
import { EventList } from '../events/event_list';
import { count, plural, short } from '../format/numbers';
import { ago, duration } from '../format/time';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { failureOf, figuresOf, newestAttempt, oldLossText } from '../job/progress';
import { ProgressBar } from '../job/progress_bar';
import { hasEnded } from '../api/live';
import { hasFinding, worstFirst } from '../job/health';
import { JobBadge } from '../ui/badge';
import { Loss } from '../ui/loss';
import { Empty, Skeleton } from '../ui/notice';
import { JobStatus } from '../ui/job_status';
import { useServerInfo } from '../ui/server_info';
import { Attention } from './attention';
import { ClusterMap, jobColor } from './cluster_map';
import { FirstSteps, isNew } from './first_steps';
import { JobSpark } from './job_spark';
import { LedgerCard } from './ledger_card';
import { QueueCard } from './queue_card';

// Maximum number of running jobs shown.
const ROWS = 50;
// Number of event lines shown. Must equal RECENT_LINES in api/store.ts.
const EVENTS = 14;

function RunningRow({ job }: { job: Job }) {
  const figures = figuresOf(job);
  const attempt = newestAttempt(job);
  return (
    <li class="run">
      <div class="run-name">
        <i class={`swatch ${jobColor(job.id)}`} aria-hidden="true" />
        <Link href={jobPath(job.id)} data-row>
          {job.name}
        </Link>
        <span class="number">#{job.id}</span>
        {(job.state !== 'running' || hasFinding(job)) && <JobStatus job={job} />}
        {attempt && attempt.number > 1 && <span class="faint">attempt {attempt.number}</span>}
      </div>
      <JobSpark job={job} />
      <div class="run-figures">
        <span>
          <b>
            <Loss job={job} />
          </b>{' '}
          <span class={oldLossText(job) ? 'hidden' : ''}>loss</span> {oldLossText(job)}
        </span>
        <span>
          <b>{short(figures.tokensPerSecond)}</b> tokens/s
        </span>
        <span>
          <b>{duration(figures.etaSeconds)}</b> left
        </span>
      </div>
      <div class="run-progress">
        <ProgressBar done={figures.done} label={`Progress of ${job.name}`} />
        <span class="faint">
          step {count(figures.step)}
          {figures.totalSteps > 0 && ` / ${count(figures.totalSteps)}`}
        </span>
      </div>
    </li>
  );
}

function Running() {
  const jobs = runningJobs.value;
  // `placed` counts all jobs of the cluster; `jobs` has only the newest jobs, because the stream
  // sends no others.
  const amount = Math.max(live.value.placed, jobs?.length ?? 0);
  return (
    <section class="card" aria-labelledby="running-title">
      <header>
        <h2 id="running-title">Running</h2>
        {jobs && <p class="faint">{plural(amount, 'job')}</p>}
      </header>
      {!jobs && <Skeleton rows={3} height={44} />}
      {jobs?.length === 0 && (
        <Empty title="No running jobs">A queued job starts once enough slots are free.</Empty>
      )}
      {jobs && jobs.length > 0 && (
        <ul class="runs">
          {worstFirst(jobs)
            .slice(0, ROWS)
            .map((job) => (
              <RunningRow key={job.id} job={job} />
            ))}
        </ul>
      )}
      {jobs && amount > ROWS && (
        <p class="density">
          Showing {ROWS} of {count(amount)}.{' '}
          <Link href="/jobs?states=starting,running,stopping,pausing">Show all</Link>
        </p>
      )}
    </section>
  );
}

function RecentlyEnded() {
  const ended = jobList.value
    ?.filter(hasEnded)
    .sort((a, b) => b.ended_time_ms - a.ended_time_ms)
    .slice(0, 6);
  if (!ended || ended.length === 0) return null;
  return (
    <section class="card" aria-labelledby="ended-title">
      <header>
        <h2 id="ended-title">Recently ended</h2>
        <Link href="/jobs" class="faint">
          all jobs
        </Link>
      </header>
      <ul class="waits">
        {ended.map((job) => (
          <li key={job.id}>
            <p>
              <Link href={jobPath(job.id)} data-row>
                {job.name}
              </Link>
              <span class="number">#{job.id}</span>
              <JobBadge state={job.state} verdict={job.verdict} />
              <span class="faint end">{ago(job.ended_time_ms, serverNow.value)}</span>
            </p>
            {failureOf(job) && <p class="faint">{failureOf(job)}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Recent() {
  const lines = live.value.events;
  return (
    <section class="card late" aria-labelledby="events-title">
      <header>
        <h2 id="events-title">Events</h2>
        <Link href="/events" class="faint">
          all events
        </Link>
      </header>
      {!lines && <Skeleton rows={EVENTS} height={18} />}
      {lines?.length === 0 && <Empty title="No events yet" />}
      {lines && <EventList lines={lines} limit={EVENTS} />}
    </section>
  );
}

// Draws nothing before jobs, nodes and problems are known, because a late card would move the cards
// below it.
export function Overview() {
  const { data: server, loading } = useServerInfo();
  const [jobs, nodes] = [jobList.value, nodeList.value];
  if (!jobs || !nodes || loading) return <Skeleton rows={8} height={44} />;
  return (
    <div class="overview">
      <h1 class="hidden">Overview</h1>
      <Attention jobs={jobs} nodes={nodes} server={server} />
      <div class="column wide">
        {isNew() ? <FirstSteps /> : <Running />}
        <ClusterMap />
        <LedgerCard />
      </div>
      <div class="column">
        <QueueCard />
        <RecentlyEnded />
        <Recent />
      </div>
    </div>
  );
}
