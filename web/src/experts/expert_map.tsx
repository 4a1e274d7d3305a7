// The map of layers by experts, on one canvas: large models have more than ten thousand cells.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { onThemeChange, themeColor } from '../chart/colors';
import type { ExpertBalance } from '../api/types';
import { cellWords, heatOfLoad, loadsOf } from './balance';
import { cellAfterKey, cellAt, labelEvery, mapLayout, type Cell, type MapLayout } from './map_layout';

const SELECTION_PX = 2;
// Cells of at least this size have a gap between them.
const GAP_FROM_PX = 5;

interface MapProps {
  balance: ExpertBalance;
  chosen: Cell;
  onChoose: (cell: Cell) => void;
}

// An expert without rows is a cross, so that it differs from all colors.
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

function drawMap(canvas: HTMLCanvasElement, layout: MapLayout, { balance, chosen }: MapProps): void {
  const ratio = devicePixelRatio;
  canvas.width = Math.round(layout.width * ratio);
  canvas.height = Math.round(layout.height * ratio);
  const ctx = canvas.getContext('2d');
  if (!ctx) return;
  ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
  ctx.font = `11px ${getComputedStyle(canvas).fontFamily}`;
  ctx.textAlign = 'right';
  ctx.textBaseline = 'middle';
  drawCells(ctx, layout, balance);
  ctx.strokeStyle = themeColor('accent');
  ctx.lineWidth = SELECTION_PX;
  ctx.strokeRect(
    layout.labelPx + chosen.expert * layout.cellWidth - 1,
    chosen.row * layout.cellHeight + 1,
    layout.cellWidth + 1,
    layout.cellHeight - 2,
  );
}

export function ExpertMap(props: MapProps) {
  const { balance, chosen, onChoose } = props;
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const [theme, setTheme] = useState(0);
  const layers = balance.layers.length;
  const layout = useMemo(
    () => mapLayout(layers, balance.experts, width),
    [layers, balance.experts, width],
  );
  useLayoutEffect(() => {
    const host = canvas.current?.parentElement;
    if (!host) return undefined;
    setWidth(host.clientWidth);
    const observer = new ResizeObserver(() => setWidth(host.clientWidth));
    observer.observe(host);
    return () => observer.disconnect();
  }, []);
  useEffect(() => onThemeChange(() => setTheme((n) => n + 1)), []);
  useLayoutEffect(() => {
    if (canvas.current && width > 0) drawMap(canvas.current, layout, props);
  }, [balance, layout, chosen.row, chosen.expert, theme]);
  const onKeyDown = (event: KeyboardEvent) => {
    const next = cellAfterKey(chosen, event.key, layers, balance.experts);
    if (!next) return;
    event.preventDefault();
    onChoose(next);
  };
  const under = ({ offsetX, offsetY }: MouseEvent) => cellAt(layout, offsetX, offsetY);
  return (
    <div class="expert-map">
      <canvas
        ref={canvas}
        style={{ width: `${layout.width}px`, height: `${layout.height}px` }}
        tabIndex={0}
        role="application"
        aria-label={`Load of ${balance.experts} experts in each of ${layers} layers. Arrow keys select an expert.`}
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
    </div>
  );
}
