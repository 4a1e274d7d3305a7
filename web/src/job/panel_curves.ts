// The curves of one panel. Pure functions.
import type { Series } from '../api/types';
import { curvesOf, type Curve } from '../chart/curves';
import { dashOf } from '../chart/dashes';
import { stackedCurves } from '../chart/stack';
import { setColor, setName } from './evaluation_sets';
import { isStacked, type Panel } from './panels';

// Returns a line without a band, because the bands of several series would hide each other.
export function lineOf(series: Series, color: number, label: string, logY: boolean): Curve[] {
  const all = curvesOf(series, { logY, color, label });
  const line =
    all.find(({ role }) => role === 'smooth') ?? all.find(({ role }) => role === 'raw');
  if (!line) return [];
  const dash = dashOf(color);
  return [{ ...line, role: 'raw', ...(dash ? { dash } : {}) }];
}

// Returns one line per series that has points, in the order of the panel. A series' position in the
// panel determines its color, so the color is the same for every job. Redone parts are left
// out, because they look alike for all series.
export function linesOf(panel: Panel, series: readonly Series[], logY: boolean): Curve[] {
  return panel.keys.flatMap((key, place) => {
    const found = series.find((one) => one.key === key && !one.redone && one.x.length > 0);
    const color = (panel.firstColor ?? 0) + place;
    return found ? lineOf(found, color, panel.names?.[place] ?? key, logY) : [];
  });
}

// Returns the layers of the parts that took time.
export function layersOf(panel: Panel, series: readonly Series[]): Curve[] {
  const parts = linesOf(panel, series, false);
  return stackedCurves(parts.filter(({ y }) => y.some((value) => (value ?? 0) > 0)));
}

export const hasLines = (panel: Panel) => panel.keys.length > 1;

const setLabel = (key: string) => (key === 'val_loss' ? 'validation' : setName(key));

export function panelCurves(
  panel: Panel,
  series: readonly Series[],
  points: readonly Series[],
  logY: boolean,
): Curve[] {
  if (isStacked(panel)) return layersOf(panel, series);
  if (hasLines(panel)) return linesOf(panel, series, logY);
  return [
    ...series.flatMap((one, index) => curvesOf(one, { logY, color: index })),
    ...points
      .filter(({ redone }) => !redone)
      .flatMap((one) => {
        const color = setColor(Math.max(0, panel.points?.indexOf(one.key) ?? 0));
        return curvesOf(one, { logY, color, points: true, label: setLabel(one.key) });
      }),
  ];
}

// Returns the newest value of a curve, for the legend.
export function newestOf({ y }: Curve): number | undefined {
  return y.findLast((value) => typeof value === 'number') ?? undefined;
}
