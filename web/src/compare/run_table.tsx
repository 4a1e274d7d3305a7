// The compared runs with their values and the settings in which they differ.
import type { Reading } from '../chart/chart';
import type { Job } from '../api/types';
import { RunSample } from '../chart/line_sample';
import { measured } from '../format/numbers';
import { unitOf, valueText } from '../job/panels';
import { Link, setQuery } from '../router/router';
import { jobPath } from '../router/url';
import { JobBadge } from '../ui/badge';
import { Icon } from '../ui/icon';
import type { CompareView } from './compare_view';
import { newestOf, runOrder, type Run } from './runs';
import type { Differences } from './settings';
import { VALIDATION } from './use_runs';

interface RunTableProps {
  view: CompareView;
  runs: readonly Run[];
  differences: Differences;
  colors: readonly number[];
  // By metric. Empty if the cursor is not in a chart.
  readings: ReadonlyMap<string, Reading>;
  chosen: readonly string[];
  picked: number | undefined;
  onPick: (run: number | undefined) => void;
}

// More columns would be hard to compare.
const SETTINGS_MAX = 40;

function Head({ view, shown, readings }: RunTableProps & { shown: readonly string[] }) {
  const { byValue, metrics } = view;
  return (
    <thead>
      <tr>
        <th scope="col">Run</th>
        <th scope="col">State</th>
        {metrics.map((metric, index) => (
          <th
            key={metric}
            scope="col"
            class="right"
            aria-sort={index === 0 && byValue ? 'ascending' : undefined}
          >
            {index > 0 ? (
              metric
            ) : (
              <button
                type="button"
                title={byValue ? 'Sort runs in URL order' : 'Sort runs by this value'}
                onClick={() => setQuery({ order: byValue ? undefined : 'value' })}
              >
                {readings.size > 0 ? `${metric} at cursor` : metric}
                {byValue ? ' ↓' : ''}
              </button>
            )}
          </th>
        ))}
        {!metrics.includes(VALIDATION) && (
          <th scope="col" class="right">
            Validation
          </th>
        )}
        {shown.map((key) => (
          <th key={key} scope="col">
            <code>{key}</code>
          </th>
        ))}
        <th scope="col">
          <span class="hidden">Remove</span>
        </th>
      </tr>
    </thead>
  );
}

function removeRun(job: Job, chosen: readonly string[]): void {
  const left = chosen.filter((ref) => ref !== String(job.id) && ref !== job.name);
  setQuery({ jobs: left.join(',') });
}

// A chart of group means has no curve per run, so the newest value is shown.
function valueAt(
  { view, readings, runs }: RunTableProps,
  index: number,
  metric: string,
): number | undefined {
  const reading = view.means ? undefined : readings.get(metric);
  return reading ? reading.values[index] : newestOf(runs[index] as Run, metric);
}

function Row(props: RunTableProps & { index: number; shown: readonly string[] }) {
  const { view, runs, index, shown, differences, onPick } = props;
  const run = runs[index] as Run;
  const { job } = run;
  return (
    <tr
      class={index === props.picked ? 'picked' : ''}
      onMouseEnter={() => onPick(index)}
      onMouseLeave={() => onPick(undefined)}
      onFocusIn={() => onPick(index)}
    >
      <td>
        <RunSample color={props.colors[index] ?? index} />
        <Link href={jobPath(job.id)} data-row>
          {job.name}
        </Link>{' '}
        <span class="number">#{job.id}</span>
      </td>
      <td>
        <JobBadge state={job.state} verdict={job.verdict} />
      </td>
      {view.metrics.map((metric) => (
        <td key={metric} class="right">
          {valueText(valueAt(props, index, metric), unitOf(metric))}
        </td>
      ))}
      {!view.metrics.includes(VALIDATION) && (
        <td class="right">{measured(newestOf(run, VALIDATION))}</td>
      )}
      {shown.map((key) => (
        <td key={key}>
          <code class="value">{differences.values[index]?.get(key) ?? '—'}</code>
        </td>
      ))}
      <td>
        <button
          type="button"
          class="quiet"
          aria-label={`Remove ${job.name}`}
          onClick={() => removeRun(job, props.chosen)}
        >
          <Icon name="close" />
        </button>
      </td>
    </tr>
  );
}

export function RunTable(props: RunTableProps) {
  const { view, runs, differences } = props;
  const { relevant, operational } = differences;
  const shown = [...relevant, ...(view.allSettings ? operational : [])].slice(0, SETTINGS_MAX);
  return (
    <>
      <div class="table-scroll" role="region" aria-label="Runs" tabIndex={0}>
        <table class="settings compare-runs">
          <Head {...props} shown={shown} />
          <tbody>
            {runOrder(runs, view.byValue ? view.metrics[0] : undefined).map((index) => (
              <Row key={runs[index]?.job.id} {...props} index={index} shown={shown} />
            ))}
          </tbody>
        </table>
      </div>
      {operational.length > 0 && (
        <label class="inline-field compare-settings">
          <input
            type="checkbox"
            checked={view.allSettings}
            onChange={() => setQuery({ settings: view.allSettings ? undefined : 'all' })}
          />
          Show settings that affect neither the loss nor the speed, such as those of restarts and
          checkpoints ({operational.length})
        </label>
      )}
    </>
  );
}
