// Draws markers on a chart's canvas. Each kind of marker has its own shape, so that a marker can be
// recognized without color.
import type uPlot from 'uplot';
import { themeColor } from './colors';
import { placeMarkers, type Marker, type MarkerKind, type PlacedMarker } from './markers';

const GAP_PX = 10;

const COLOR: Record<MarkerKind, string> = {
  checkpoint: 'marker-checkpoint',
  note: 'marker-note',
  restart: 'marker-restart',
  alert: 'marker-alert',
  nan: 'marker-alert',
};

function line(ctx: CanvasRenderingContext2D, x: number, top: number, bottom: number): void {
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x, bottom);
  ctx.stroke();
}

const RANGE_OPACITY = 0.2;

// Draws a range as a tinted area over the full height of the chart.
function drawRange(
  ctx: CanvasRenderingContext2D,
  { px, endPx, kind }: PlacedMarker,
  box: uPlot.BBox,
  ratio: number,
): void {
  if (endPx <= px) return;
  ctx.fillStyle = themeColor(COLOR[kind]);
  ctx.globalAlpha = RANGE_OPACITY;
  ctx.fillRect(box.left + px * ratio, box.top, (endPx - px) * ratio, box.height);
  ctx.globalAlpha = 1;
}

// Traces the outline of a marker's shape. Checkpoints are at the bottom, other markers at the top.
function traceShape(
  ctx: CanvasRenderingContext2D,
  kind: MarkerKind,
  x: number,
  size: number,
  { top, height }: uPlot.BBox,
): void {
  const bottom = top + height;
  if (kind === 'checkpoint') {
    ctx.moveTo(x - size, bottom);
    ctx.lineTo(x + size, bottom);
    ctx.lineTo(x, bottom - size * 1.7);
  } else if (kind === 'restart') {
    ctx.moveTo(x, top);
    ctx.lineTo(x + size * 1.8, top + size);
    ctx.lineTo(x, top + size * 2);
  } else if (kind === 'note') {
    ctx.rect(x - size, top, size * 2, size * 2);
  } else {
    ctx.moveTo(x, top);
    ctx.lineTo(x + size, top + size);
    ctx.lineTo(x, top + size * 2);
    ctx.lineTo(x - size, top + size);
  }
}

const DASHES: Partial<Record<MarkerKind, number[]>> = { restart: [4, 3], note: [1, 3] };

// Draws the shape of a marker. Checkpoint: triangle at the bottom. Note: square on a dotted line.
// Restart: flag on a dashed line. Alert: diamond on a line.
function drawShape(
  ctx: CanvasRenderingContext2D,
  place: PlacedMarker,
  box: uPlot.BBox,
  ratio: number,
): void {
  const x = Math.round(box.left + place.px * ratio) + 0.5;
  const bottom = box.top + box.height;
  const size = 4.5 * ratio;
  ctx.strokeStyle = ctx.fillStyle = themeColor(COLOR[place.kind]);
  ctx.lineWidth = ratio;
  ctx.setLineDash((DASHES[place.kind] ?? []).map((length) => length * ratio));
  if (place.kind !== 'checkpoint') line(ctx, x, box.top, bottom);
  ctx.setLineDash([]);
  ctx.beginPath();
  traceShape(ctx, place.kind, x, size, box);
  ctx.closePath();
  ctx.fill();
}

// Returns the drawn markers, which the readout lists. `xOf` returns a marker's position on the x
// axis.
export function drawMarkers(
  chart: uPlot,
  markers: readonly Marker[],
  xOf: (marker: Marker) => number | undefined,
): PlacedMarker[] {
  const ratio = devicePixelRatio;
  const { ctx, bbox } = chart;
  const toPx = (marker: Marker) => {
    const x = xOf(marker);
    return x === undefined ? undefined : chart.valToPos(x, 'x');
  };
  const placed = placeMarkers(markers, toPx, bbox.width / ratio, GAP_PX);
  ctx.save();
  for (const place of placed) drawRange(ctx, place, bbox, ratio);
  for (const place of placed) drawShape(ctx, place, bbox, ratio);
  ctx.restore();
  return placed;
}
