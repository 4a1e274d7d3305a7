// A chart of curves over one x axis. Has markers, zoom, and a cursor that other charts share. Wraps
// uPlot.
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { onThemeChange } from './colors';
import { align, extent, type Curve } from './curves';
import { zoomWindow } from './axes';
import { drawMarkers } from './draw_markers';
import { queueDraw } from './draw_queue';
import { effectOfKey } from './keys';
import { bySeverity, type Marker, type PlacedMarker } from './markers';
import { chartOptions, type AxisWindow, type ChartLook } from './options';
import { typicalRange } from './y_range';

export interface Reading {
  x: number;
  // One value per curve; undefined if the curve has no point near the cursor.
  values: (number | undefined)[];
  // The most severe first.
  markers: Marker[];
}

export interface ChartProps {
  curves: readonly Curve[];
  look: ChartLook;
  height: number;
  label: string;
  markers: readonly Marker[];
  xOfMarker: (marker: Marker) => number | undefined;
  onZoom: (window: { from: number; to: number } | undefined) => void;
  // Called with undefined when the cursor leaves the chart.
  onRead: (reading: Reading | undefined) => void;
  // The highlighted curve. If `look.picks` is set, onPick is called with the curve nearest to the
  // cursor.
  picked?: number | undefined;
  onPick?: (curve: number | undefined) => void;
  // Called with the point that the user clicks or taps.
  onChoose?: (x: number) => void;
  // Called with the canvas, which exports need.
  onCanvas?: (canvas: HTMLCanvasElement | undefined) => void;
}

const MARKER_REACH_PX = 8;
// A shorter drag is a click.
const MIN_DRAG_PX = 4;

function readingAt(chart: uPlot, placed: readonly PlacedMarker[]): Reading | undefined {
  const { left = -1, idx } = chart.cursor;
  if (left < 0 || idx === null || idx === undefined) return undefined;
  const indices = chart.cursor.idxs ?? [];
  const values = chart.data.slice(1).map((column, series) => {
    const value = column?.[indices[series + 1] ?? idx];
    return value === null ? undefined : value;
  });
  const near = placed.filter(
    ({ px, endPx }) => left >= px - MARKER_REACH_PX && left <= endPx + MARKER_REACH_PX,
  );
  const x = (chart.data[0] as number[])[idx] as number;
  return { x, values, markers: bySeverity(near.flatMap((place) => place.markers)) };
}

// The current props, which uPlot's callbacks read on each drawing.
interface Current extends ChartProps {
  data: uPlot.AlignedData;
}

// Calls `choose` for clicks that are not the end of a drag.
function listenForChoice(chart: uPlot, choose: (x: number) => void): void {
  let pressedAt = 0;
  chart.over.addEventListener('pointerdown', ({ clientX }) => {
    pressedAt = clientX;
  });
  chart.over.addEventListener('click', ({ clientX }) => {
    const { idx } = chart.cursor;
    const x = idx === null || idx === undefined ? undefined : chart.data[0][idx];
    if (Math.abs(clientX - pressedAt) < MIN_DRAG_PX && x !== undefined) choose(x);
  });
}

function createChart(host: HTMLElement, current: { current: Current }): uPlot {
  let placed: PlacedMarker[] = [];
  const props = current.current;
  const size = { width: Math.max(120, host.clientWidth), height: props.height };
  const options = chartOptions(props.curves, props.look, size, {
    y: () => {
      const { curves, look } = current.current;
      return look.typicalY ? typicalRange(curves) : extent(curves);
    },
    window: () => current.current.look.window,
  });
  options.hooks = {
    // Draws markers below the curves, so that a marker does not hide the spike that it marks.
    drawAxes: [
      (chart) => {
        placed = drawMarkers(chart, current.current.markers, current.current.xOfMarker);
      },
    ],
    setSeries: [
      (_, series) => current.current.onPick?.(series === null ? undefined : series - 1),
    ],
    setCursor: [(chart) => current.current.onRead(readingAt(chart, placed))],
    setSelect: [
      (chart) => {
        const { left, width } = chart.select;
        if (width < MIN_DRAG_PX) return;
        current.current.onZoom(
          zoomWindow(chart.posToVal(left, 'x'), chart.posToVal(left + width, 'x')),
        );
        chart.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      },
    ],
  };
  const chart = new uPlot(options, props.data, host);
  chart.over.addEventListener('dblclick', () => current.current.onZoom(undefined));
  listenForChoice(chart, (x) => current.current.onChoose?.(x));
  return chart;
}

