// Compares runs: draws one curve per run and lists the settings in which the runs differ.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { hasEnded } from '../api/live';
import { clock, jobList } from '../api/store';
import type { CompareSeriesResponse, Job, ListKeysResponse } from '../api/types';
import { Chart, type Reading } from '../chart/chart';
import { runColorName } from '../chart/colors';
import { curvesOf, type Curve } from '../chart/curves';
import { dashOf } from '../chart/dashes';
import { measured } from '../format/numbers';
import { duration, durationTick } from '../format/time';
import { flattenSpec, varyingKeys } from '../job/flatten_spec';
import { unitOf, valueText } from '../job/panels';
import { xText } from '../job/curve_panel';
import { keysQuery } from '../job/series_query';
import { Link, query, setQuery } from '../router/router';
import {
  AXES,
  SMOOTHINGS,
  jobPath,
  listIn,
  nextOf,
  parseCurveView,
  type CurveView,
} from '../router/url';
import { JobBadge } from '../ui/badge';
import { Choice } from '../ui/choice';
import { Icon } from '../ui/icon';
import { useKeys } from '../ui/keyboard';
import { useLoad } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import {
  compareBuckets,
  compareCurves,
  longestSpan,
  runOrder,
  runsOf,
  type Run,
} from './runs';

const RUNS_MAX = 50;
const REFRESH_MS = 10_000;
const VALIDATION = 'val_loss';
// Settings that differ in every job and therefore do not distinguish runs.
const NAMES: ReadonlySet<string> = new Set(['name', 'checkpoint.dir']);

const elapsed = (ms: number) => duration(ms / 1000);
const elapsedTick = (ms: number, stepMs: number) => durationTick(ms / 1000, stepMs / 1000);

// The series columns that the chart and the table use.
const COLUMNS = 'steps,last,mean,min,max,smoothed';

// Loads the series of all runs in one request. The response reports runs that do not exist; the
// other runs are shown.
function useRuns(references: readonly string[], metric: string, view: CurveView) {
  const [trains, setTrains] = useState(false);
  const keys = metric === VALIDATION ? [metric] : [metric, VALIDATION];
  const [span, setSpan] = useState(0);
  // A window of time cannot be requested, because each run's time is counted from its own start.
  // Instead, the whole run is requested with more points.
  const zoom =
    view.axis === 'time' && view.from !== undefined && view.to !== undefined
      ? span / (view.to - view.from)
      : 1;
  const window = view.axis === 'time' ? {} : { from: view.from, to: view.to };
  const answer = useLoad<CompareSeriesResponse>(
    references.length > 0 ? '/series' : undefined,
    {
      jobs: references.join(','),
      ...keysQuery(keys),
      x: view.axis,
      ...window,
      buckets: compareBuckets(references.length, innerWidth, zoom),
      smooth: view.smooth || undefined,
      fields: view.axis === 'step' ? COLUMNS : `${COLUMNS},x`,
    },
    JSON.stringify([references, metric, view.axis]),
    trains ? Math.floor(clock.value / REFRESH_MS) : 0,
  );
  const runs = useMemo(() => answer.data && runsOf(answer.data, metric), [answer.data, metric]);
  useEffect(() => {
    setTrains(runs?.some(({ job }) => !hasEnded(job)) ?? false);
    if (runs && view.axis === 'time') setSpan(longestSpan(runs));
  }, [runs]);
  return { runs, missing: answer.data?.missing ?? [], error: answer.error };
}

function AddRun({ chosen }: { chosen: readonly string[] }) {
  // The options, which may be hundreds, are created only when the user opens the list.
  const [reached, setReached] = useState(false);
  const reach = () => setReached(true);
  const others = reached
    ? (jobList.value ?? []).filter(({ id }) => !chosen.includes(String(id)))
    : [];
  return (
    <label class="inline-field" onPointerEnter={reach}>
      Add
      <select
        value=""
        onFocus={reach}
        onPointerDown={reach}
        onChange={(event) => {
          setQuery({ jobs: [...chosen, event.currentTarget.value].join(',') });
          event.currentTarget.value = '';
        }}
      >
        <option value="">a job…</option>
        {others.slice(0, 200).map(({ id, name }) => (
          <option key={id} value={String(id)}>
            {name} #{id}
          </option>
        ))}
      </select>
    </label>
  );
}

