// The curves of another job, drawn over those of the open job. Pure functions.
import type { GetSeriesResponse, Series } from '../api/types';
import { within, type Curve } from '../chart/curves';
import type { AxisWindow } from '../chart/options';
import { setColor, setName } from './evaluation_sets';
import { hasLines, layersOf, lineOf, linesOf } from './panel_curves';
import { isStacked, type Panel } from './panels';

export interface Baseline {
  // Such as "llama3-1b #12".
  name: string;
  series: readonly Series[];
}

export const BASELINE_DASH = [7, 4];
// Differs from the colors of the job's own curve and of its first evaluation sets.
export const BASELINE_COLOR = 7;

const asBaseline = (curve: Curve, label: string): Curve => ({
  ...curve,
  role: 'baseline',
  dash: BASELINE_DASH,
  label,
});

// Returns the dashed curves of the baseline in a panel: one curve per series, one for the sum of
// stacked parts, and one per evaluation set.
function curvesIn(panel: Panel, { name, series }: Baseline, logY: boolean): Curve[] {
  if (isStacked(panel)) {
    const sum = layersOf(panel, series).at(-1);
    return sum ? [{ ...asBaseline(sum, `${name}: sum`), color: BASELINE_COLOR }] : [];
  }
  if (hasLines(panel)) {
    const lines = linesOf(panel, series, logY);
    return lines.map((line) => asBaseline(line, `${name}: ${line.label}`));
  }
  const found = (key: string) => series.find((one) => one.key === key && one.x.length > 0);
  const main = found(panel.keys[0] ?? '');
  const curves = main ? lineOf(main, BASELINE_COLOR, name, logY) : [];
  const sets = (panel.points ?? []).flatMap((key, index) => {
    const set = found(key);
    return set ? lineOf(set, setColor(index), `${name}: ${setName(key)}`, logY) : [];
  });
  return [...curves, ...sets].map((curve) => asBaseline(curve, curve.label));
}

// Returns the part of a curve that the job's own curves cover.
function covered(curve: Curve, own: readonly Curve[]): Curve {
  const lines = own.filter(({ x }) => x.length > 0);
  const first = Math.min(...lines.map(({ x }) => x[0] as number));
  const last = Math.max(...lines.map(({ x }) => x.at(-1) as number));
  const begin = curve.x.findIndex((x) => x >= first);
  const end = curve.x.findLastIndex((x) => x <= last) + 1;
  if (begin < 0) return { ...curve, x: [], y: [] };
  return { ...curve, x: curve.x.slice(begin, end), y: curve.y.slice(begin, end) };
}

export interface Shown {
  // The job's own curves. Without a window, the x axis shows the range of these curves.
  own: readonly Curve[];
  window: AxisWindow | undefined;
}

// A baseline that ran longer than the job does not extend the axis.
export function baselineCurves(
  panel: Panel,
  baseline: Baseline,
  logY: boolean,
  { own, window }: Shown,
): Curve[] {
  const curves = curvesIn(panel, baseline, logY);
  return curves.map((curve) => (window ? within(curve, window) : covered(curve, own)));
}

const startOf = ({ attempts }: Pick<GetSeriesResponse, 'attempts'>): number | undefined => {
  const starts = attempts.map(({ first_x: first }) => first).filter((first) => first > 0);
  return starts.length > 0 ? Math.min(...starts) : undefined;
};

// Returns the baseline's series on the job's time axis, as if both jobs had reported their first
// points at the same time.
export function sameStart(
  own: Pick<GetSeriesResponse, 'attempts'>,
  other: Pick<GetSeriesResponse, 'attempts' | 'series'>,
): Series[] {
  const [start, otherStart] = [startOf(own), startOf(other)];
  if (start === undefined || otherStart === undefined) return [];
  const shift = start - otherStart;
  return other.series.map((one) => ({ ...one, x: one.x.map((x) => x + shift) }));
}
