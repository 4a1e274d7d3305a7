// The position in pixels of each rank in a large map. Each group is a tile with its cells in rows.
// Pure functions.

export const CELL_PX = 24;
const PITCH_PX = 26;
const LABEL_PX = 66;
const TILE_GAP_PX = 14;
const ROW_GAP_PX = 2;
// Groups of at most this size are one row. Larger groups fill the width.
const ONE_ROW_MAX = 16;
// The row length of large groups is a multiple of this number. Gangs usually consist of units of
// this size, so ranks in the same column correspond.
const ROW_UNIT = 8;

export interface RankLayout {
  columns: number;
  perRow: number;
  tileWidth: number;
  tileHeight: number;
  height: number;
  // Index of the first cell of each group, then the total number of cells.
  starts: readonly number[];
}

export interface Point {
  x: number;
  y: number;
}

// `sizes`: the number of ranks in each group.
export function layoutRanks(sizes: readonly number[], widthPx: number): RankLayout {
  const most = Math.max(1, ...sizes);
  const fits = Math.max(1, Math.floor((widthPx - LABEL_PX) / PITCH_PX));
  const whole = fits > ROW_UNIT ? fits - (fits % ROW_UNIT) : fits;
  const perRow = most <= ONE_ROW_MAX ? Math.min(fits, most) : whole;
  const tileWidth = LABEL_PX + perRow * PITCH_PX + TILE_GAP_PX;
  const columns = Math.max(1, Math.floor((widthPx + TILE_GAP_PX) / tileWidth));
  const tileHeight = Math.ceil(most / perRow) * PITCH_PX + ROW_GAP_PX;
  const starts = [0];
  for (const size of sizes) starts.push((starts.at(-1) as number) + size);
  const height = Math.ceil(sizes.length / columns) * tileHeight;
  return { columns, perRow, tileWidth, tileHeight, height, starts };
}

export function groupOrigin(layout: RankLayout, group: number): Point {
  const x = (group % layout.columns) * layout.tileWidth;
  return { x, y: Math.floor(group / layout.columns) * layout.tileHeight };
}

// Returns the index of the group that contains the cell.
export function groupOf(layout: RankLayout, cell: number): number {
  let low = 0;
  let high = layout.starts.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((layout.starts[middle] as number) <= cell) low = middle;
    else high = middle;
  }
  return low;
}

export function cellOrigin(layout: RankLayout, cell: number): Point {
  const group = groupOf(layout, cell);
  const tile = groupOrigin(layout, group);
  const inside = cell - (layout.starts[group] as number);
  return {
    x: tile.x + LABEL_PX + (inside % layout.perRow) * PITCH_PX,
    y: tile.y + Math.floor(inside / layout.perRow) * PITCH_PX,
  };
}

// Returns the cell under a point; undefined if the point is between cells.
export function cellAt(layout: RankLayout, at: Point): number | undefined {
  const column = Math.floor(at.x / layout.tileWidth);
  if (at.x < 0 || at.y < 0 || column >= layout.columns) return undefined;
  const group = Math.floor(at.y / layout.tileHeight) * layout.columns + column;
  const start = layout.starts[group];
  const end = layout.starts[group + 1];
  if (start === undefined || end === undefined) return undefined;
  const x = at.x - column * layout.tileWidth - LABEL_PX;
  const y = at.y % layout.tileHeight;
  if (x < 0 || x >= layout.perRow * PITCH_PX || x % PITCH_PX >= CELL_PX || y % PITCH_PX >= CELL_PX)
    return undefined;
  const inside = Math.floor(y / PITCH_PX) * layout.perRow + Math.floor(x / PITCH_PX);
  return start + inside < end ? start + inside : undefined;
}

// Returns the next cell in the direction of an arrow key, or `cell` itself at an edge.
export function neighbourCell(layout: RankLayout, cell: number, key: string): number {
  const count = layout.starts.at(-1) as number;
  const clamp = (to: number) => Math.min(count - 1, Math.max(0, to));
  if (key === 'ArrowLeft') return clamp(cell - 1);
  if (key === 'ArrowRight') return clamp(cell + 1);
  if (key === 'Home') return 0;
  if (key === 'End') return count - 1;
  const { x, y } = cellOrigin(layout, cell);
  const step = key === 'ArrowUp' ? -1 : 1;
  // Searched step by step, because the distance to the rows of the next tile varies.
  for (let pixels = CELL_PX; pixels <= layout.tileHeight + PITCH_PX; pixels += 2) {
    const found = cellAt(layout, { x: x + 1, y: y + 1 + step * pixels });
    if (found !== undefined && found !== cell) return found;
  }
  return cell;
}
