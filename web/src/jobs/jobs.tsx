// The list of all jobs. The controller sorts and searches it; the page loads it page by page.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { asRequestError, getJson, type RequestError } from '../api/client';
import { hasEnded } from '../api/live';
import { live, serverNow } from '../api/store';
import type { Job, JobState, ListJobsResponse } from '../api/types';
import { ABSENT, count, percent } from '../format/numbers';
import { ago, duration, fullTime } from '../format/time';
import { HEALTH_LOOK, JOB_LOOK, lookOf } from '../format/words';
import { isSick, worstFinding } from '../job/health';
import { failureOf, figuresOf, oldLossText, shapeText, wallSeconds } from '../job/progress';
import { useQueryText } from '../router/query_text';
import { Link, navigate, query, setQuery } from '../router/router';
import { jobPath } from '../router/url';
import { JobStatus } from '../ui/job_status';
import { Loss } from '../ui/loss';
import { useRetry } from '../ui/retry';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { SingleFlight } from '../ui/single_flight';
import { Table, type Column } from '../ui/table';
import { useMedia } from '../ui/media';
import { useThrottled } from '../ui/throttle';
import {
  STATES,
  filterIn,
  joined,
  listTick,
  refreshLimit,
  refreshed,
  sickFirst,
  sortAfterClick,
  stillMatching,
  type JobFilter,
} from './job_pages';

const PAGE = 200;
// Minimum time between two requests of the list while jobs change.
const PACE_MS = 2_000;
// Heights of a row. A name has its reason below it: in one line, or in two on a phone.
const ROW_PX = 40;
const NARROW_ROW_PX = 62;
const NARROW = '(max-width: 640px)';

interface Pages {
  jobs: readonly Job[] | undefined;
  total: number;
  error: RequestError | undefined;
  loadMore: () => void;
}

// Returns the job's data from the stream, which is newer than the list.
const fresh = (job: Job): Job => live.value.jobs?.get(job.id) ?? job;

interface Held {
  key: string;
  jobs: readonly Job[];
  total: number;
  cursor: string;
}

const queryOf = ({ states, order, reverse, text }: JobFilter) => ({
  states: states.join(','),
  order: order === 'health' ? undefined : order,
  reverse: reverse || undefined,
  text,
});

function useJobs(filter: JobFilter): Pages {
  const [held, setHeld] = useState<Held>();
  const [error, setError] = useState<RequestError>();
  const requests = useRef<SingleFlight>(undefined);
  requests.current ??= new SingleFlight();
  const key = JSON.stringify(filter);
  const { jobs: known, deleted } = live.value;
  const tick = useThrottled(
    useMemo(() => listTick(known?.values() ?? [], deleted.size, filter), [known, deleted, key]),
    PACE_MS,
  );
  const newest = useRef(held);
  newest.current = held;
  // True if the user reached the end of the list during a refresh.
  const wantsMore = useRef(false);
  // Sends one request at a time. Discards a response if the filter has changed since the request.
  const load = async (from: string, signal: AbortSignal) => {
    const now = newest.current?.key === key ? newest.current : undefined;
    const limit = from === '' ? refreshLimit(now?.jobs.length ?? 0, filter) : PAGE;
    const request = { ...queryOf(filter), limit, cursor: from };
    try {
      const page = await getJson<ListJobsResponse>('/jobs', request, signal);
      if (signal.aborted) return;
      setError(undefined);
      const next = heldAfter(now, { key, limit, from, page });
      setHeld(next);
      if (wantsMore.current && from === '' && next.cursor !== '') loadFrom(next.cursor);
      wantsMore.current = false;
    } catch (failure) {
      if (!signal.aborted) setError(asRequestError(failure));
    }
  };
  const loadFrom = (cursor: string) =>
    requests.current?.ask(key, (signal) => load(cursor, signal));
  const loadFirst = () => loadFrom('');
  useEffect(() => {
    loadFirst();
  }, [key, tick]);
  useRetry(error, loadFirst);
  useEffect(() => () => requests.current?.cancel(), []);
  const matching = held && stillMatching(held.jobs, filter, { deleted, fresh });
  const shown = matching && sickFirst(matching, known?.values() ?? [], filter);
  return {
    jobs: shown,
    total: held?.total ?? 0,
    error,
    loadMore: () => {
      const { current: now } = newest;
      if (!now?.cursor || now.key !== key) return;
      if (requests.current?.busy) wantsMore.current = true;
      else loadFrom(now.cursor);
    },
  };
}

interface Arrived {
  key: string;
  limit: number;
  from: string;
  page: ListJobsResponse;
}

function heldAfter(now: Held | undefined, { key, limit, from, page }: Arrived): Held {
  const { total, next_cursor: cursor } = page;
  if (!now) return { key, total, cursor, jobs: page.jobs };
  if (from !== '') return { key, total, cursor, jobs: joined(now.jobs, page.jobs) };
  const { jobs, whole } = refreshed(now.jobs, page.jobs, limit);
  return { key, total, jobs, cursor: whole ? cursor : now.cursor };
}

