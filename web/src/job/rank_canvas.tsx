// A map of many ranks on one canvas. A thousand elements would take longer to draw than the rest of
// the page.
import { useMemo } from 'preact/hooks';
import { clearedSurface, useCanvas } from '../chart/canvas';
import { themeColor } from '../chart/colors';
import { count } from '../format/numbers';
import { useWidth } from '../ui/width';
import {
  CELL_PX,
  cellAt,
  cellOrigin,
  groupOrigin,
  layoutRanks,
  neighbourCell,
  type RankLayout,
} from './rank_layout';

interface Numbered {
  rank: number;
}

export interface NamedGroup<T extends Numbered> {
  name: string;
  ranks: readonly T[];
}

export interface RankCanvasProps<T extends Numbered> {
  groups: readonly NamedGroup<T>[];
  // Draws a cell of CELL_PX pixels with its corner at the origin. The map is redrawn when another
  // function is passed.
  paint: (ctx: CanvasRenderingContext2D, rank: T) => void;
  chosen: number | undefined;
  // Returns the tooltip of a rank.
  describe: (rank: T) => string;
  onChoose: (rank: number) => void;
}

const SELECTION_PX = 2;
const KEYS = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End'];

function drawMap<T extends Numbered>(
  canvas: HTMLCanvasElement,
  layout: RankLayout,
  width: number,
  { groups, paint, chosen }: RankCanvasProps<T>,
): void {
  const surface = clearedSurface(canvas, width, layout.height);
  if (!surface) return;
  const { ctx, ratio } = surface;
  const family = getComputedStyle(canvas).fontFamily;
  let cell = 0;
  ctx.textBaseline = 'middle';
  groups.forEach((group, index) => {
    const { x, y } = groupOrigin(layout, index);
    ctx.setTransform(ratio, 0, 0, ratio, x * ratio, y * ratio);
    ctx.font = `500 12px ${family}`;
    ctx.textAlign = 'left';
    ctx.fillStyle = themeColor('text');
    ctx.fillText(group.name, 0, CELL_PX / 2 + 1, 58);
    ctx.font = `9px ${family}`;
    ctx.textAlign = 'center';
    for (const rank of group.ranks) {
      const at = cellOrigin(layout, cell++);
      ctx.setTransform(ratio, 0, 0, ratio, at.x * ratio, at.y * ratio);
      paint(ctx, rank);
      if (rank.rank !== chosen) continue;
      ctx.strokeStyle = themeColor('accent');
      ctx.lineWidth = SELECTION_PX;
      ctx.strokeRect(1, 1, CELL_PX - 2, CELL_PX - 2);
      ctx.lineWidth = 1;
    }
  });
  canvas.dataset['drawn'] = String(cell);
}

export function RankCanvas<T extends Numbered>(props: RankCanvasProps<T>) {
  const { groups, chosen, describe, onChoose } = props;
  const { host, width } = useWidth<HTMLDivElement>(0);
  const ranks = useMemo(() => groups.flatMap((group) => group.ranks), [groups]);
  const layout = useMemo(
    () =>
      layoutRanks(
        groups.map((group) => group.ranks.length),
        width,
      ),
    [groups, width],
  );
  const canvas = useCanvas(
    (element) => width > 0 && drawMap(element, layout, width, props),
    [groups, layout, chosen, props.paint],
  );
  const under = ({ offsetX: x, offsetY: y }: MouseEvent) => ranks[cellAt(layout, { x, y }) ?? -1];
  const onKeyDown = (event: KeyboardEvent) => {
    if (!KEYS.includes(event.key)) return;
    event.preventDefault();
    const at = Math.max(
      0,
      ranks.findIndex(({ rank }) => rank === chosen),
    );
    const next = ranks[neighbourCell(layout, at, event.key)];
    if (next) onChoose(next.rank);
  };
  return (
    <div ref={host} class="rank-canvas-host">
      <canvas
        ref={canvas}
        class="rank-canvas"
        style={{ width: `${width}px`, height: `${layout.height}px` }}
        tabIndex={0}
        role="group"
        aria-label={`Map of ${count(ranks.length)} ranks. Arrow keys select a rank.`}
        onKeyDown={onKeyDown}
        onClick={(event) => {
          const rank = under(event);
          if (rank) onChoose(rank.rank);
        }}
        onMouseMove={(event) => {
          const rank = under(event);
          event.currentTarget.title = rank ? describe(rank) : '';
        }}
      />
    </div>
  );
}
