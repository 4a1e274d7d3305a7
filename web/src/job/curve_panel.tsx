// One panel: a title, the values at the cursor, a chart, and buttons for exports.
import { useMemo, useRef, useState } from 'preact/hooks';
import { apiPath } from '../api/client';
import type { Job, Series } from '../api/types';
import { Chart, type Reading } from '../chart/chart';
import { notFiniteRanges, rangeText, type Curve } from '../chart/curves';
import { downloadPng } from '../chart/export';
import { LineSample } from '../chart/line_sample';
import { markerPlace, type Marker } from '../chart/markers';
import { ownValues } from '../chart/stack';
import { count, notFinite, short } from '../format/numbers';
import { clockTime } from '../format/time';
import type { CurveView } from '../router/url';
import { Download } from '../ui/download';
import { Icon } from '../ui/icon';
import { baselineCurves, type Baseline } from './baseline';
import { CurveNote } from './curve_note';
import { EvaluationLegend } from './evaluation_legend';
import { hasLines, newestOf, panelCurves } from './panel_curves';
import { cursorStep, stepAt } from './note_step';
import { isStacked, valueText, type Panel } from './panels';
import { keysQuery } from './series_query';

export interface CurvePanelProps {
  panel: Panel;
  view: CurveView;
  job: Job;
  markers: readonly Marker[];
  curves: readonly Series[];
  points: readonly Series[];
  baseline: Baseline | undefined;
  onZoom: (window: { from: number; to: number } | undefined) => void;
  // Called with the step that the user clicks.
  onChoose: (step: number) => void;
}

export function xText(x: number, view: CurveView): string {
  if (view.axis === 'time') return clockTime(x, Date.now());
  return view.axis === 'tokens' ? `${short(x)} tokens` : `step ${count(x)}`;
}

function describe(curve: Curve): string {
  if (curve.role === 'smooth') return 'smoothed';
  return curve.label;
}

function ReadingText({
  reading,
  curves,
  panel,
  view,
}: {
  reading: Reading;
  curves: readonly Curve[];
  panel: Panel;
  view: CurveView;
}) {
  const at = (role: Curve['role']) => reading.values[curves.findIndex((c) => c.role === role)];
  const [low, high] = [at('min'), at('max')];
  const sum = reading.values[curves.findLastIndex(({ role }) => role === 'stack')];
  return (
    <p class="reading" aria-live="polite">
      <span class="at">{xText(reading.x, view)}</span>
      {curves.map((curve, index) => {
        const value = reading.values[index];
        // With several series, the legend shows the values instead.
        if (value === undefined || hasLines(panel)) return null;
        if (curve.role === 'min' || curve.role === 'max') return null;
        return (
          <span key={curve.label + curve.role}>
            {curves.length > 1 && <span class="faint">{describe(curve)} </span>}
            <b>{valueText(value, panel.unit)}</b>
          </span>
        );
      })}
      {sum !== undefined && (
        <span>
          <span class="faint">sum </span>
          <b>{valueText(sum, panel.unit)}</b>
        </span>
      )}
      {low !== undefined && high !== undefined && low !== high && (
        <span class="faint">
          {valueText(low, panel.unit)} … {valueText(high, panel.unit)}
        </span>
      )}
      {reading.markers.slice(0, 2).map((marker) => (
        <span key={marker.text} class="marker-text">
          {marker.text}
        </span>
      ))}
    </p>
  );
}

// Lists the curves of several series with their values at the cursor or, without a cursor, their
// newest values.
function LineLegend({
  reading,
  curves,
  panel,
}: {
  reading: Reading | undefined;
  curves: readonly Curve[];
  panel: Panel;
}) {
  const values = ownValues(curves, reading?.values ?? curves.map(newestOf));
  return (
    <ul class="line-legend" aria-label="Curves">
      {curves.map((curve, index) => (
        <li key={curve.label}>
          <LineSample color={curve.color} dash={curve.dash} />
          <span class="faint">{curve.label}</span> <b>{valueText(values[index], panel.unit)}</b>
        </li>
      ))}
    </ul>
  );
}

// Shows the newest value, smoothed if requested. A non-finite value is red.
function Summary({ series, panel }: { series: readonly Series[]; panel: Panel }) {
  if (hasLines(panel)) return <p class="reading" />;
  const main = series.find(({ redone }) => !redone);
  const last = main?.last.at(-1);
  const odd = notFinite(last);
  const value = main?.smoothed.at(-1) ?? last;
  return (
    <p class="reading">
      {odd ? (
        <b class="tone-bad">{odd}</b>
      ) : (
        <b>{valueText(typeof value === 'number' ? value : undefined, panel.unit)}</b>
      )}
    </p>
  );
}