// Shows on a phone, which has no columns for it: why the job is queued, or how far it is.
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

const columns = (chosen: ReadonlySet<number>, toggle: (id: number) => void): Column<Job>[] => [
  {
    name: 'Compare',
    quietName: true,
    width: '38px',
    priority: 3,
    cell: (job) => (
      <input
        type="checkbox"
        aria-label={`Compare ${job.name} #${job.id}`}
        checked={chosen.has(job.id)}
        onChange={() => toggle(job.id)}
      />
    ),
  },
  {
    name: '#',
    width: '64px',
    right: true,
    priority: 2,
    sort: 'newest',
    cell: (job) => job.id,
  },
  {
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
  },
  {
    name: 'State',
    width: '124px',
    sort: 'state',
    cell: (job) => <JobStatus job={fresh(job)} />,
  },
  {
    name: 'Step',
    width: '120px',
    right: true,
    priority: 2,
    sort: 'progress',
    cell: (job) => {
      const { step, done } = figuresOf(fresh(job));
      // The list has no step counts for jobs that ended long ago.
      if (step === 0) return ABSENT;
      return (
        <>
          {count(step)} {done !== undefined && <span class="faint">{percent(done, 0)}</span>}
        </>
      );
    },
  },
  {
    name: 'Loss',
    width: '84px',
    right: true,
    priority: 2,
    cell: (job) => (
      <>
        <Loss job={fresh(job)} />
        <span class="row-reason faint">{oldLossText(fresh(job))}</span>
      </>
    ),
  },
  { name: 'Slots', width: '104px', priority: 3, cell: shapeText },
  { name: 'User', width: '96px', priority: 3, sort: 'user', cell: (job) => job.user },
  {
    name: 'Submitted',
    width: '96px',
    priority: 3,
    // Jobs are numbered in the order of their submission.
    sort: 'newest',
    cell: (job) => (
      <time title={fullTime(job.submitted_time_ms)}>
        {ago(job.submitted_time_ms, serverNow.value)}
      </time>
    ),
  },
  {
    name: 'Duration',
    width: '86px',
    right: true,
    priority: 2,
    sort: 'ended',
    cell: (job) => duration(wallSeconds(fresh(job), serverNow.value)),
  },
];

function SearchField() {
  const [text, setText] = useQueryText('q');
  return (
    <input
      type="search"
      class="grow"
      placeholder="Search by name, number, user or description"
      aria-label="Search jobs"
      value={text}
      onInput={(event) => setText(event.currentTarget.value)}
    />
  );
}

function StateFilter({ states }: { states: readonly JobState[] }) {
  const toggle = (state: JobState) => {
    const next = states.includes(state) ? states.filter((s) => s !== state) : [...states, state];
    setQuery({ states: next.join(',') });
  };
  return (
    <div class="filter" role="group" aria-label="States">
      {STATES.map((state) => (
        <button
          key={state}
          type="button"
          aria-pressed={states.includes(state)}
          onClick={() => toggle(state)}
        >
          {JOB_LOOK[state].word}
        </button>
      ))}
    </div>
  );
}

export function Jobs() {
  const filter = filterIn(query.value);
  const { states, order, reverse, text } = filter;
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const { jobs, total, error, loadMore } = useJobs(filter);
  const toggle = (id: number) =>
    setChosen((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const onSort = (by: string) => setQuery(sortAfterClick(by, filter));
  const narrow = useMedia(NARROW);
  const filtered = states.length > 0 || text !== undefined;
  return (
    <>
      <div class="page-head">
        <h1>Jobs {jobs && <span class="number">{count(total)}</span>}</h1>
        {chosen.size > 0 && (
          <button
            type="button"
            class="primary"
            onClick={() => navigate(`/compare?jobs=${[...chosen].join(',')}`)}
          >
            Compare {chosen.size}
          </button>
        )}
      </div>
      <div class="tools">
        <SearchField />
        <StateFilter states={states} />
      </div>
      {error && <Failure error={error} />}
      {!jobs && !error && <Skeleton rows={10} height={26} />}
      {jobs?.length === 0 && (
        <Empty title={filtered ? 'No matching jobs' : 'No jobs yet'}>
          {filtered && (
            <button type="button" onClick={() => setQuery({ q: '', states: '' })}>
              Show all jobs
            </button>
          )}
        </Empty>
      )}
      {jobs && jobs.length > 0 && (
        <Table
          label="Jobs"
          columns={columns(chosen, toggle)}
          rows={jobs}
          rowKey={(job) => job.id}
          rowPx={narrow ? NARROW_ROW_PX : ROW_PX}
          rowHref={(job) => jobPath(job.id)}
          total={total}
          onEnd={loadMore}
          sorted={{ by: order, reverse, onSort }}
        />
      )}
    </>
  );
}
