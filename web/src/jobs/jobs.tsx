// The list of all jobs. The controller does the sorting and searching. Loaded page by page.
import type { JobState } from '../api/types';
import { count } from '../format/numbers';
import { JOB_LOOK } from '../format/words';
import { useQueryText } from '../router/query_text';
import { Link, query, setQuery } from '../router/router';
import { jobPath } from '../router/url';
import { useMedia } from '../ui/media';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { Table } from '../ui/table';
import { columnsIn } from './column_choice';
import { jobColumns } from './job_columns';
import { STATES, filterIn, sortAfterClick } from './job_pages';
import { SelectAllBox, SelectBox, SelectedTools, useSelection } from './select_tools';
import { useJobs } from './use_jobs';
import { ColumnTools, ViewTools } from './view_tools';

// Heights of a row. A row has space for a reason below the name: one line, or two on a phone.
const ROW_PX = 40;
const NARROW_ROW_PX = 62;
const NARROW = '(max-width: 640px)';

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

function NoJobs({ filtered }: { filtered: boolean }) {
  return (
    <Empty title={filtered ? 'No matching jobs' : 'No jobs yet'}>
      {filtered && (
        <button type="button" onClick={() => setQuery({ q: '', states: '' })}>
          Show all jobs
        </button>
      )}
    </Empty>
  );
}

export function Jobs() {
  const filter = filterIn(query.value);
  const { states, order, reverse, text } = filter;
  const { jobs, total, error, loadMore } = useJobs(filter);
  const tools = useSelection(filter, jobs, total);
  const columns = jobColumns(columnsIn(query.value), {
    head: <SelectAllBox tools={tools} total={total} />,
    cell: (job) => <SelectBox job={job} tools={tools} />,
  });
  const onSort = (by: string) => setQuery(sortAfterClick(by, filter));
  const narrow = useMedia(NARROW);
  return (
    <>
      <div class="page-head">
        <h1>Jobs {jobs && <span class="number">{count(total)}</span>}</h1>
        <SelectedTools tools={tools} total={total} />
        <Link href="/submit" class="button">
          New job…
        </Link>
      </div>
      <div class="tools">
        <SearchField />
        <StateFilter states={states} />
        <ViewTools />
        <ColumnTools />
      </div>
      {error && <Failure error={error} />}
      {!jobs && !error && <Skeleton rows={10} height={26} />}
      {jobs?.length === 0 && <NoJobs filtered={states.length > 0 || text !== undefined} />}
      {jobs && jobs.length > 0 && (
        <Table
          label="Jobs"
          columns={columns}
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
