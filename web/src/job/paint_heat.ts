// Draws a rank's cell on a canvas. Its colour shows the value on a scale.
import type { RankStatus } from '../api/types';
import { themeColor } from '../chart/colors';
import { cellMark, heatOf, type HeatScale } from './rank_heat';
import { CELL_PX } from './rank_layout';

const figureColor = (heat: number | undefined) =>
  themeColor(heat === undefined ? 'text-faint' : `heat-text-${heat}`);

export function paintHeat(
  ctx: CanvasRenderingContext2D,
  rank: RankStatus,
  scale: HeatScale,
): void {
  const heat = heatOf(rank, scale);
  if (heat === undefined) {
    ctx.strokeStyle = themeColor('border-strong');
    ctx.setLineDash([2, 2]);
    ctx.strokeRect(0.5, 0.5, CELL_PX - 1, CELL_PX - 1);
    ctx.setLineDash([]);
  } else {
    ctx.fillStyle = themeColor(`heat-${heat}`);
    ctx.fillRect(0, 0, CELL_PX, CELL_PX);
  }
  if (rank.state === 'failed') {
    ctx.strokeStyle = themeColor('tone-bad');
    ctx.lineWidth = 2;
    ctx.strokeRect(1, 1, CELL_PX - 2, CELL_PX - 2);
    ctx.lineWidth = 1;
  }
  ctx.fillStyle = figureColor(heat);
  ctx.fillText(String(rank.rank), CELL_PX / 2, CELL_PX / 2 + 1);
  const mark = cellMark(rank, heat);
  if (mark) ctx.fillText(mark, CELL_PX - 4, 4);
}
