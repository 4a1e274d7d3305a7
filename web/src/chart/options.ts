// The options that this page passes to uPlot.
import uPlot from 'uplot';
import type { Axis } from '../router/url';
import { shortTick } from '../format/numbers';
import {
  logTickTexts,
  logTicks,
  paddedRange,
  tickStep,
  tickText,
  timeTickText,
  type Unit,
} from './axes';
import { resolvedColor, runColorName, themeColor } from './colors';
import { nearestDefined, type Curve } from './curves';

export interface AxisWindow {
  from: number;
  to: number;
}

export interface ChartLook {
  axis: Axis;
  logY: boolean;
  // True to let a few extreme values be outside of the y range.
  typicalY?: boolean;
  unit: Unit;
  // Charts with equal keys share a cursor.
  sync: string;
  // Range of the x axis; undefined: the range of the data.
  window: AxisWindow | undefined;
  // Returns the label of a tick at `x` whose neighbors are `step` away. Needed only if the kind of
  // axis does not determine the labels.
  xWords?: (x: number, step: number) => string;
  // Highlights the curve nearest to the cursor.
  picks?: boolean;
}

const FONT = '11px system-ui, sans-serif';
const Y_AXIS_PX = 54;
// Approximate width of a letter in FONT, and the space next to a label.
const LETTER_PX = 6.2;
const AXIS_PADDING_PX = 12;
const PADDING_RIGHT_PX = 14;
const widthOf = (words: string) => Math.ceil(words.length * LETTER_PX) + AXIS_PADDING_PX;
const MARKED_POINTS = 120;
const LAYER_OPACITY = 0.45;
// Maximum distance in pixels between the cursor and the highlighted curve.
const PICK_PX = 30;
// Maximum distance, in points, between the cursor and a point whose value is shown.
const REACH = 40;

function alpha(color: string, opacity: number): string {
  return `color-mix(in oklab, ${color} ${Math.round(opacity * 100)}%, transparent)`;
}

// The browser must resolve the color first, because canvases do not support color-mix().
const faded = (name: string, opacity: number) => resolvedColor(alpha(`var(--${name})`, opacity));

function seriesOptions(curve: Curve, smoothed: boolean): uPlot.Series {
  const name = runColorName(curve.color);
  const base: uPlot.Series = { label: curve.label, points: { show: false } };
  switch (curve.role) {
    case 'min':
    case 'max':
      // The edge keeps the band visible at a spike of one step, where the band is very thin.
      return { ...base, width: 1, stroke: faded(name, 0.5) };
    case 'raw': {
      const few = curve.y.length < 60 && !smoothed;
      return {
        ...base,
        stroke: smoothed ? faded(name, 0.35) : themeColor(name),
        width: smoothed ? 1 : 1.5,
        dash: curve.dash ? [...curve.dash] : undefined,
        points: { show: few, size: 4, fill: themeColor(name) },
      };
    }
    case 'smooth':
      return {
        ...base,
        stroke: themeColor(name),
        width: 1.75,
        dash: curve.dash && [...curve.dash],
      };
    case 'points': {
      const fill = themeColor(name);
      return {
        ...base,
        stroke: fill,
        width: 1,
        dash: [2, 3],
        // Points are marked only if there are few, because many marks would hide the curve.
        points: {
          show: curve.y.length <= MARKED_POINTS,
          size: 7,
          stroke: fill,
          fill: themeColor('surface'),
          width: 1.75,
        },
      };
    }
    case 'baseline':
      return { ...base, width: 1.5, stroke: themeColor(name), dash: [...(curve.dash ?? [])] };
    case 'stack':
      return { ...base, width: 1, stroke: themeColor(name), fill: faded(name, LAYER_OPACITY) };
    case 'redone':
      return { ...base, stroke: themeColor('curve-redone'), width: 1.25, dash: [3, 3] };
  }
}

function bandsOf(curves: readonly Curve[]): uPlot.Band[] {
  const bands: uPlot.Band[] = [];
  curves.forEach((curve, index) => {
    const fill = (opacity: number) => faded(runColorName(curve.color), opacity);
    if (curve.role === 'max') bands.push({ series: [index + 1, index + 2], fill: fill(0.25) });
    // A layer lies on the layer before it. The lowest layer lies on 0.
    if (curve.role === 'stack' && curves[index - 1]?.role === 'stack') {
      bands.push({ series: [index + 1, index], fill: fill(LAYER_OPACITY) });
    }
  });
  return bands;
}

// Powers of two, so that the ticks of byte axes are round numbers of KiB, MiB and GiB.
const BINARY_INCREMENTS = Array.from({ length: 50 }, (_, power) => 2 ** power);

