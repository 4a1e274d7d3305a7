// GPU time and its cost by user, job or week.
import { serverNow } from '../api/store';
import type { Cost, GetReportResponse } from '../api/types';
import { percent } from '../format/numbers';
import { gpuHourPrice, hours } from '../format/usage';
import { rowOf, type LedgerRow } from '../overview/ledger_rows';
import { query, setQuery } from '../router/router';
import { Choice } from '../ui/choice';
import { download } from '../ui/download';
import { Icon } from '../ui/icon';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { phaseWord } from '../ui/phase_bar';
import { usageCsv } from './usage_csv';
import { UsageTable } from './usage_table';
import { GROUPS, PERIODS, reportQuery, usageViewIn, type UsageView } from './usage_view';

const MINUTE_MS = 60_000;

const dayOf = (timeMs: number) => new Date(timeMs).toISOString().slice(0, 10);

// A button with the text of a filter of the view. A click removes the filter.
function Filter({ name, text }: { name: 'user' | 'job'; text: string }) {
  return (
    <button type="button" onClick={() => setQuery({ [name]: undefined })}>
      {text} <Icon name="close" />
      <span class="hidden">Show all {name}s</span>
    </button>
  );
}

function Tools({ view, report }: { view: UsageView; report: GetReportResponse | undefined }) {
  const save = () => {
    if (!report) return;
    const csv = new Blob([usageCsv(report, view.by)], { type: 'text/csv' });
    download(`usage-by-${view.by}-${dayOf(report.as_of_ms)}.csv`, csv);
  };
  return (
    <div class="tools">
      {view.user && <Filter name="user" text={`User ${view.user}`} />}
      {view.job && <Filter name="job" text={`Job #${view.job}`} />}
      <Choice
        label="By"
        value={view.by}
        choices={GROUPS}
        onChoose={(by) => setQuery({ by: by === 'user' ? undefined : by })}
      />
      <Choice
        label="Period"
        value={view.period}
        choices={PERIODS}
        onChoose={(period) => setQuery({ period: period === '28d' ? undefined : period })}
      />
      <button type="button" disabled={!report?.groups.length} onClick={save}>
        <Icon name="down" />
        CSV
      </button>
    </div>
  );
}

// Shows the total of each phase, which also explains the colors of the bars.
function PhaseTotals({ total }: { total: LedgerRow }) {
  return (
    <section class="card" aria-labelledby="phases-title">
      <header>
        <h2 id="phases-title">Slot time by phase</h2>
      </header>
      <table class="ledger">
        <thead>
          <tr>
            <th scope="col">Phase</th>
            <th scope="col" class="right">
              Slot-hours
            </th>
            <th scope="col" class="right">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {total.parts.map(({ phase, part }) => (
            <tr key={phase}>
              <td>
                <i class={`swatch phase-${phase}`} aria-hidden="true" />
                {phaseWord(phase)}
              </td>
              <td class="right">{hours(part * total.slotSeconds)}</td>
              <td class="right">{percent(part)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

const WEEKS_TEXT =
  'Weeks begin on Monday, 00:00 UTC. ' +
  'A job that spans weeks is divided by the times of its attempts.';

function Notes({ view, cost }: { view: UsageView; cost: Cost | undefined }) {
  const notes = [
    ...(view.by === 'week' ? [WEEKS_TEXT] : []),
    ...(cost ? [`Price: ${gpuHourPrice(cost)}.`] : []),
  ];
  return notes.length === 0 ? null : <p class="density">{notes.join(' ')}</p>;
}

function Report({ report, view }: { report: GetReportResponse; view: UsageView }) {
  if (!report.total || report.groups.length === 0) {
    return (
      <Empty title="No jobs in this period">Choose a longer period, or remove a filter.</Empty>
    );
  }
  const total = rowOf(report.total);
  return (
    <div class="usage-cards">
      <section class="card" aria-labelledby="usage-title">
        <header>
          <h2 id="usage-title">By {view.by}</h2>
          <p class="faint">
            {dayOf(report.since_ms)} to {dayOf(report.until_ms)}, UTC
          </p>
        </header>
        <UsageTable
          rows={report.groups.map(rowOf)}
          rest={report.rest && rowOf(report.rest)}
          total={total}
          view={view}
        />
        <Notes view={view} cost={report.total.cost} />
      </section>
      {total.parts.length > 0 && <PhaseTotals total={total} />}
    </div>
  );
}

export function Usage() {
  const view = usageViewIn(query.value);
  const now = serverNow.value;
  const path = now > 0 ? '/report' : undefined;
  const asked = reportQuery(view, now);
  const minute = Math.floor(now / MINUTE_MS);
  const { data, error } = useLoad<GetReportResponse>(path, asked, JSON.stringify(view), minute);
  return (
    <>
      <div class="page-head">
        <h1>Usage</h1>
        <Tools view={view} report={data} />
      </div>
      {error && <Failure error={error} />}
      {!data && !error && <Skeleton rows={6} height={28} />}
      {data && <Report report={data} view={view} />}
    </>
  );
}
