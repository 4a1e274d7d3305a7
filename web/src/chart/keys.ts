// Keyboard control of a chart: how each key changes the current point and the window.
import { zoomWindow } from './axes';
import type { AxisWindow } from './options';

export interface ChartPlace {
  // The positions of all points, ascending.
  xs: readonly number[];
  shown: AxisWindow;
  // Index of the current point; undefined before the first key.
  index: number | undefined;
}

export type KeyEffect = { read: number } | { zoom: AxisWindow | undefined };

const FAR = 10;
const ZOOM = 2;

// Returns the indices of the first and last visible points; undefined if no point is visible.
function visible({ xs, shown }: ChartPlace): { first: number; last: number } | undefined {
  const first = xs.findIndex((x) => x >= shown.from);
  const last = xs.findLastIndex((x) => x <= shown.to);
  return first === -1 || last < first ? undefined : { first, last };
}

function stepBy(place: ChartPlace, by: number): KeyEffect | undefined {
  const range = visible(place);
  if (!range) return undefined;
  const { first, last } = range;
  const { index } = place;
  if (index === undefined || index < first || index > last) return { read: by > 0 ? first : last };
  return { read: Math.min(last, Math.max(first, index + by)) };
}

// Scales the window by `factor` around the current point if it is visible, else around the middle
// of the window. The result never extends beyond the points.
function zoomBy({ xs, shown, index }: ChartPlace, factor: number): KeyEffect {
  const [begin = 0, end = 0] = [xs[0], xs.at(-1)];
  const read = index === undefined ? undefined : xs[index];
  const inside = read !== undefined && read >= shown.from && read <= shown.to;
  const center = inside ? read : (shown.from + shown.to) / 2;
  const from = center - (center - shown.from) * factor;
  const to = center + (shown.to - center) * factor;
  if (from <= begin && to >= end) return { zoom: undefined };
  return { zoom: zoomWindow(Math.max(from, begin), Math.min(to, end)) };
}

export function effectOfKey(
  key: string,
  shift: boolean,
  place: ChartPlace,
): KeyEffect | undefined {
  const range = visible(place);
  switch (key) {
    case 'ArrowLeft':
      return stepBy(place, shift ? -FAR : -1);
    case 'ArrowRight':
      return stepBy(place, shift ? FAR : 1);
    case 'Home':
      return range && { read: range.first };
    case 'End':
      return range && { read: range.last };
    case '+':
    case '=':
      return zoomBy(place, 1 / ZOOM);
    case '-':
      return zoomBy(place, ZOOM);
    default:
      return undefined;
  }
}
