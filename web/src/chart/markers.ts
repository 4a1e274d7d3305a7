// The markers of a curve: checkpoints, notes, restarts, heals and alerts. Pure functions.
import type { Attempt, Checkpoint, Series } from '../api/types';
import { rateChangeText } from '../format/rate_change';
import { plainWords } from '../format/words';
import type { Axis } from '../router/url';

export type MarkerKind = 'checkpoint' | 'note' | 'restart' | 'alert' | 'nan';

export interface Marker {
  kind: MarkerKind;
  step: number;
  // Set for markers that are ranges of steps.
  lastStep?: number;
  timeMs: number;
  text: string;
}

export interface PlacedMarker {
  px: number;
  // The right end of a range. Equals px for a single step.
  endPx: number;
  kind: MarkerKind;
  // The markers at this place, in the given order.
  markers: Marker[];
}

// Severity by kind. The most severe marker at a place determines the shape.
const RANK: Record<MarkerKind, number> = { checkpoint: 0, note: 1, restart: 2, alert: 3, nan: 4 };

// Returns the markers, the most severe first.
export const bySeverity = (markers: readonly Marker[]): Marker[] =>
  [...markers].sort((a, b) => RANK[b.kind] - RANK[a.kind]);

export interface ChartAlert {
  attempt: number;
  step: number;
  time_ms: number;
  code: string;
  message: string;
}

export interface MarkerSources {
  checkpoints: readonly Checkpoint[];
  attempts: readonly Attempt[];
  alerts: readonly ChartAlert[];
}

// Returns the part of the sources that belongs to one attempt.
export function sourcesOf(sources: MarkerSources, attempt: number): MarkerSources {
  const mine = (one: { attempt: number }) => one.attempt === attempt;
  return {
    checkpoints: sources.checkpoints.filter(mine),
    attempts: sources.attempts.filter(({ number }) => number === attempt),
    alerts: sources.alerts.filter(mine),
  };
}

// Returns equal texts for lists of markers with the same look and text.
export const markersKey = (markers: readonly Marker[]): string =>
  markers.map(({ timeMs, text }) => `${timeMs} ${text}`).join('\n');

// If an attempt has more alerts of one code than this, they share one marker, because many lines
// would hide the curve.
const ALERTS_APART = 3;

const alertMarker = ({ step, time_ms: timeMs, code, message }: ChartAlert): Marker => ({
  kind: 'alert',
  step,
  timeMs,
  text: `${plainWords(code)} at step ${step}: ${message}`,
});

// Returns one marker at the first alert, with the message of the newest alert.
function foldedMarker(alerts: readonly ChartAlert[]): Marker {
  const sorted = [...alerts].sort((a, b) => a.step - b.step);
  const [first, last] = [sorted[0] as ChartAlert, sorted.at(-1) as ChartAlert];
  const steps = `steps ${first.step} to ${last.step}`;
  const text = `${alerts.length} × ${plainWords(first.code)}, ${steps}: ${last.message}`;
  return { ...alertMarker(first), text };
}

// Leaves out heals, because the heals of the attempts have their own markers.
function alertMarkers(alerts: readonly ChartAlert[]): Marker[] {
  const groups = new Map<string, ChartAlert[]>();
  for (const alert of alerts) {
    if (alert.code === 'healed') continue;
    const key = `${alert.attempt} ${alert.code}`;
    const group = groups.get(key);
    if (group) group.push(alert);
    else groups.set(key, [alert]);
  }
  return [...groups.values()].flatMap((group) =>
    group.length > ALERTS_APART ? [foldedMarker(group)] : group.map(alertMarker),
  );
}

