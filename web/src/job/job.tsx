// The page of one job: a header, tabs, and the content of the open tab.
import { Fragment } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { asRequestError, type RequestError } from '../api/client';
import { LISTED, follow, live, openJob, otherClusters } from '../api/store';
import type { Job } from '../api/types';
import { Elements } from '../array/elements';
import { JOB_LOOK } from '../format/words';
import { Link, navigate, place, query, setQuery } from '../router/router';
import { jobPath, ordinalIn, sharedQuery, type JobTab } from '../router/url';
import { lazy } from '../ui/lazy';
import { useRetry } from '../ui/retry';
import { useKeys, type KeyMap } from '../ui/keyboard';
import { usePageTitle } from '../ui/page_title';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { Checkpoints } from './checkpoints';
import { Config } from './config';
import { Curves } from './curves';
import { tabsOf } from './job_tabs';
import { prefetchJob } from './prefetch';
import { JobEvents } from './job_events';
import { JobHeader } from './header';
import { attentionLook } from './health';
import { Logs } from './logs';
import { Ranks } from './ranks';
import { Timeline } from './timeline';

const TAB_NAME: Record<JobTab, string> = {
  curves: 'Curves',
  ranks: 'Ranks',
  timeline: 'Timeline',
  checkpoints: 'Checkpoints',
  logs: 'Logs',
  config: 'Config',
  events: 'Events',
  experts: 'Experts',
  data: 'Data',
  elements: 'Elements',
};

const EXPERTS_PX = 640;
const DATASET_PX = 640;

const Experts = lazy(() => import('../experts/experts').then((code) => code.Experts), EXPERTS_PX);
const Dataset = lazy(() => import('../dataset/dataset').then((code) => code.Dataset), DATASET_PX);

// Tabs that need only the job's data in the list and the tab's own requests.
const PREFETCHED_TABS: ReadonlySet<JobTab> = new Set(['curves', 'ranks', 'logs', 'events']);

// Counts are shown only after the whole job is loaded, because a listed job has only its newest
// attempt.
function amountIn(tab: JobTab, job: Job): number | undefined {
  if (openJob.value?.revision === LISTED) return undefined;
  if (tab === 'timeline') return job.attempts.length;
  if (tab === 'checkpoints') return job.checkpoints.length;
  return undefined;
}

function Tabs({ job, tab }: { job: Job; tab: JobTab }) {
  return (
    <nav class="tabs" aria-label="Job views">
      {tabsOf(job, tab).map((name) => {
        const amount = amountIn(name, job);
        return (
          <Link
            key={name}
            href={jobPath(job.id, name) + sharedQuery(query.value)}
            aria-current={name === tab ? 'page' : undefined}
          >
            {TAB_NAME[name]}
            {amount !== undefined && <span class="count">{amount}</span>}
          </Link>
        );
      })}
    </nav>
  );
}

function TabContent({ job, tab }: { job: Job; tab: JobTab }) {
  switch (tab) {
    case 'curves':
      return <Curves job={job} />;
    case 'ranks':
      return <Ranks job={job} />;
    case 'timeline':
      return <Timeline job={job} />;
    case 'checkpoints':
      return <Checkpoints job={job} />;
    case 'logs':
      return <Logs job={job} />;
    case 'config':
      return <Config job={job} />;
    case 'events':
      return <JobEvents job={job} />;
    case 'experts':
      return <Experts job={job} />;
    case 'data':
      return <Dataset job={job} />;
    case 'elements':
      return <Elements job={job} />;
  }
}

// Returns the attempt before or after the chosen attempt. "All" follows the newest attempt.
function neighborAttempt(
  numbers: readonly number[],
  chosen: number | undefined,
  by: 1 | -1,
): number | undefined {
  const ring: (number | undefined)[] = [undefined, ...numbers];
  const at = Math.max(0, ring.indexOf(chosen));
  return ring[(at + by + ring.length) % ring.length];
}

function useJobKeys(job: Job | undefined, shown: JobTab): void {
  const keys: KeyMap = {};
  if (job) {
    const open = (tab: JobTab) => () =>
      navigate(jobPath(job.id, tab) + sharedQuery(query.peek()));
    tabsOf(job, shown).forEach((tab, index) => {
      keys[String(index + 1)] = open(tab);
    });
    keys['l'] = open('logs');
    const step = (by: 1 | -1) => () => {
      const chosen = ordinalIn(query.value, 'attempt');
      const numbers = job.attempts.map(({ number }) => number);
      setQuery({ attempt: neighborAttempt(numbers, chosen, by), step: undefined });
    };
    keys['['] = step(-1);
    keys[']'] = step(1);
  }
  useKeys(keys);
}

export function JobPage() {
  const at = place.value;
  const reference = at.page === 'job' ? at.job : '';
  const tab = at.page === 'job' ? at.tab : 'curves';
  const [failed, setFailed] = useState<{ reference: string; error: RequestError }>();
  const error = failed?.reference === reference ? failed.error : undefined;
  const [tries, setTries] = useState(0);
  // Runs before the first paint, so that the requests the page waits for start early.
  useLayoutEffect(() => {
    if (reference !== '') prefetchJob(reference, tab, query.peek());
    follow(reference).then(
      () => setFailed(undefined),
      (failure: unknown) => setFailed({ reference, error: asRequestError(failure) }),
    );
    return () => void follow(undefined);
  }, [reference, tries, otherClusters.value]);
  // Retries only a failed request. Updates missed while disconnected need no request, because the
  // stream sends them for the open job after a reconnect.
  useRetry(error, () => error && setTries((count) => count + 1));
  const response = openJob.value;
  const job = response?.job;
  useJobKeys(job, tab);
  const look = job && (job.state === 'failed' ? JOB_LOOK.failed : attentionLook(job));
  usePageTitle(job ? `${job.name} #${job.id}` : 'Job', look);
  if (error?.status === 404) {
    return (
      <Empty title={`Job ${reference} not found`}>
        <Link href="/jobs">All jobs</Link>
      </Empty>
    );
  }
  if (job && live.value.deleted.has(job.id)) {
    return (
      <Empty title={`Job ${job.id} was deleted`}>
        <Link href="/jobs">All jobs</Link>
      </Empty>
    );
  }
  if (error) return <Failure error={error} retry={() => setTries(tries + 1)} />;
  if (!response || !job) return <Skeleton rows={8} height={32} />;
  return (
    // Without the key, an open dialog or a chosen rank would carry over to the next job.
    <Fragment key={job.id}>
      <JobHeader response={response} job={job} />
      <Tabs job={job} tab={tab} />
      <div class="tab-content">
        {response.revision === LISTED && !PREFETCHED_TABS.has(tab) ? (
          <Skeleton rows={6} />
        ) : (
          <TabContent job={job} tab={tab} />
        )}
      </div>
    </Fragment>
  );
}
