// Shows a job's resolved settings with their origins, and the differences from another job.
import { openJob } from '../api/store';
import type { GetJobResponse, Job } from '../api/types';
import { plural } from '../format/numbers';
import { useQueryText } from '../router/query_text';
import { Link, query, setQuery } from '../router/router';
import { CommandLine } from '../ui/copy';
import { JobChoice } from '../ui/job_choice';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { matching } from '../ui/matching';
import { codeRows } from './code_rows';
import { diffSettings, flattenSpec, type Difference, type Setting } from './flatten_spec';
import { NamedValues } from './named_values';
import { softwareRows } from './software_rows';

function SettingsTable({ settings }: { settings: readonly Setting[] }) {
  return (
    <div class="table-scroll" role="region" aria-label="Settings" tabIndex={0}>
      <table class="settings">
        <thead>
          <tr>
            <th scope="col">Setting</th>
            <th scope="col">Value</th>
            <th scope="col" class="p2">
              Origin
            </th>
          </tr>
        </thead>
        <tbody>
          {settings.map(({ key, value, origin }) => (
            <tr key={key} class={origin === 'default' ? 'is-default' : ''}>
              <td>
                <code>{key}</code>
              </td>
              <td>
                <code class="value">{value}</code>
              </td>
              <td class="p2">{origin}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const MARK: Record<Difference['kind'], string> = {
  same: '',
  changed: '≠',
  'left only': '−',
  'right only': '+',
};

function DiffTable({
  rows,
  left,
  right,
}: {
  rows: readonly Difference[];
  left: string;
  right: string;
}) {
  if (rows.length === 0) return <Empty title="No differences" />;
  return (
    <div class="table-scroll" role="region" aria-label="Differences" tabIndex={0}>
      <table class="settings diff">
        <thead>
          <tr>
            <th scope="col" class="mark">
              <span class="hidden">Kind</span>
            </th>
            <th scope="col">Setting</th>
            <th scope="col">{left}</th>
            <th scope="col">{right}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.key} class={`diff-${row.kind.replace(' ', '-')}`}>
              <td class="mark" title={row.kind}>
                {MARK[row.kind]}
              </td>
              <td>
                <code>{row.key}</code>
              </td>
              <td>
                <code class="value">{row.left ?? '—'}</code>
              </td>
              <td>
                <code class="value">{row.right ?? '—'}</code>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function AgainstJob({
  job,
  settings,
  other,
  filter,
  all,
}: {
  job: Job;
  settings: readonly Setting[];
  other: string;
  filter: string;
  all: boolean;
}) {
  const path = `/jobs/${encodeURIComponent(other)}`;
  const { data, error } = useLoad<GetJobResponse>(path, {}, other);
  if (error) return <Failure error={error} />;
  if (!data?.job) return <Skeleton rows={6} />;
  const right = flattenSpec(data.job.spec, data.job.origins);
  const rows = diffSettings(settings, right).filter(({ kind }) => all || kind !== 'same');
  const shown = matching(rows, ({ key }) => key, filter);
  return (
    <DiffTable
      rows={shown}
      left={`${job.name} #${job.id}`}
      right={`${data.job.name} #${data.job.id}`}
    />
  );
}

export function Config({ job }: { job: Job }) {
  const [filter, setFilter] = useQueryText('filter');
  // The open job has the origin of every setting; jobs from lists have none.
  const full = openJob.value?.job ?? job;
  const settings = flattenSpec(full.spec, full.origins);
  const other = query.value.get('against') ?? '';
  const all = query.value.get('show') === 'all';
  const written = settings.filter(({ origin }) => all || origin !== 'default');
  const shown = matching(written, ({ key, value }) => `${key} ${value}`, filter);
  const hidden = settings.length - written.length;
  return (
    <>
      <div class="tools">
        <input
          type="search"
          placeholder="Filter settings"
          aria-label="Filter settings"
          value={filter}
          onInput={(event) => setFilter(event.currentTarget.value)}
        />
        <JobChoice
          label="Compare with"
          none="none"
          value={other}
          except={[String(job.id)]}
          onChoose={(against) => setQuery({ against })}
        />
        <label class="inline-field">
          <input
            type="checkbox"
            checked={all}
            onChange={() => setQuery({ show: all ? undefined : 'all' })}
          />
          {other === ''
            ? `Show defaults${hidden > 0 ? ` (${plural(hidden, 'setting')})` : ''}`
            : 'Show equal settings'}
        </label>
      </div>
      {other === '' ? (
        <SettingsTable settings={shown} />
      ) : (
        <AgainstJob job={job} settings={settings} other={other} filter={filter} all={all} />
      )}
      {other === '' && (
        <>
          <NamedValues label="Code" rows={codeRows(full.spec?.code)} />
          {full.spec?.code?.record?.diff && <CommandLine text={`trainyard diff ${job.id}`} />}
          <NamedValues
            label={`Software of attempt ${full.environment?.attempt}`}
            rows={softwareRows(full.environment)}
          />
        </>
      )}
      <p class="label">Command-line equivalent</p>
      <CommandLine text={`trainyard describe ${job.id} -o yaml`} />
      {(full.spec?.command ?? []).length === 0 && (
        <p class="label">
          <Link href={`/planner?job=${job.id}`}>Plan this job on other hardware</Link>
        </p>
      )}
    </>
  );
}
