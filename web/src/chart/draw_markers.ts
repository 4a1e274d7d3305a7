// Draws markers on a chart's canvas. Each kind of marker has its own shape, so that it can be
// recognised without color.
import type uPlot from 'uplot';
import { themeColor } from './colors';
import { placeMarkers, type Marker, type MarkerKind, type PlacedMarker } from './markers';

const GAP_PX = 10;

const COLOR: Record<MarkerKind, string> = {
  checkpoint: 'marker-checkpoint',
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

// Draws a checkpoint as a triangle at the bottom, a restart as a dashed line, and an alert as a
// line with a diamond.
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
  ctx.setLineDash(place.kind === 'restart' ? [4 * ratio, 3 * ratio] : []);
  if (place.kind !== 'checkpoint') line(ctx, x, box.top, bottom);
  ctx.setLineDash([]);
  ctx.beginPath();
  if (place.kind === 'checkpoint') {
    ctx.moveTo(x - size, bottom);
    ctx.lineTo(x + size, bottom);
    ctx.lineTo(x, bottom - size * 1.7);
  } else if (place.kind === 'restart') {
    ctx.moveTo(x, box.top);
    ctx.lineTo(x + size * 1.8, box.top + size);
    ctx.lineTo(x, box.top + size * 2);
  } else {
    ctx.moveTo(x, box.top);
    ctx.lineTo(x + size, box.top + size);
    ctx.lineTo(x, box.top + size * 2);
    ctx.lineTo(x - size, box.top + size);
  }
  ctx.closePath();
  ctx.fill();
}

// `xOf` returns a marker's position on the x axis. Returns the markers that were drawn, which the
// readout lists.
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
