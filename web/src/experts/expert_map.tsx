// The map of layers by experts, on one canvas: large models have more than ten thousand cells.
import { useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { ExpertBalance } from '../api/types';
import { clearedSurface, useCanvas } from '../chart/canvas';
import { themeColor } from '../chart/colors';
import { useWidth } from '../ui/width';
import { cellWords, heatOfLoad, loadsOf } from './balance';
import {
  cellAfterKey,
  cellAt,
  labelEvery,
  mapLayout,
  type Cell,
  type MapLayout,
} from './map_layout';

// Cells of at least this size have a gap between them.
const GAP_FROM_PX = 5;

interface MapProps {
  balance: ExpertBalance;
  chosen: Cell;
  onChoose: (cell: Cell) => void;
}

// Draws an expert without rows as a cross, which differs from all colors.
function drawCross(ctx: CanvasRenderingContext2D, width: number, height: number): void {
  ctx.strokeStyle = themeColor('text');
  ctx.lineWidth = 1;
  ctx.beginPath();
  ctx.moveTo(0.5, 0.5);
  ctx.lineTo(width - 0.5, height - 0.5);
  ctx.moveTo(width - 0.5, 0.5);
  ctx.lineTo(0.5, height - 0.5);
  ctx.stroke();
}

function drawCells(ctx: CanvasRenderingContext2D, layout: MapLayout, balance: ExpertBalance): void {
  const { cellWidth, cellHeight, labelPx } = layout;
  const width = cellWidth - (cellWidth >= GAP_FROM_PX ? 1 : 0);
  const height = cellHeight - (cellHeight >= GAP_FROM_PX ? 1 : 0);
  const every = labelEvery(layout);
  balance.layers.forEach((layer, row) => {
    const y = row * cellHeight;
    if (row % every === 0) {
      ctx.fillStyle = themeColor('text-faint');
      ctx.fillText(String(layer.layer), labelPx - 6, y + cellHeight / 2);
    }
    loadsOf(layer).forEach((load, expert) => {
      const heat = heatOfLoad(load);
      ctx.save();
      ctx.translate(labelPx + expert * cellWidth, y);
      if (heat === undefined) {
        drawCross(ctx, width, height);
      } else {
        ctx.fillStyle = themeColor(`heat-${heat}`);
        ctx.fillRect(0, 0, width, height);
      }
      ctx.restore();
    });
  });
}

function drawMap(canvas: HTMLCanvasElement, layout: MapLayout, balance: ExpertBalance): void {
  const surface = clearedSurface(canvas, layout.width, layout.height);
  if (!surface) return;
  const { ctx } = surface;
  ctx.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  drawCells(ctx, layout, balance);
}

// The outline of the chosen cell. The outline is an element, so that the browser can scroll to it
// and a selection does not redraw the cells.
function useOutline(layout: MapLayout, { row, expert }: Cell) {
  const outline = useRef<HTMLElement>(null);
  const byKey = useRef(false);
  useLayoutEffect(() => {
    if (byKey.current) outline.current?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    byKey.current = false;
  }, [row, expert]);
  const style = {
    left: `${layout.labelPx + expert * layout.cellWidth}px`,
    top: `${row * layout.cellHeight}px`,
    width: `${layout.cellWidth}px`,
    height: `${layout.cellHeight}px`,
  };
  return { element: <i ref={outline} class="chosen-cell" style={style} />, byKey };
}

export function ExpertMap({ balance, chosen, onChoose }: MapProps) {
  const { host, width } = useWidth<HTMLDivElement>(0);
  const layers = balance.layers.length;
  const layout = useMemo(
    () => mapLayout(layers, balance.experts, width),
    [layers, balance.experts, width],
  );
  const canvas = useCanvas(
    (element) => width > 0 && drawMap(element, layout, balance),
    [balance, layout],
  );
  const { element: outline, byKey } = useOutline(layout, chosen);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = cellAfterKey(chosen, event.key, layers, balance.experts);
    if (!next) return;
    event.preventDefault();
    byKey.current = true;
    onChoose(next);
  };
  const under = ({ offsetX, offsetY }: MouseEvent) => cellAt(layout, offsetX, offsetY);
  return (
    <div ref={host} class="expert-map">
      <div class="map-cells" style={{ width: `${layout.width}px`, height: `${layout.height}px` }}>
        <canvas
          ref={canvas}
          tabIndex={0}
          role="application"
          aria-label={
            `Load of ${balance.experts} experts in each of ${layers} layers. ` +
            'Arrow keys select an expert.'
          }
          aria-describedby="chosen-expert"
          onKeyDown={onKeyDown}
          onClick={(event) => {
            const cell = under(event);
            if (cell) onChoose(cell);
          }}
          onMouseMove={(event) => {
            const cell = under(event);
            const layer = cell && balance.layers[cell.row];
            event.currentTarget.title = layer ? cellWords(layer, cell.expert) : '';
          }}
        />
        {outline}
      </div>
    </div>
  );
}
