// The rows of a usage report.
import type { ComponentChildren } from 'preact';
import type { LedgerRow } from '../overview/ledger_rows';
import { count, percent } from '../format/numbers';
import { duration } from '../format/time';
import { hours, money } from '../format/usage';
import { Link } from '../router/router';
import { jobPath } from '../router/url';
import { PhaseBar } from '../ui/phase_bar';
import { userHref, type UsageGroup, type UsageView } from './usage_view';

// Number of rows drawn. Thousands of bars would make the page slow.
const ROWS = 200;

const NAME: Record<UsageGroup, string> = { user: 'User', job: 'Job', week: 'Week of' };

interface Column {
  name: string;
  title?: string;
  // Left-aligned.
  left?: boolean;
  cell: (row: LedgerRow) => ComponentChildren;
}

// Two sums of seconds are equal if they differ only by rounding.
const differs = (a: number, b: number) => Math.abs(a - b) > 0.5;

// Returns the columns with GPU time, slot time and cost. Columns that would be empty or repeat
// another column are left out.
function amountColumns(total: LedgerRow): Column[] {
  const columns: Column[] = [];
  if (total.gpuSeconds > 0) {
    columns.push({ name: 'GPU-hours', cell: (row) => hours(row.gpuSeconds) });
  }
  if (differs(total.slotSeconds, total.gpuSeconds)) {
    columns.push({ name: 'Slot-hours', cell: (row) => hours(row.slotSeconds) });
  }
  if (total.cost) columns.push({ name: 'Cost', cell: (row) => money(row.cost) });
  return columns;
}

function columnsFor(total: LedgerRow, by: UsageGroup): Column[] {
  const columns = amountColumns(total);
  columns.push({ name: 'Phases', left: true, cell: (row) => <PhaseBar parts={row.parts} /> });
  const goodput = (row: LedgerRow) => (row.goodput === undefined ? '-' : percent(row.goodput));
  columns.push({ name: 'Goodput', cell: goodput });
  if (by !== 'job') columns.push({ name: 'Jobs', cell: (row) => count(row.jobs) });
  columns.push({ name: 'Restarts', cell: (row) => count(row.restarts) });
  columns.push({
    name: 'Queued',
    title: 'Time in the queue, without slots',
    cell: (row) => duration(row.queuedSeconds),
  });
  if (total.idleSeconds !== undefined) {
    columns.push({ name: 'Idle slot-hours', cell: (row) => hours(row.idleSeconds ?? 0) });
  }
  return columns;
}

function RowName({ row, view }: { row: LedgerRow; view: UsageView }) {
  if (row.jobId > 0) {
    return (
      <>
        <Link href={jobPath(row.jobId)}>{row.name}</Link> <span class="number">#{row.jobId}</span>
      </>
    );
  }
  if (view.by !== 'user') return <>{row.name}</>;
  if (row.name === '') return <span class="faint">no user</span>;
  return <Link href={userHref(row.name, view.period)}>{row.name}</Link>;
}

interface RowsProps {
  rows: readonly LedgerRow[];
  // Sum of the groups beyond the limit.
  rest: LedgerRow | undefined;
  total: LedgerRow;
  view: UsageView;
}

export function UsageTable({ rows, rest, total, view }: RowsProps) {
  const columns = columnsFor(total, view.by);
  const row = (shown: LedgerRow, name: ComponentChildren, key: string | number) => (
    <tr key={key}>
      <th scope="row">{name}</th>
      {columns.map((column) => (
        <td key={column.name} class={column.left ? '' : 'right'}>
          {column.cell(shown)}
        </td>
      ))}
    </tr>
  );
  return (
    <div class="ledger-scroll" role="region" aria-label="Usage by group" tabIndex={0}>
      <table class="ledger usage">
        <thead>
          <tr>
            <th scope="col">{NAME[view.by]}</th>
            {columns.map(({ name, title, left }) => (
              <th key={name} scope="col" class={left ? '' : 'right'} title={title}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows
            .slice(0, ROWS)
            .map((shown, index) => row(shown, <RowName row={shown} view={view} />, index))}
          {rest && row(rest, rest.name, 'rest')}
        </tbody>
        <tfoot>{row(total, 'Total', 'total')}</tfoot>
      </table>
      {rows.length > ROWS && (
        <p class="density">
          Showing the first {ROWS} of {count(rows.length)} rows. The CSV file has all of them.
        </p>
      )}
    </div>
  );
}