const mainOf = (series: readonly Series[]) => series.find(({ redone }) => !redone);

function placeOf(series: readonly Series[], view: CurveView) {
  const main = mainOf(series);
  return (marker: Marker) => markerPlace(marker, view.axis, main);
}

function csvPath({ panel, view, job }: CurvePanelProps): string {
  return apiPath(`/jobs/${job.id}/series`, {
    ...keysQuery([...panel.keys, ...(panel.points ?? [])]),
    x: view.axis,
    from: view.from,
    to: view.to,
    format: 'csv',
    attempt: view.attempt,
  });
}

const heightOf = (panel: Panel) => (panel.title === 'Loss' ? 300 : 190);

const classOf = (panel: Panel) => (isStacked(panel) ? 'panel stacked' : 'panel');

// Reserves the space of a panel until its points arrive.
export function PanelPlaceholder({ panel }: { panel: Panel }) {
  return (
    <section class={classOf(panel)} aria-label={panel.title} aria-busy="true">
      <header>
        <h2>{panel.title}</h2>
      </header>
      <div style={{ height: `${heightOf(panel)}px` }} />
      <p class="density">{'\u00a0'}</p>
    </section>
  );
}

export function CurvePanel(props: CurvePanelProps) {
  const { panel, view, job } = props;
  const [reading, setReading] = useState<Reading>();
  const canvas = useRef<HTMLCanvasElement>(undefined);
  // Rates and times always have a linear axis, because they do not span several powers of ten.
  const logY = view.logY && panel.unit === 'plain';
  const typicalY = !logY && !view.fullY;
  const own = useMemo(
    () => panelCurves(panel, props.curves, props.points, logY),
    [
      props.curves.map((s) => s.x).flat().length,
      props.curves[0]?.mean,
      props.points.map(({ mean }) => mean.length).join(),
      props.points[0]?.mean,
      logY,
    ],
  );
  const window =
    view.from !== undefined && view.to !== undefined ? { from: view.from, to: view.to } : undefined;
  const { baseline } = props;
  const curves = useMemo(
    () =>
      baseline
        ? [...own, ...baselineCurves(panel, baseline, logY, { own, window })]
        : own,
    [own, baseline, logY, view.from, view.to],
  );
  const markers = useMemo(
    () => [
      ...props.markers,
      ...props.curves
        .filter(({ redone }) => !redone)
        .flatMap(notFiniteRanges)
        .map((range): Marker => ({
          kind: 'nan',
          step: range.first,
          lastStep: range.last,
          timeMs: 0,
          text: rangeText(range),
        })),
    ],
    [props.markers, props.curves[0]?.last],
  );
  const name = `${job.name}-${job.id}-${panel.keys[0]}`;
  const stepOf = (x: number) => stepAt(x, view.axis, mainOf(props.curves));
  const read = (next: Reading | undefined) => {
    setReading(next);
    cursorStep.value = next && stepOf(next.x);
  };
  const choose = (x: number) => {
    const step = stepOf(x);
    if (step !== undefined) props.onChoose(step);
  };
  return (
    <section class={classOf(panel)} aria-label={panel.title}>
      <header>
        <h2>{panel.title}</h2>
        {reading ? (
          <ReadingText reading={reading} curves={curves} panel={panel} view={view} />
        ) : (
          <Summary series={props.curves} panel={panel} />
        )}
        <div class="panel-tools">
          <button
            type="button"
            class="quiet"
            aria-label={`${panel.title} as PNG`}
            onClick={() =>
              canvas.current &&
              downloadPng(canvas.current, `${panel.title}, ${job.name} #${job.id}`, `${name}.png`)
            }
          >
            <Icon name="down" />
            PNG
          </button>
          <Download
            class="quiet"
            address={csvPath(props)}
            name={`${name}.csv`}
            aria-label={`${panel.title} as CSV`}
          >
            CSV
          </Download>
        </div>
      </header>
      <Chart
        curves={curves}
        height={heightOf(panel)}
        markers={markers}
        look={{ axis: view.axis, logY, typicalY, unit: panel.unit, sync: `job-${job.id}`, window }}
        label={`${panel.title} by ${view.axis}`}
        xOfMarker={placeOf(props.curves, view)}
        onZoom={props.onZoom}
        onRead={read}
        onChoose={choose}
        onCanvas={(element) => {
          canvas.current = element;
        }}
      />
      {hasLines(panel) && <LineLegend reading={reading} curves={curves} panel={panel} />}
      {panel.points && panel.points.length > 0 && (
        <EvaluationLegend keys={panel.points} series={props.points} />
      )}
      <CurveNote series={props.curves} curves={curves} panel={panel} typicalY={typicalY} />
    </section>
  );
}
