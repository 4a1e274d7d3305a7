// The next or previous error line of a log. Pure functions.
import { lineName, olderCursorOf, type LineName, type LogBuffer } from './log_lines';

export type Direction = 'older' | 'newer';

export const isLine = (a: LineName) => (b: LineName) => lineName(a) === lineName(b);

// Returns the nearest loaded error line before or after the open line; undefined if there is none.
export function loadedError(
  { lines }: Pick<LogBuffer, 'lines'>,
  open: LineName,
  direction: Direction,
): LineName | undefined {
  const at = lines.findIndex(isLine(open));
  if (at < 0) return undefined;
  const isError = ({ level }: { level: string }) => level === 'error';
  return direction === 'newer'
    ? lines.slice(at + 1).find(isError)
    : lines.slice(0, at).findLast(isError);
}

// Returns where the controller continues the search: at the end of the loaded lines or, if no line
// is open, at the end of the log. undefined: there are no more lines.
export function searchFrom(
  buffer: LogBuffer,
  open: LineName | undefined,
  direction: Direction,
): { cursor: string | undefined } | undefined {
  if (!open) return { cursor: undefined };
  const cursor = direction === 'newer' ? buffer.newerCursor : olderCursorOf(buffer);
  return cursor === '' ? undefined : { cursor };
}
