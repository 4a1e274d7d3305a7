// A job's curves: one request for all panels, one cursor over them.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { hasEnded } from '../api/live';
import { metricsTick, openJob } from '../api/store';
import type { GetSeriesResponse, Job, ListKeysResponse, Series } from '../api/types';
import { bucketsFor, refreshInterval } from '../chart/axes';
import { pointsPerBucket } from '../chart/curves';
import { markersOf, type Marker } from '../chart/markers';
import { query, setQuery } from '../router/router';
import { SMOOTHINGS, nextOf, parseCurveView, type CurveView } from '../router/url';
import { useKeys } from '../ui/keyboard';
import { useLoad, type Loaded } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { CurveTools } from './curve_tools';
import { CurvePanel } from './curve_panel';
import { READY_KEYS, axesFor, panelsFor } from './panels';
import { figuresOf } from './progress';

// Passes a counter on, but not more often than every `intervalMs`; the last count always arrives.
function useThrottled(tick: number, intervalMs: number): number {
  const [passed, setPassed] = useState(tick);
  const last = useRef(0);
  useEffect(() => {
    if (tick === passed) return undefined;
    const wait = Math.max(0, last.current + intervalMs - Date.now());
    const timer = setTimeout(() => {
      last.current = Date.now();
      setPassed(tick);
    }, wait);
    return () => clearTimeout(timer);
  }, [tick, passed, intervalMs]);
  return passed;
}

export function seriesQuery(view: CurveView, keys: readonly string[], buckets: number) {
  return {
    keys: keys.join(','),
    x: view.axis,
    from: view.from,
    to: view.to,
    buckets,
    smooth: view.smooth > 0 ? view.smooth : undefined,
    ...(view.attempt ? { attempt: view.attempt } : { attempts: 'all' }),
  };
}

// The series of all panels, kept fresh while the job trains.
function useSeries(job: Job, view: CurveView, keys: readonly string[]): Loaded<GetSeriesResponse> {
  const [pace, setPace] = useState(1_000);
  const tick = useThrottled(metricsTick.value, pace);
  const buckets = bucketsFor(Math.min(innerWidth, 1600));
  const path = `/jobs/${job.id}/series`;
  const loaded = useLoad<GetSeriesResponse>(
    path,
    seriesQuery(view, keys, buckets),
    `${job.id}/${view.axis}`,
    tick,
  );
  const main = loaded.data?.series.find(({ x }) => x.length > 0);
  const perBucket = main ? pointsPerBucket(main) : 1;
  const stepSeconds = figuresOf(job).stepSeconds ?? 0;
  useEffect(() => {
    setPace(hasEnded(job) ? 1_000 : refreshInterval(perBucket, stepSeconds, loaded.tookMs));
  }, [perBucket, Math.round(stepSeconds * 10), Math.round(loaded.tookMs / 50), job.state]);
  return loaded;
}

function useCurveKeys(view: CurveView, known: readonly string[]): void {
  useKeys({
    x: () => setQuery({ axis: nextOf(axesFor(known), view.axis), from: undefined, to: undefined }),
    y: () => setQuery({ y: view.logY ? undefined : 'log' }),
    s: () => setQuery({ smooth: nextOf(SMOOTHINGS, view.smooth) || undefined }),
    0: () => setQuery({ from: undefined, to: undefined }),
  });
}

const zoom = (window: { from: number; to: number } | undefined) =>
  setQuery({ from: window?.from, to: window?.to });

function Panels({
  job,
  view,
  known,
  data,
}: {
  job: Job;
  view: CurveView;
  known: readonly string[];
  data: GetSeriesResponse;
}) {
  const alerts = openJob.value?.alerts ?? [];
  const shape = `${job.checkpoints.length}/${job.attempts.length}/${alerts.length}`;
  const markers: Marker[] = useMemo(
    () => markersOf({ checkpoints: job.checkpoints, attempts: job.attempts, alerts }),
    [shape, job.id],
  );
  const byKey = (keys: readonly string[]): Series[] =>
    data.series.filter(({ key }) => keys.includes(key));
  return (
    <div class="panels">
      {panelsFor(known, view.extra).map((panel) => (
        <CurvePanel
          key={panel.title}
          panel={panel}
          view={view}
          job={job}
          markers={markers}
          curves={byKey(panel.keys)}
          points={byKey(panel.points ?? [])}
          onZoom={zoom}
        />
      ))}
    </div>
  );
}

export function Curves({ job }: { job: Job }) {
  const view = parseCurveView(query.value);
  const known = useLoad<ListKeysResponse>(
    `/jobs/${job.id}/metrics`,
    {},
    String(job.id),
    figuresOf(job).step > 0,
  );
  const keys = known.data?.keys ?? [];
  useCurveKeys(view, keys);
  const panels = panelsFor(keys, view.extra);
  // Asked for at once, without waiting for what there is: a series that is not there comes empty.
  const wanted = [...READY_KEYS, ...view.extra.filter((key) => !READY_KEYS.includes(key))];
  const series = useSeries(job, view, wanted);
  if (known.error) return <Failure error={known.error} />;
  if (!known.data) return <Skeleton rows={4} height={120} />;
  if (panels.length === 0) {
    return (
      <Empty title={hasEnded(job) ? 'This job reported no metrics' : 'No metrics yet'}>
        {hasEnded(job)
          ? 'A program reports by writing lines to TRAINYARD_TELEMETRY, or through log_parser.'
          : 'Curves begin with the first step that the job reports.'}
      </Empty>
    );
  }
  return (
    <>
      <CurveTools job={job} view={view} known={keys} attempts={series.data?.attempts ?? []} />
      {series.error && <Failure error={series.error} />}
      {series.data ? (
        <Panels job={job} view={view} known={keys} data={series.data} />
      ) : (
        !series.error && <Skeleton rows={4} height={120} />
      )}
    </>
  );
}
