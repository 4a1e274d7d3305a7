// All jobs, from the controller page by page: sorted and searched there.
import { useEffect, useRef, useState } from 'preact/hooks';
import { asRequestError, getJson, isAbort, type RequestError } from '../api/client';
import { live, reconnects, serverNow } from '../api/store';
import type { Job, JobOrder, JobState, ListJobsResponse } from '../api/types';
import { ABSENT, count, measured, percent } from '../format/numbers';
import { ago, duration, fullTime } from '../format/time';
import { JOB_LOOK } from '../format/words';
import { figuresOf, shapeText, wallSeconds } from '../job/progress';
import { Link, navigate, query, setQuery } from '../router/router';
import { jobPath, listIn } from '../router/url';
import { JobBadge } from '../ui/badge';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { Table, type Column } from '../ui/table';

// What fills a tall window comes first, so that the list is there at once.
const FIRST_PAGE = 60;
const PAGE = 200;
const STATES: JobState[] = [
  'queued',
  'starting',
  'running',
  'recovering',
  'stopping',
  'succeeded',
  'failed',
  'stopped',
];

interface Pages {
  jobs: readonly Job[] | undefined;
  total: number;
  error: RequestError | undefined;
  loadMore: () => void;
}

// What the stream tells of a job is newer than what the list said.
const fresh = (job: Job): Job => live.value.jobs?.get(job.id) ?? job;

// The list again, when it may have changed at its beginning: what was loaded below stays, so that
// nobody who has scrolled down loses the place.
function refreshed(old: readonly Job[], page: readonly Job[]): readonly Job[] {
  const known = new Set(page.map(({ id }) => id));
  return [...page, ...old.filter(({ id }) => !known.has(id))];
}

function useJobs(filter: Record<string, string | boolean | undefined>): Pages {
  const [state, setState] = useState<Omit<Pages, 'loadMore'>>({
    jobs: undefined,
    total: 0,
    error: undefined,
  });
  const cursor = useRef('');
  const busy = useRef(false);
  const shownKey = useRef('');
  const key = JSON.stringify(filter);
  const newest = Math.max(0, ...(live.value.jobs?.keys() ?? []));
  const load = (from: string, signal?: AbortSignal) => {
    busy.current = true;
    const request = { ...filter, limit: from === '' ? FIRST_PAGE : PAGE, cursor: from };
    getJson<ListJobsResponse>('/jobs', request, signal).then(
      (page) => {
        busy.current = false;
        const again = from === '' && shownKey.current === key;
        shownKey.current = key;
        if (!again || cursor.current === '') cursor.current = page.next_cursor;
        setState(({ jobs: old = [] }) => ({
          jobs: again ? refreshed(old, page.jobs) : [...(from === '' ? [] : old), ...page.jobs],
          total: page.total,
          error: undefined,
        }));
      },
      (failure: unknown) => {
        busy.current = false;
        if (!isAbort(failure)) setState((old) => ({ ...old, error: asRequestError(failure) }));
      },
    );
  };
  useEffect(() => {
    const abort = new AbortController();
    load('', abort.signal);
    return () => abort.abort();
  }, [key, newest, reconnects.value]);
  return {
    ...state,
    loadMore: () => cursor.current !== '' && !busy.current && load(cursor.current),
  };
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
  { name: '#', width: '64px', right: true, sort: 'newest', cell: (job) => job.id },
  {
    name: 'Name',
    sort: 'name',
    cell: (job) => (
      <Link href={jobPath(job.id)} data-row>
        {job.name}
      </Link>
    ),
  },
  {
    name: 'State',
    width: '124px',
    sort: 'state',
    cell: (job) => <JobBadge state={fresh(job).state} />,
  },
  {
    name: 'Step',
    width: '120px',
    right: true,
    priority: 2,
    sort: 'progress',
    cell: (job) => {
      const { step, done } = figuresOf(fresh(job));
      // The list knows no steps of jobs that ended long ago.
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
    cell: (job) => measured(figuresOf(fresh(job)).loss),
  },
  { name: 'Slots', width: '104px', priority: 3, cell: shapeText },
  { name: 'User', width: '96px', priority: 3, sort: 'user', cell: (job) => job.user },
  {
    name: 'Submitted',
    width: '96px',
    priority: 3,
    cell: (job) => (
      <time title={fullTime(job.submitted_time_ms)}>
        {ago(job.submitted_time_ms, serverNow.value)}
      </time>
    ),
  },
  {
    name: 'Took',
    width: '86px',
    right: true,
    priority: 2,
    sort: 'ended',
    cell: (job) => duration(wallSeconds(fresh(job), serverNow.value)),
  },
];

function SearchField() {
  const value = query.value.get('q') ?? '';
  const [text, setText] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => text !== value && setQuery({ q: text }), 200);
    return () => clearTimeout(timer);
  }, [text]);
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

function StateFilter({ states }: { states: readonly string[] }) {
  const toggle = (state: string) => {
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
  const states = listIn(query.value, 'states');
  const order = (query.value.get('sort') ?? 'newest') as JobOrder;
  const reverse = query.value.get('reverse') === '1';
  const text = query.value.get('q') ?? undefined;
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const { jobs, total, error, loadMore } = useJobs({
    states: states.join(','),
    order,
    reverse: reverse || undefined,
    text,
  });
  const toggle = (id: number) =>
    setChosen((old) => {
      const next = new Set(old);
      if (!next.delete(id)) next.add(id);
      return next;
    });
  const onSort = (by: string) =>
    setQuery({
      sort: by === 'newest' ? undefined : by,
      reverse: by === order && !reverse ? 1 : undefined,
    });
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
        <Empty title={filtered ? 'No job matches' : 'No job has been submitted yet'}>
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
          rowHref={(job) => jobPath(job.id)}
          total={total}
          onEnd={loadMore}
          sorted={{ by: order, reverse, onSort }}
        />
      )}
    </>
  );
}