export function markersOf(sources: MarkerSources): Marker[] {
  const checkpoints = sources.checkpoints.map((c): Marker => ({
    kind: 'checkpoint',
    step: c.step,
    timeMs: c.time_ms,
    text: `checkpoint at step ${c.step}`,
  }));
  const rolledBack = new Set(
    sources.attempts
      .filter((a) => a.stop_reason === 'rolled_back')
      .map(({ number }) => number),
  );
  const restarts = sources.attempts
    .filter((a) => a.number > 1)
    .map((a): Marker => ({
      kind: 'restart',
      step: a.resume_step,
      timeMs: a.started_time_ms || a.placed_time_ms,
      text: `attempt ${a.number} from step ${a.resume_step}${
        rolledBack.has(a.number - 1) ? ', rolled back by the loss guard' : ''
      }${a.rate_change ? `; ${rateChangeText(a.rate_change)}` : ''}`,
    }));
  const heals = sources.attempts.flatMap((a) =>
    a.heals.map((heal): Marker => ({
      kind: 'restart',
      step: heal.step,
      timeMs: heal.healed_ms || heal.began_ms,
      text: `${heal.healed_ms ? 'healed' : 'healing'} in place after step ${heal.step}`,
    })),
  );
  return [...checkpoints, ...restarts, ...heals, ...alertMarkers(sources.alerts)];
}

// Returns a marker's position on an axis. On a time axis, a marker without a time, such as a bucket
// with NaN, gets the time of its step, interpolated on the curve of `main`.
export function markerPlace(
  marker: Marker,
  axis: Axis,
  main: Pick<Series, 'steps' | 'x'> | undefined,
): number | undefined {
  if (axis === 'step') return marker.step;
  if (axis === 'time' && marker.timeMs > 0) return marker.timeMs;
  return main && interpolate(main.steps, main.x, marker.step);
}

// Returns the position of `step` on another axis, interpolated between the neighboring points. A
// step merged into the first point's bucket is placed at that point. Returns undefined if `step` is
// outside the points.
export function interpolate(
  steps: readonly number[],
  x: readonly number[],
  step: number,
): number | undefined {
  const count = steps.length;
  const first = steps[0];
  const last = steps[count - 1];
  if (first === undefined || last === undefined || step > last) return undefined;
  const reach = (steps[1] ?? Infinity) - first;
  if (step <= first) return step < first - reach ? undefined : x[0];
  let low = 0;
  let high = count - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((steps[middle] as number) <= step) low = middle;
    else high = middle;
  }
  const [s0, s1] = [steps[low] as number, steps[high] as number];
  const [x0, x1] = [x[low] as number, x[high] as number];
  return s1 === s0 ? x1 : x0 + ((x1 - x0) * (step - s0)) / (s1 - s0);
}

// Returns the position of a range's last step. For a marker that is not a range, returns `px`.
function rangeEnd(
  marker: Marker,
  px: number,
  toPx: (marker: Marker) => number | undefined,
): number {
  if (marker.lastStep === undefined) return px;
  return toPx({ ...marker, step: marker.lastStep }) ?? px;
}

// A range is merged only with ranges, so that a checkpoint inside a range keeps its own place.
// Single steps are compared with the first step of a place, because a row of close markers would
// otherwise become one place of any width.
function isNear(before: PlacedMarker, marker: Marker, px: number, gapPx: number): boolean {
  const areRanges = before.kind === 'nan' && marker.kind === 'nan';
  return px - (areRanges ? before.endPx : before.px) < gapPx;
}

// Returns the places of markers in pixels. Markers closer than `gapPx` are merged into one place.
// Ranges are clipped to the view.
export function placeMarkers(
  markers: readonly Marker[],
  toPx: (marker: Marker) => number | undefined,
  widthPx: number,
  gapPx: number,
): PlacedMarker[] {
  const places = markers.flatMap((marker) => {
    const px = toPx(marker);
    if (px === undefined) return [];
    const endPx = rangeEnd(marker, px, toPx);
    if (endPx < 0 || px > widthPx) return [];
    return [{ marker, px: Math.max(0, px), endPx: Math.min(widthPx, endPx) }];
  });
  places.sort((a, b) => a.px - b.px);
  const placed: PlacedMarker[] = [];
  for (const { marker, px, endPx } of places) {
    const before = placed[placed.length - 1];
    if (before && isNear(before, marker, px, gapPx)) {
      before.markers.push(marker);
      if (marker.lastStep !== undefined) before.endPx = Math.max(before.endPx, endPx);
      if (RANK[marker.kind] > RANK[before.kind]) before.kind = marker.kind;
    } else {
      placed.push({ px, endPx, kind: marker.kind, markers: [marker] });
    }
  }
  return placed;
}
