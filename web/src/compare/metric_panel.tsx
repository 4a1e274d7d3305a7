// The curves of one metric: a line per run, or the mean of each group.
import { useMemo } from 'preact/hooks';
import { Chart, type Reading } from '../chart/chart';
import { curvesOf, type Curve } from '../chart/curves';
import { duration, durationTick } from '../format/time';
import { xText } from '../job/curve_panel';
import { unitOf } from '../job/panels';
import { setQuery } from '../router/router';
import type { CompareView } from './compare_view';
import { groupCurves, type Group } from './groups';
import { compareCurves, type Run } from './runs';

const elapsed = (ms: number) => duration(ms / 1000);
const elapsedTick = (ms: number, stepMs: number) => durationTick(ms / 1000, stepMs / 1000);

// Height of the chart in a comparison with only one chart.
const ONLY_PX = 380;
const HEIGHT_PX = 240;

interface MetricPanelProps {
  metric: string;
  view: CompareView;
  runs: readonly Run[];
  // The groups whose means are drawn; undefined: draw the runs.
  groups: readonly Group[] | undefined;
  // The color of each run.
  colors: readonly number[];
  picked: number | undefined;
  onPick: (run: number | undefined) => void;
  reading: Reading | undefined;
  onRead: (metric: string, reading: Reading | undefined) => void;
}

function useCurves({ metric, view, runs, groups, colors }: MetricPanelProps): Curve[] {
  // Only a time window is cut out here. On the other axes, the controller has already limited the
  // response to the window.
  const timeWindow = view.axis === 'time' ? `${view.from}-${view.to}` : '';
  return useMemo(() => {
    const lines = compareCurves(runs, { metric, view, colors }, curvesOf);
    return groups ? groupCurves(groups, lines) : lines;
  }, [runs, metric, view.logY, view.axis, timeWindow, groups, colors]);
}

function noteOf(view: CompareView, groups: readonly Group[] | undefined): string {
  if (groups) {
    return 'Each line is the mean of the group’s runs that reached the step (band: min–max).';
  }
  return view.smooth === 0
    ? 'A point that covers several steps shows their mean, or their spike if there is one.'
    : '';
}

export function MetricPanel(props: MetricPanelProps) {
  const { metric, view, groups, reading, picked } = props;
  const curves = useCurves(props);
  const window =
    view.from !== undefined && view.to !== undefined ? { from: view.from, to: view.to } : undefined;
  return (
    <section class="panel" aria-label={metric}>
      <header>
        <h2>{metric}</h2>
        <p class="reading">
          {reading && (
            <span class="at">
              {view.axis === 'time' ? elapsed(reading.x) : xText(reading.x, view)}
            </span>
          )}
          {!groups && picked !== undefined && <b>{curves[picked]?.label}</b>}
        </p>
      </header>
      <Chart
        curves={curves}
        height={view.metrics.length > 1 ? HEIGHT_PX : ONLY_PX}
        markers={[]}
        label={`${metric} by ${view.axis}`}
        look={{
          axis: view.axis,
          logY: view.logY,
          unit: unitOf(metric),
          sync: 'compare',
          window,
          picks: !groups,
          ...(view.axis === 'time' ? { xWords: elapsedTick } : {}),
        }}
        xOfMarker={() => undefined}
        onRead={(value) => props.onRead(metric, value)}
        picked={groups ? undefined : picked}
        onPick={groups ? undefined : props.onPick}
        onZoom={(range) => setQuery({ from: range?.from, to: range?.to })}
      />
      <p class="density">{noteOf(view, groups)}</p>
    </section>
  );
}