function yAxis(look: ChartLook): uPlot.Axis {
  const words = (chart: uPlot, ticks: number[]) => {
    const { min = 1, max = 1 } = chart.scales['y'] ?? {};
    const decades = Math.log10(max / min);
    if (look.logY) return logTickTexts(ticks, decades, look.unit);
    return ticks.map((tick) => tickText(tick, tickStep(ticks), look.unit));
  };
  // Keeps all ticks, because uPlot would omit some of them on a logarithmic axis.
  const filter = (_: uPlot, ticks: number[]) => ticks;
  const axis: uPlot.Axis = { ...axisLook(), values: words, filter, space: 34 };
  axis.size = (_, shown) => Math.max(Y_AXIS_PX, ...(shown ?? []).map(widthOf));
  if (look.unit === 'bytes') axis.incrs = BINARY_INCREMENTS;
  return look.logY ? { ...axis, splits: (_, __, low, high) => logTicks(low, high) } : axis;
}

function axisLook(): uPlot.Axis {
  const grid = { stroke: themeColor('chart-grid'), width: 1 };
  return { stroke: themeColor('text-faint'), font: FONT, grid, ticks: { show: false }, gap: 6 };
}

// Only whole numbers, because steps and tokens have no fractions.
const WHOLE_INCREMENTS = Array.from({ length: 18 }, (_, power) =>
  [1, 2, 5].map((digit) => digit * 10 ** power),
).flat();

function xAxis(look: ChartLook): uPlot.Axis {
  const words = xTickWords(look);
  const space: uPlot.Axis.Space = (_, __, low, high, px) =>
    Math.max(leastSpace(px), widestTick(words, low, high, px));
  const values = (_: uPlot, ticks: number[]) => {
    const step = tickStep(ticks);
    return ticks.map((tick) => words(tick, step));
  };
  const base: uPlot.Axis = { ...axisLook(), size: 26, space, values };
  return look.axis === 'time' ? base : { ...base, incrs: WHOLE_INCREMENTS };
}

const leastSpace = (px: number) => (px < 500 ? 56 : 80);

// Returns the width of the widest tick label. The width grows during a run, because later steps
// have more digits.
function widestTick(words: TickWords, low: number, high: number, px: number): number {
  const step = ((high - low) * leastSpace(px)) / px || 1;
  return widthOf(words(high, 10 ** Math.floor(Math.log10(step))));
}

// Reserves half a label's width, because a tick at the right edge has half of its label beyond the
// edge.
function paddingRight(look: ChartLook): uPlot.PaddingSide {
  const words = xTickWords(look);
  return (chart) => {
    const { min = 0, max = 0 } = chart.scales['x'] ?? {};
    if (!(max > min)) return PADDING_RIGHT_PX;
    return Math.max(PADDING_RIGHT_PX, Math.ceil(widestTick(words, min, max, chart.width) / 2));
  };
}

type TickWords = (x: number, step: number) => string;

function xTickWords({ axis, xWords }: ChartLook): TickWords {
  if (xWords) return xWords;
  if (axis === 'time') return timeTickText;
  return (x, step) => shortTick(x, Math.max(1, step));
}

// The ranges that change during a chart's life: the window of the x axis, and the y range. uPlot
// cannot compute the y range, because bands and log scales need special handling.
export interface LiveRanges {
  y: () => [number, number] | undefined;
  window: () => AxisWindow | undefined;
}

export function chartOptions(
  curves: readonly Curve[],
  look: ChartLook,
  size: { width: number; height: number },
  ranges: LiveRanges,
): uPlot.Options {
  const smoothed = curves.some((curve) => curve.role === 'smooth');
  const yRange = (): [number, number] => {
    const [low, high] = ranges.y() ?? [look.logY ? 0.1 : 0, 1];
    return paddedRange(low, high, look.logY);
  };
  const xRange = (_: uPlot, low: number, high: number): [number, number] => {
    const window = ranges.window();
    if (window) return [window.from, window.to];
    return low === high ? [low - 1, high + 1] : [low, high];
  };
  return {
    ...size,
    ms: 1,
    padding: [6, paddingRight(look), 0, 0],
    legend: { show: false },
    focus: { alpha: look.picks ? 0.16 : 1 },
    scales: {
      x: { time: look.axis === 'time' && !look.xWords, range: xRange },
      y: { distr: look.logY ? 3 : 1, range: yRange },
    },
    series: [{}, ...curves.map((curve) => seriesOptions(curve, smoothed))],
    bands: bandsOf(curves),
    axes: [xAxis(look), yAxis(look)],
    cursor: {
      sync: { key: look.sync, scales: ['x', null] },
      drag: { x: true, y: false, setScale: false },
      points: { size: 6 },
      focus: { prox: look.picks ? PICK_PX : -1 },
      dataIdx: (chart, series, closest) => {
        const values = chart.data[series] as (number | null | undefined)[];
        return nearestDefined(values, closest, REACH) ?? closest;
      },
    },
  };
}
