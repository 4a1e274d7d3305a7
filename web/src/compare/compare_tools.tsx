// The controls above a comparison. Each control changes the URL.
import { setQuery } from '../router/router';
import { AXES, SMOOTHINGS, listText } from '../router/url';
import { CheckMenu, asOptions } from '../ui/check_menu';
import { Choice } from '../ui/choice';
import { JobChoice } from '../ui/job_choice';
import { METRICS_MAX, type CompareView, type Plot } from './compare_view';

interface CompareToolsProps {
  view: CompareView;
  // Names of series that can be drawn.
  keys: readonly string[];
  // Settings by which runs can be grouped.
  settings: readonly string[];
  chosen: readonly string[];
}

function MetricMenu({ view, keys }: Pick<CompareToolsProps, 'view' | 'keys'>) {
  const { metrics } = view;
  const toggle = (key: string) => {
    const next = metrics.includes(key) ? metrics.filter((one) => one !== key) : [...metrics, key];
    setQuery({ key: listText(next.slice(-METRICS_MAX)) });
  };
  const options = asOptions([...new Set([...metrics, ...keys])].sort());
  return <CheckMenu title="Metrics" options={options} chosen={metrics} onToggle={toggle} />;
}

function GroupChoice({ view, settings }: Pick<CompareToolsProps, 'view' | 'settings'>) {
  const { by } = view;
  const options = by && !settings.includes(by) ? [by, ...settings] : settings;
  return (
    <>
      <label class="inline-field">
        Color by
        <select value={by ?? ''} onChange={(event) => setQuery({ by: event.currentTarget.value })}>
          <option value="">run</option>
          {options.map((key) => (
            <option key={key}>{key}</option>
          ))}
        </select>
      </label>
      {by && (
        <Choice
          label="Draw"
          value={view.means ? 'means' : 'runs'}
          choices={[
            ['runs', 'runs'],
            ['means', 'group means'],
          ]}
          onChoose={(draw) => setQuery({ draw: draw === 'means' ? 'means' : undefined })}
        />
      )}
    </>
  );
}

const PLOT_CHOICES: readonly (readonly [Plot, string])[] = [
  ['none', 'none'],
  ['scatter', 'scatter'],
  ['parallel', 'parallel'],
];

export function CompareTools({ view, keys, settings, chosen }: CompareToolsProps) {
  return (
    <div class="tools" role="toolbar" aria-label="Comparison options">
      <MetricMenu view={view} keys={keys} />
      <Choice
        label="Axis"
        value={view.axis}
        choices={AXES.map((axis) => [axis, axis])}
        onChoose={(axis) => setQuery({ axis, from: undefined, to: undefined })}
      />
      <Choice
        label="Scale"
        value={view.logY ? 'log' : 'linear'}
        choices={[
          ['linear', 'linear'],
          ['log', 'log'],
        ]}
        onChoose={(scale) => setQuery({ y: scale === 'log' ? 'log' : undefined })}
      />
      <Choice
        label="Smoothing"
        value={String(view.smooth)}
        choices={SMOOTHINGS.map((w) => [String(w), w === 0 ? 'none' : String(w)])}
        onChoose={(weight) => setQuery({ smooth: weight === '0' ? undefined : weight })}
      />
      <GroupChoice view={view} settings={settings} />
      <Choice
        label="Plot of settings"
        value={view.plot}
        choices={PLOT_CHOICES}
        onChoose={(plot) => setQuery({ plot: plot === 'none' ? undefined : plot })}
      />
      <JobChoice
        label="Add"
        none="a job…"
        value=""
        except={chosen}
        onChoose={(job) => setQuery({ jobs: [...chosen, job].join(',') })}
      />
      {view.from !== undefined && (
        <button type="button" onClick={() => setQuery({ from: undefined, to: undefined })}>
          Whole run
        </button>
      )}
    </div>
  );
}
