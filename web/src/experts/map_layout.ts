// The positions of the cells in the map of layers by experts. Pure functions.
import { MOST_CANVAS_PX } from '../chart/canvas_size';

export interface MapLayout {
  labelPx: number;
  cellWidth: number;
  cellHeight: number;
  width: number;
  height: number;
}

export interface Cell {
  // Index of the row, not number of the layer.
  row: number;
  expert: number;
}

const LABEL_PX = 34;
const LEAST_CELL_PX = 3;
const MOST_CELL_PX = 40;
const LEAST_ROW_PX = 7;
const MOST_ROW_PX = 22;
// Height of the map, unless its rows would be too low or too high.
const PREFERRED_PX = 420;

// Returns the size of a cell with which `count` cells fit into `mostPx`.
const fitted = (cellPx: number, count: number, mostPx: number): number =>
  Math.min(cellPx, mostPx / Math.max(count, 1));

// With many experts, the map is wider than `widthPx` and scrolls. With thousands of experts, cells
// are smaller than usual, because the size of a canvas is limited.
export function mapLayout(layers: number, experts: number, widthPx: number): MapLayout {
  const clamp = (value: number, low: number, high: number) =>
    Math.max(low, Math.min(high, Math.floor(value)));
  const cellWidth = fitted(
    clamp((widthPx - LABEL_PX) / Math.max(experts, 1), LEAST_CELL_PX, MOST_CELL_PX),
    experts,
    MOST_CANVAS_PX - LABEL_PX,
  );
  const cellHeight = fitted(
    clamp(PREFERRED_PX / Math.max(layers, 1), LEAST_ROW_PX, MOST_ROW_PX),
    layers,
    MOST_CANVAS_PX,
  );
  return {
    labelPx: LABEL_PX,
    cellWidth,
    cellHeight,
    width: LABEL_PX + cellWidth * experts,
    height: cellHeight * layers,
  };
}

// Returns undefined for a point on a label or outside of the map.
export function cellAt(layout: MapLayout, x: number, y: number): Cell | undefined {
  if (x < layout.labelPx || x >= layout.width || y < 0 || y >= layout.height) return undefined;
  return {
    row: Math.floor(y / layout.cellHeight),
    expert: Math.floor((x - layout.labelPx) / layout.cellWidth),
  };
}

// Returns the cell that a key selects; undefined for other keys.
export function cellAfterKey(
  { row, expert }: Cell,
  key: string,
  layers: number,
  experts: number,
): Cell | undefined {
  const at = (nextRow: number, nextExpert: number): Cell => ({
    row: Math.max(0, Math.min(layers - 1, nextRow)),
    expert: Math.max(0, Math.min(experts - 1, nextExpert)),
  });
  switch (key) {
    case 'ArrowLeft':
      return at(row, expert - 1);
    case 'ArrowRight':
      return at(row, expert + 1);
    case 'ArrowUp':
      return at(row - 1, expert);
    case 'ArrowDown':
      return at(row + 1, expert);
    case 'Home':
      return at(row, 0);
    case 'End':
      return at(row, experts - 1);
    default:
      return undefined;
  }
}

// Returns n: if rows are low, only every n-th row has a label.
export const labelEvery = ({ cellHeight }: MapLayout): number => Math.ceil(12 / cellHeight);
