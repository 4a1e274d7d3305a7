// Compares runs: curves of several metrics, plots of settings against results, and a table of the
// settings in which the runs differ.
import { useMemo, useState } from 'preact/hooks';
import type { Reading } from '../chart/chart';
import { query, setQuery } from '../router/router';
import { AXES, SMOOTHINGS, listIn, nextOf } from '../router/url';
import { Icon } from '../ui/icon';
import { useKeys } from '../ui/keyboard';
import { lazy } from '../ui/lazy';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { CompareTools } from './compare_tools';
import { parseCompareView, type CompareView } from './compare_view';
import { GroupLegend } from './group_legend';
import { colorsOf, groupsOf } from './groups';
import { MetricPanel } from './metric_panel';
import { RunTable } from './run_table';
import type { Run } from './runs';
import { differencesOf, type Differences } from './settings';
import { useKeysOf, useRuns } from './use_runs';

const RUNS_MAX = 50;
const PLOT_PX = 320;

const SettingPlots = lazy(
  () => import('./setting_plots').then((module) => module.SettingPlots),
  PLOT_PX,
);

function useCompareKeys(view: CompareView): void {
  useKeys({
    x: () => setQuery({ axis: nextOf(AXES, view.axis), from: undefined, to: undefined }),
    y: () => setQuery({ y: view.logY ? undefined : 'log' }),
    s: () => setQuery({ smooth: nextOf(SMOOTHINGS, view.smooth) || undefined }),
    0: () => setQuery({ from: undefined, to: undefined }),
  });
}

interface ComparedProps {
  view: CompareView;
  runs: readonly Run[];
  differences: Differences;
  keys: readonly string[];
  chosen: readonly string[];
  tick: number;
}

function Compared({ view, runs, differences, keys, chosen, tick }: ComparedProps) {
  const [readings, setReadings] = useState<ReadonlyMap<string, Reading>>(new Map());
  const [picked, setPicked] = useState<number>();
  const { by } = view;
  const groups = useMemo(
    () => (by === undefined ? undefined : groupsOf(differences.values.map((one) => one.get(by)))),
    [differences, by],
  );
  const colors = useMemo(() => colorsOf(groups, runs.length), [groups, runs.length]);
  const onRead = (metric: string, reading: Reading | undefined) =>
    setReadings((old) => {
      const next = new Map(old);
      if (reading) next.set(metric, reading);
      else next.delete(metric);
      return next;
    });
  const first = view.metrics[0] as string;
  const shared = { view, runs, colors, picked, onPick: setPicked };
  return (
    <>
      {by !== undefined && groups && (
        <GroupLegend
          by={by}
          groups={groups}
          runs={runs}
          metric={first}
          reading={readings.get(first)}
          means={view.means}
        />
      )}
      <div class={view.metrics.length > 1 ? 'compare-panels several' : 'compare-panels'}>
        {view.metrics.map((metric) => (
          <MetricPanel
            key={metric}
            {...shared}
            metric={metric}
            groups={view.means ? groups : undefined}
            reading={readings.get(metric)}
            onRead={onRead}
          />
        ))}
      </div>
      {view.plot !== 'none' && (
        <SettingPlots {...shared} differences={differences} keys={keys} tick={tick} />
      )}
      <RunTable {...shared} differences={differences} readings={readings} chosen={chosen} />
    </>
  );
}

function Notes({ missing, asked }: { missing: readonly string[]; asked: number }) {
  return (
    <>
      {missing.length > 0 && (
        <p class="reason tone-bad">
          <Icon name="cross" />
          <span>No such job: {missing.join(', ')}.</span>
        </p>
      )}
      {asked > RUNS_MAX && (
        <p class="reason tone-warn">
          <Icon name="warn" />
          <span>
            Showing the first {RUNS_MAX} of {asked} runs, because curves of more runs would be hard
            to distinguish.
          </span>
        </p>
      )}
    </>
  );
}

export function Compare() {
  const view = parseCompareView(query.value);
  useCompareKeys(view);
  const asked = listIn(query.value, 'jobs');
  const chosen = asked.slice(0, RUNS_MAX);
  const { runs, missing, error, tick } = useRuns(chosen, view);
  const keys = useKeysOf(chosen[0]);
  const differences = useMemo(() => differencesOf((runs ?? []).map(({ job }) => job)), [runs]);
  const settings = [...differences.relevant, ...(view.allSettings ? differences.operational : [])];
  return (
    <>
      <div class="page-head">
        <h1>Compare</h1>
      </div>
      <CompareTools view={view} keys={keys} settings={settings} chosen={chosen} />
      {error && <Failure error={error} />}
      <Notes missing={missing} asked={asked.length} />
      {chosen.length === 0 && (
        <Empty title="Choose runs to compare">
          Add jobs above, or select them on the Jobs page.
        </Empty>
      )}
      {chosen.length > 0 && !runs && !error && <Skeleton rows={3} height={100} />}
      {runs && runs.length > 0 && (
        <Compared
          view={view}
          runs={runs}
          differences={differences}
          keys={keys}
          chosen={chosen}
          tick={tick}
        />
      )}
    </>
  );
}
