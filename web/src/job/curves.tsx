// A job's curves: one request for all panels, one cursor over them.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Query } from '../api/client';
import { hasEnded } from '../api/live';
import { metricsTick, openJob } from '../api/store';
import type { GetSeriesResponse, Job, ListKeysResponse, Series } from '../api/types';
import { refreshInterval } from '../chart/axes';
import { pointsPerBucket } from '../chart/curves';
import { markersOf, type Marker } from '../chart/markers';
import { query, setQuery } from '../router/router';
import { SMOOTHINGS, nextOf, parseCurveView, type CurveView } from '../router/url';
import { useKeys } from '../ui/keyboard';
import { useLoad, type Loaded } from '../ui/load';
import { Empty, Failure, Skeleton } from '../ui/notice';
import { CurveTools } from './curve_tools';
import { CurvePanel, PanelToCome } from './curve_panel';
import { WIDE_KEYS, axesFor, panelsFor, type Panel } from './panels';
import { figuresOf } from './progress';
import { seriesQueries, withAxis } from './series_query';

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

// The series of some panels, kept fresh while the job trains.
function useSeries(job: Job, view: CurveView, asked: Query): Loaded<GetSeriesResponse> {
  const [pace, setPace] = useState(1_000);
  const tick = useThrottled(metricsTick.value, pace);
  const path = `/jobs/${job.id}/series`;
  const loaded = useLoad<GetSeriesResponse>(path, asked, `${job.id}/${view.axis}`, tick);
  const data = useMemo(() => loaded.data && withAxis(loaded.data), [loaded.data]);
  const main = data?.series.find(({ x }) => x.length > 0);
  const perBucket = main ? pointsPerBucket(main) : 1;
  const stepSeconds = figuresOf(job).stepSeconds ?? 0;
  useEffect(() => {
    setPace(hasEnded(job) ? 1_000 : refreshInterval(perBucket, stepSeconds, loaded.tookMs));
  }, [perBucket, Math.round(stepSeconds * 10), Math.round(loaded.tookMs / 50), job.state]);
  return { ...loaded, data };
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
  wide,
  narrow,
}: {
  job: Job;
  view: CurveView;
  known: readonly string[];
  wide: GetSeriesResponse;
  // Comes later, as a rule.
  narrow: GetSeriesResponse | undefined;
}) {
  const alerts = openJob.value?.alerts ?? [];
  const shape = `${job.checkpoints.length}/${job.attempts.length}/${alerts.length}`;
  const markers: Marker[] = useMemo(
    () => markersOf({ checkpoints: job.checkpoints, attempts: job.attempts, alerts }),
    [shape, job.id],
  );
  const one = (panel: Panel) => {
    const data = panel.keys.some((key) => WIDE_KEYS.includes(key)) ? wide : narrow;
    if (!data) return <PanelToCome key={panel.title} panel={panel} />;
    const byKey = (keys: readonly string[]): Series[] =>
      data.series.filter(({ key }) => keys.includes(key));
    return (
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
    );
  };
  return <div class="panels">{panelsFor(known, view.extra).map(one)}</div>;
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
  const asked = seriesQueries(view, innerWidth);
  const wide = useSeries(job, view, asked.wide);
  const narrow = useSeries(job, view, asked.narrow);
  const error = wide.error ?? narrow.error;
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
      <CurveTools job={job} view={view} known={keys} attempts={wide.data?.attempts ?? []} />
      {error && <Failure error={error} />}
      {wide.data ? (
        <Panels job={job} view={view} known={keys} wide={wide.data} narrow={narrow.data} />
      ) : (
        !error && <Skeleton rows={4} height={120} />
      )}
    </>
  );
}