function RunTable({
  runs,
  reading,
  chosen,
  metric,
  picked,
  onPick,
}: {
  runs: readonly Run[];
  reading: Reading | undefined;
  chosen: readonly string[];
  metric: string;
  picked: number | undefined;
  onPick: (run: number | undefined) => void;
}) {
  const settings = runs.map(({ job }) => flattenSpec(job.spec, job.origins));
  const varying = varyingKeys(settings)
    .filter((key) => !NAMES.has(key))
    .slice(0, 12);
  const maps = settings.map((list) => new Map(list.map(({ key, value }) => [key, value])));
  const byValue = query.value.get('order') === 'value';
  const order = runOrder(runs, byValue);
  const remove = (job: Job) =>
    setQuery({
      jobs: chosen.filter((ref) => ref !== String(job.id) && ref !== job.name).join(','),
    });
  return (
    <div class="table-scroll" role="region" aria-label="Runs" tabIndex={0}>
      <table class="settings compare-runs">
        <thead>
          <tr>
            <th scope="col">Run</th>
            <th scope="col">State</th>
            <th scope="col" class="right" aria-sort={byValue ? 'ascending' : undefined}>
              <button
                type="button"
                title={byValue ? 'Sort runs in URL order' : 'Sort runs by this value'}
                onClick={() => setQuery({ order: byValue ? undefined : 'value' })}
              >
                {reading ? 'At cursor' : metric}
                {byValue ? ' ↓' : ''}
              </button>
            </th>
            <th scope="col" class="right">
              Validation
            </th>
            {varying.map((key) => (
              <th key={key} scope="col">
                <code>{key}</code>
              </th>
            ))}
            <th scope="col">
              <span class="hidden">Remove</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {order.map((index) => {
            const { job, series, validation } = runs[index] as Run;
            const last = series?.last.at(-1);
            const loss = validation?.last.at(-1);
            const value = reading ? reading.values[index] : last;
            return (
              <tr
                key={job.id}
                class={index === picked ? 'picked' : ''}
                onMouseEnter={() => onPick(index)}
                onMouseLeave={() => onPick(undefined)}
                onFocusIn={() => onPick(index)}
              >
                <td>
                  <svg class="line-sample" viewBox="0 0 28 8" aria-hidden="true">
                    <path
                      d="M0 4H28"
                      class={runColorName(index)}
                      stroke-dasharray={dashOf(index)?.join(' ')}
                    />
                  </svg>
                  <Link href={jobPath(job.id)} data-row>
                    {job.name}
                  </Link>{' '}
                  <span class="number">#{job.id}</span>
                </td>
                <td>
                  <JobBadge state={job.state} verdict={job.verdict} />
                </td>
                <td class="right">
                  {valueText(typeof value === 'number' ? value : undefined, unitOf(metric))}
                </td>
                <td class="right">{measured(typeof loss === 'number' ? loss : undefined)}</td>
                {varying.map((key) => (
                  <td key={key}>
                    <code class="value">{maps[index]?.get(key) ?? '—'}</code>
                  </td>
                ))}
                <td>
                  <button
                    type="button"
                    class="quiet"
                    aria-label={`Remove ${job.name}`}
                    onClick={() => remove(job)}
                  >
                    <Icon name="close" />
                  </button>
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function useCompareKeys(view: ReturnType<typeof parseCurveView>): void {
  useKeys({
    x: () => setQuery({ axis: nextOf(AXES, view.axis), from: undefined, to: undefined }),
    y: () => setQuery({ y: view.logY ? undefined : 'log' }),
    s: () => setQuery({ smooth: nextOf(SMOOTHINGS, view.smooth) || undefined }),
    0: () => setQuery({ from: undefined, to: undefined }),
  });
}

function CompareTools({
  metric,
  keys,
  chosen,
}: {
  metric: string;
  keys: readonly string[];
  chosen: readonly string[];
}) {
  const view = parseCurveView(query.value);
  return (
    <div class="tools">
      <label class="inline-field">
        Series
        <select value={metric} onChange={(event) => setQuery({ key: event.currentTarget.value })}>
          {[...new Set([metric, ...keys])].map((key) => (
            <option key={key}>{key}</option>
          ))}
        </select>
      </label>
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
      <AddRun chosen={chosen} />
      {view.from !== undefined && (
        <button type="button" onClick={() => setQuery({ from: undefined, to: undefined })}>
          Whole run
        </button>
      )}
    </div>
  );
}

function useKeysOf(reference: string | undefined): readonly string[] {
  const path = reference && `/jobs/${encodeURIComponent(reference)}/metrics`;
  return useLoad<ListKeysResponse>(path, {}, reference ?? '').data?.keys ?? [];
}

export function Compare() {
  const view = parseCurveView(query.value);
  useCompareKeys(view);
  const asked = listIn(query.value, 'jobs');
  const chosen = asked.slice(0, RUNS_MAX);
  const metric = query.value.get('key') ?? 'loss';
  const [reading, setReading] = useState<Reading>();
  const [picked, setPicked] = useState<number>();
  const { runs, missing, error } = useRuns(chosen, metric, view);
  const keys = useKeysOf(chosen[0]);
  // Only a window of time is cut out here. On the other axes, the controller has already limited
  // the response to the window.
  const timeWindow = view.axis === 'time' ? `${view.from}-${view.to}` : '';
  const curves: Curve[] = useMemo(
    () => compareCurves(runs ?? [], view, curvesOf),
    [runs, view.logY, view.axis, timeWindow],
  );
  const window =
    view.from !== undefined && view.to !== undefined ? { from: view.from, to: view.to } : undefined;
  return (
    <>
      <div class="page-head">
        <h1>Compare</h1>
      </div>
      <CompareTools metric={metric} keys={keys} chosen={chosen} />
      {error && <Failure error={error} />}
      {missing.length > 0 && (
        <p class="reason tone-bad">
          <Icon name="cross" />
          <span>No such job: {missing.join(', ')}.</span>
        </p>
      )}
      {asked.length > RUNS_MAX && (
        <p class="reason tone-warn">
          <Icon name="warn" />
          <span>
            Showing the first {RUNS_MAX} of {asked.length} runs, because curves of more runs would
            be hard to distinguish.
          </span>
        </p>
      )}
      {chosen.length === 0 && (
        <Empty title="Choose runs to compare">
          Add jobs above, or select them on the Jobs page.
        </Empty>
      )}
      {chosen.length > 0 && !runs && !error && <Skeleton rows={3} height={100} />}
      {runs && runs.length > 0 && (
        <>
          <section class="panel" aria-label={metric}>
            <header>
              <h2>{metric}</h2>
              <p class="reading">
                {reading && (
                  <span class="at">
                    {view.axis === 'time' ? elapsed(reading.x) : xText(reading.x, view)}
                  </span>
                )}
                {picked !== undefined && <b>{curves[picked]?.label}</b>}
              </p>
            </header>
            <Chart
              curves={curves}
              height={380}
              markers={[]}
              label={`${metric} by ${view.axis}`}
              look={{
                axis: view.axis,
                logY: view.logY,
                unit: unitOf(metric),
                sync: 'compare',
                window,
                picks: true,
                ...(view.axis === 'time' ? { xWords: elapsedTick } : {}),
              }}
              xOfMarker={() => undefined}
              onRead={setReading}
              picked={picked}
              onPick={setPicked}
              onZoom={(range) => setQuery({ from: range?.from, to: range?.to })}
            />
            {view.smooth === 0 && (
              <p class="density">
                A point that covers several steps shows their mean, or their spike if there is one.
              </p>
            )}
          </section>
          <RunTable
            runs={runs}
            reading={reading}
            chosen={chosen}
            metric={metric}
            picked={picked}
            onPick={setPicked}
          />
        </>
      )}
    </>
  );
}
