// Computes which rows of a long list are in the document. Pure functions.

export interface RowWindow {
  // Rows [first, last).
  first: number;
  last: number;
  // Height in pixels of the omitted rows above.
  above: number;
  below: number;
}

// Number of extra rows drawn beyond each edge, so that scrolling shows no gap before the next
// frame.
export const OVERSCAN = 12;

export function rowWindow(
  count: number,
  rowHeight: number,
  scrollTop: number,
  viewHeight: number,
): RowWindow {
  const top = Math.min(count, Math.floor(scrollTop / rowHeight));
  const first = Math.max(0, top - OVERSCAN);
  const last = Math.min(count, top + Math.ceil(viewHeight / rowHeight) + OVERSCAN);
  return { first, last, above: first * rowHeight, below: (count - last) * rowHeight };
}

// True if the view is within two rows of its end. Such a view follows new rows.
export function isAtEnd(
  scrollTop: number,
  viewHeight: number,
  fullHeight: number,
  rowHeight: number,
): boolean {
  return fullHeight - viewHeight - scrollTop <= 2 * rowHeight;
}
