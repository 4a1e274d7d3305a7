// Draws the cell of a rank on a canvas.
import type { RankStatus } from '../api/types';
import { themeColor } from '../chart/colors';
import { CELL_PX } from './rank_layout';
import { cellLook, type RankView } from './rank_look';

// "heat-3" -> "heat-text-3".
const textColor = (fill: string | undefined) =>
  themeColor(fill ? fill.replace('-', '-text-') : 'text-faint');

function strokeCell(ctx: CanvasRenderingContext2D, color: string, width: number): void {
  ctx.strokeStyle = themeColor(color);
  ctx.lineWidth = width;
  ctx.strokeRect(width / 2, width / 2, CELL_PX - width, CELL_PX - width);
  ctx.lineWidth = 1;
}

export function paintRank(ctx: CanvasRenderingContext2D, rank: RankStatus, view: RankView): void {
  const { fill, mark, bad } = cellLook(rank, view);
  if (fill === undefined) {
    ctx.setLineDash([2, 2]);
    strokeCell(ctx, 'border-strong', 1);
    ctx.setLineDash([]);
  } else {
    ctx.fillStyle = themeColor(fill);
    ctx.fillRect(0, 0, CELL_PX, CELL_PX);
  }
  if (bad) strokeCell(ctx, 'tone-bad', 2);
  ctx.fillStyle = textColor(fill);
  ctx.fillText(String(rank.rank), CELL_PX / 2, CELL_PX / 2 + 1);
  if (mark) ctx.fillText(mark, CELL_PX - 4, 4);
}
