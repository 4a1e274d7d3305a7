// The curves of a job, in panels that share a cursor and are loaded together.
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { Query } from '../api/client';
import { hasEnded } from '../api/live';
import { metricsTick, openJob } from '../api/store';
import type { GetSeriesResponse, Job, ListKeysResponse, Series } from '../api/types';
import { refreshInterval } from '../chart/axes';
import { pointsPerBucket } from '../chart/curves';
import { markersKey, markersOf, sourcesOf, type Marker } from '../chart/markers';
import { query, setQuery } from '../router/router';
import { SMOOTHINGS, nextOf, parseCurveView, type CurveView } from '../router/url';
import { useKeys } from '../ui/keyboard';
import { useLoad, type Loaded } from '../ui/load';
import { useThrottled } from '../ui/throttle';
import { Empty, Failure, Skeleton } from '../ui/notice';
import type { Baseline } from './baseline';
import { CurveTools } from './curve_tools';
import { evaluationKeys } from './evaluation_sets';
import { CurvePanel, PanelPlaceholder } from './curve_panel';
import { LossReport } from './loss_report';
import { NoteDialog } from './note_dialog';
import { NoteList } from './note_list';
import { chosenStep, cursorStep, firstStep, forgetCursor } from './note_step';
import { noteMarkers } from './notes';
import { WIDE_KEYS, axesFor, panelsFor, type Panel } from './panels';
import { figuresOf } from './progress';
import { evaluationQuery, otherSets, seriesQueries, withAxis } from './series_query';
import { useBaseline } from './use_baseline';

// Interval between checks for new series, which get their own panels, and for new evaluations.
const KEYS_PACE_MS = 10_000;

// Loads the series in the query `asked`, and refreshes them while the job trains.
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
    setPace(hasEnded(job) ? 1_000 : refreshInterval(perBucket, stepSeconds, loaded.durationMs));
  }, [perBucket, Math.round(stepSeconds * 10), Math.round(loaded.durationMs / 50), job.state]);
  return { ...loaded, data };
}

// Loads the evaluation sets that useSeries does not request.
function useEvaluations(
  job: Job,
  view: CurveView,
  sets: readonly string[],
): Loaded<GetSeriesResponse> {
  const path = sets.length > 0 ? `/jobs/${job.id}/series` : undefined;
  const asked = evaluationQuery(view, sets, innerWidth);
  const tick = useThrottled(metricsTick.value, KEYS_PACE_MS);
  const loaded = useLoad<GetSeriesResponse>(path, asked, `${job.id}/${view.axis}`, tick);
  const data = useMemo(() => loaded.data && withAxis(loaded.data), [loaded.data]);
  return { ...loaded, data };
}

function useCurveKeys(view: CurveView, known: readonly string[], onNote: () => void): void {
  useKeys({
    n: onNote,
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
  sets,
  baseline,
}: {
  job: Job;
  view: CurveView;
  known: readonly string[];
  wide: GetSeriesResponse;
  // The next three usually arrive later than `wide`.
  narrow: GetSeriesResponse | undefined;
  sets: GetSeriesResponse | undefined;
  baseline: Baseline | undefined;
}) {
  const alerts = openJob.value?.alerts ?? [];
  const all = { checkpoints: job.checkpoints, attempts: job.attempts, alerts };
  const found = [
    ...markersOf(view.attempt ? sourcesOf(all, view.attempt) : all),
    ...noteMarkers(job.notes),
  ];
  // Redraws the charts only if the markers have changed, because the stream sends the job every
  // second.
  const markers: Marker[] = useMemo(() => found, [markersKey(found)]);
  const choose = (step: number) => {
    chosenStep.value = { job: job.id, step };
  };
  const series = [wide, sets, narrow].flatMap((part) => part?.series ?? []);
  const one = (panel: Panel) => {
    const isReady = narrow || panel.keys.some((key) => WIDE_KEYS.includes(key));
    if (!isReady) return <PanelPlaceholder key={panel.title} panel={panel} />;
    const byKey = (keys: readonly string[]): Series[] =>
      series.filter(({ key }) => keys.includes(key));
    return (
      <CurvePanel
        key={panel.title}
        panel={panel}
        view={view}
        job={job}
        markers={markers}
        curves={byKey(panel.keys)}
        points={byKey(panel.points ?? [])}
        baseline={baseline}
        onZoom={zoom}
        onChoose={choose}
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
    `${figuresOf(job).step > 0}/${useThrottled(metricsTick.value, KEYS_PACE_MS)}`,
  );
  const keys = known.data?.keys ?? [];
  const [noteStep, setNoteStep] = useState<number>();
  useEffect(() => forgetCursor, []);
  const openNote = () => setNoteStep(cursorStep.peek() ?? firstStep(job));
  useCurveKeys(view, keys, openNote);
  const panels = panelsFor(keys, view.extra);
  const asked = seriesQueries(view, innerWidth);
  const wide = useSeries(job, view, asked.wide);
  const narrow = useSeries(job, view, asked.narrow);
  const evaluations = evaluationKeys(keys);
  const sets = useEvaluations(job, view, otherSets(evaluations));
  const other = useBaseline(view, evaluations, wide.data);
  const error = wide.error ?? narrow.error ?? sets.error;
  if (known.error && !known.data) return <Failure error={known.error} />;
  if (!known.data) return <Skeleton rows={4} height={120} />;
  if (keys.length === 0) {
    return (
      <Empty title={hasEnded(job) ? 'This job reported no metrics' : 'No metrics yet'}>
        {hasEnded(job)
          ? 'To report metrics, write them to the file $TRAINYARD_TELEMETRY, or set log_parser.'
          : 'Curves appear once the job reports its first step.'}
      </Empty>
    );
  }
  return (
    <>
      <CurveTools
        job={job}
        view={view}
        known={keys}
        attempts={wide.data?.attempts ?? []}
        onNote={openNote}
        baseline={other.job}
      />
      {other.error && <Failure error={other.error} />}
      {keys.includes('loss') && <LossReport job={job} />}
      {panels.length === 0 && (
        <p class="faint">
          This job reports only custom series. Add one with “More series”.
        </p>
      )}
      {error && <Failure error={error} />}
      {wide.data ? (
        <Panels
          job={job}
          view={view}
          known={keys}
          wide={wide.data}
          narrow={narrow.data}
          sets={sets.data}
          baseline={other.baseline}
        />
      ) : (
        !error && <Skeleton rows={4} height={120} />
      )}
      {job.notes.length > 0 && <NoteList job={job} />}
      {noteStep !== undefined && (
        <NoteDialog job={job} step={noteStep} onClose={() => setNoteStep(undefined)} />
      )}
    </>
  );
}