// Handles keys that move the cursor or change the zoom. Returns true if it handled the key.
function onKey(event: KeyboardEvent, chart: uPlot, onZoom: ChartProps['onZoom']): boolean {
  if (event.ctrlKey || event.metaKey || event.altKey) return false;
  const xs = chart.data[0] as number[];
  const { min = 0, max = 0 } = chart.scales['x'] ?? {};
  const { left = -1, idx } = chart.cursor;
  const effect = effectOfKey(event.key, event.shiftKey, {
    xs,
    shown: { from: min, to: max },
    index: left < 0 ? undefined : (idx ?? undefined),
  });
  if (!effect) return false;
  if ('zoom' in effect) {
    onZoom(effect.zoom);
  } else {
    const middle = chart.over.clientHeight / 2;
    chart.setCursor({ left: chart.valToPos(xs[effect.read] as number, 'x'), top: middle });
  }
  return true;
}

// Returns a text that changes with every property whose change requires a new chart. New data alone
// does not change the text.
function structureOf({ curves, look, height }: ChartProps): string {
  const series = curves.map((c) => `${c.role}/${c.label}/${c.color}/${c.y.length < 60}`);
  return JSON.stringify([series, { ...look, window: undefined }, height]);
}

const keyOf = (window: AxisWindow | undefined) => (window ? `${window.from}-${window.to}` : '');

export function Chart(props: ChartProps) {
  const host = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot>(undefined);
  const data = useMemo(() => align(props.curves) as uPlot.AlignedData, [props.curves]);
  const current = useRef<Current>({ ...props, data });
  current.current = { ...props, data };
  const windowKey = keyOf(props.look.window);
  const drawn = useRef<{ data?: uPlot.AlignedData; window: string }>({ window: '' });
  const structure = structureOf(props);

  // Runs before the first paint, so that the first paint shows the chart.
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    const build = () => {
      chart.current?.destroy();
      chart.current = createChart(element, current);
      drawn.current = { data: current.current.data, window: keyOf(current.current.look.window) };
      props.onCanvas?.(chart.current.ctx.canvas);
    };
    const cancel = queueDraw(build);
    const stopTheme = onThemeChange(build);
    const resize = new ResizeObserver(() => {
      const width = Math.max(120, element.clientWidth);
      if (chart.current && chart.current.width !== width) {
        chart.current.setSize({ width, height: props.height });
      }
    });
    resize.observe(element);
    return () => {
      cancel();
      stopTheme();
      resize.disconnect();
      chart.current?.destroy();
      chart.current = undefined;
      props.onCanvas?.(undefined);
    };
  }, [structure]);

  // Skips a chart that was just created, because it already has the data and the window.
  useEffect(() => {
    if (drawn.current.data === data && drawn.current.window === windowKey) return undefined;
    return queueDraw(() => {
      chart.current?.setData(data);
      drawn.current = { data, window: windowKey };
    });
  }, [data, windowKey]);
  const drawnMarkers = useRef(props.markers);
  useEffect(() => {
    if (drawnMarkers.current !== props.markers) chart.current?.redraw(false);
    drawnMarkers.current = props.markers;
  }, [props.markers]);
  useEffect(() => {
    if (!props.look.picks) return;
    const series = props.picked === undefined ? null : props.picked + 1;
    chart.current?.setSeries(series, { focus: true }, false);
  }, [props.picked]);

  return (
    <div
      class="chart"
      ref={host}
      // With this role, screen readers pass the arrow keys to the chart.
      role="application"
      aria-roledescription="chart"
      aria-label={`${props.label}. Arrow keys move from point to point; plus and minus zoom.`}
      tabIndex={0}
      onKeyDown={(event) => {
        if (!chart.current || !onKey(event, chart.current, props.onZoom)) return;
        event.preventDefault();
        event.stopPropagation();
      }}
      onBlur={() => chart.current?.setCursor({ left: -10, top: -10 })}
    />
  );
}
