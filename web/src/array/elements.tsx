// The elements of an array, with their settings and results.
import { useState } from 'preact/hooks';
import { metricsTick } from '../api/store';
import type { ArrayRow, GetArrayResponse, Job } from '../api/types';
import { ABSENT, count, measuredText } from '../format/numbers';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { JobBadge } from '../ui/badge';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { Table, type Column } from '../ui/table';
import { useThrottled } from '../ui/throttle';
import { nextOrder, settingKeys, settingOf } from './columns';
import { rungRows, type RungRow } from './rung_rows';

const PACE_MS = 5_000;
// Rows of one page of the table. An array may have 1,000,000 elements.
const ROWS = 1_000;

const COLUMNS: readonly Column<ArrayRow>[] = [
  { name: 'Element', width: '90px', right: true, sort: 'index', cell: (row) => row.index },
  {
    name: 'Job',
    width: '90px',
    right: true,
    cell: (row) =>
      row.job_id > 0 ? (
        <Link href={jobPath(row.job_id)} data-row>
          #{row.job_id}
        </Link>
      ) : (
        ABSENT
      ),
  },
  { name: 'State', width: '130px', sort: 'state', cell: (row) => <JobBadge state={row.state} /> },
  { name: 'Step', width: '90px', right: true, sort: 'step', cell: (row) => count(row.step) },
  {
    name: 'Loss',
    width: '100px',
    right: true,
    sort: 'loss',
    cell: (row) => (row.loss === undefined ? ABSENT : measuredText(row.loss)),
  },
  {
    name: 'Validation loss',
    width: '140px',
    right: true,
    sort: 'validation_loss',
    cell: (row) => (row.validation_loss === undefined ? ABSENT : measuredText(row.validation_loss)),
  },
];

const settingColumns = (rows: readonly ArrayRow[]): Column<ArrayRow>[] =>
  settingKeys(rows).map((key) => ({ name: key, cell: (row) => settingOf(row, key) }));

const REASON: Column<ArrayRow> = { name: 'Reason', priority: 2, cell: (row) => row.reason };

const metricText = (metric: number | undefined) =>
  metric === undefined ? ABSENT : measuredText(metric);

const RUNG_COLUMNS: readonly Column<RungRow>[] = [
  { name: 'Step', width: '90px', right: true, cell: (row) => count(row.step) },
  { name: 'Kept', width: '90px', right: true, cell: (row) => count(row.kept) },
  { name: 'Stopped', width: '90px', right: true, cell: (row) => count(row.stopped) },
  { name: 'Best kept', width: '120px', right: true, cell: (row) => metricText(row.best) },
  { name: 'Worst kept', width: '150px', right: true, cell: (row) => metricText(row.last) },
];

export function Elements({ job }: { job: Job }) {
  const [order, setOrder] = useState({ by: 'index', reverse: false });
  const [offset, setOffset] = useState(0);
  const tick = useThrottled(metricsTick.value, PACE_MS);
  const { data, error } = useLoad<GetArrayResponse>(
    `/jobs/${job.id}/array`,
    { order: order.by, reverse: order.reverse, limit: ROWS, offset },
    String(job.id),
    `${tick} ${job.state}`,
  );
  if (error && !data) return <Failure error={error} />;
  if (!data) return <Skeleton rows={8} />;
  const { counts, rows, total } = data;
  const sort = (by: string) => {
    setOffset(0);
    setOrder(nextOrder(order, by));
  };
  const waiting = (counts?.elements ?? 0) - (counts?.created ?? 0);
  if (rows.length === 0) {
    return <Empty title="No element has started">Elements become jobs when they can start.</Empty>;
  }
  return (
    <>
      <p class="faint">
        {count(counts?.elements)} elements: {count(counts?.succeeded)} succeeded,{' '}
        {count(counts?.failed)} failed, {count(counts?.stopped)} stopped, {count(waiting)} not
        started
      </p>
      {data.rungs.length > 0 && (
        <Table
          label="Decisions of the halving"
          columns={RUNG_COLUMNS}
          rows={rungRows(data.rungs)}
          rowKey={(row) => row.step}
        />
      )}
      <Table
        label="Elements of the array"
        columns={[...COLUMNS, ...settingColumns(rows), REASON]}
        rows={rows}
        rowKey={(row) => row.index}
        total={total}
        sorted={{ ...order, onSort: sort }}
      />
      {total > rows.length && (
        <p class="density">
          Rows {count(offset + 1)} to {count(offset + rows.length)} of {count(total)}{' '}
          <button
            type="button"
            disabled={offset === 0}
            onClick={() => setOffset(Math.max(0, offset - ROWS))}
          >
            Previous
          </button>{' '}
          <button
            type="button"
            disabled={offset + rows.length >= total}
            onClick={() => setOffset(offset + ROWS)}
          >
            Next
          </button>
        </p>
      )}
    </>
  );
}
