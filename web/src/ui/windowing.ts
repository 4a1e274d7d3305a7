// Which rows of a long list stand in the document. Pure.

export interface RowWindow {
  // Rows [first, last).
  first: number;
  last: number;
  // Pixels that the rows left out would take.
  above: number;
  below: number;
}

// Rows drawn beyond each edge, so that scrolling shows no hole before the next frame.
export const OVERSCAN = 12;

export function rowWindow(
  count: number,
  rowHeight: number,
  scrollTop: number,
  viewHeight: number,
): RowWindow {
  const first = Math.max(0, Math.min(count, Math.floor(scrollTop / rowHeight)) - OVERSCAN);
  const shown = Math.ceil(viewHeight / rowHeight) + 2 * OVERSCAN;
  const last = Math.min(count, first + shown);
  return { first, last, above: first * rowHeight, below: (count - last) * rowHeight };
}

// Whether a view stands at its end, within two rows: then it follows what comes.
export function isAtEnd(
  scrollTop: number,
  viewHeight: number,
  fullHeight: number,
  rowHeight: number,
): boolean {
  return fullHeight - viewHeight - scrollTop <= 2 * rowHeight;
}
