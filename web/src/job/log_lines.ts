// The lines that a log view has loaded. These lines are a contiguous part of the output, which can
// be extended at both ends. Pure functions.
import type { LogLevel, LogLine, ReadLogPageResponse } from '../api/types';

// Maximum number of lines kept. When one end is extended beyond this number, lines at the other end
// are dropped. Scrolling loads them again.
export const LINES_KEPT = 20_000;

// Index that stands for no open line.
export const NONE_OPEN = -1;

// The cursors at both ends of a loaded page, needed to drop and reload the page.
interface HeldPage {
  lines: number;
  olderCursor: string;
  newerCursor: string;
}

// A line with its stated level.
export type LeveledLine = LogLine & { level: LogLevel };

export const leveled = ({ lines, levels }: ReadLogPageResponse): LeveledLine[] =>
  lines.map((line, index) => ({ ...line, level: levels[index] ?? 'unspecified' }));

export interface LogBuffer {
  lines: readonly LeveledLine[];
  pages: readonly HeldPage[];
  newerCursor: string;
  // True if the output has no newer lines for now.
  atEnd: boolean;
  complete: boolean;
}

const held = (page: ReadLogPageResponse): HeldPage => ({
  lines: page.lines.length,
  olderCursor: page.older_cursor,
  newerCursor: page.newer_cursor,
});

// Empty if there are no older lines.
export const olderCursorOf = (buffer: LogBuffer): string => buffer.pages[0]?.olderCursor ?? '';

export function bufferOf(page: ReadLogPageResponse): LogBuffer {
  return {
    lines: leveled(page),
    pages: [held(page)],
    newerCursor: page.newer_cursor,
    atEnd: page.at_end,
    complete: page.complete,
  };
}

// `dropped`: the number of lines removed at the top, which the view needs to keep its scroll
// position.
export function withNewer(
  buffer: LogBuffer,
  page: ReadLogPageResponse,
): { buffer: LogBuffer; dropped: number } {
  const pages = page.lines.length > 0 ? [...buffer.pages, held(page)] : [...buffer.pages];
  let total = buffer.lines.length + page.lines.length;
  let dropped = 0;
  while (total > LINES_KEPT && pages.length > 1) {
    const gone = pages.shift()?.lines ?? 0;
    dropped += gone;
    total -= gone;
  }
  const newerCursor = page.newer_cursor || buffer.newerCursor;
  const lines = [...buffer.lines, ...leveled(page)].slice(dropped);
  const next = { lines, pages, newerCursor, atEnd: page.at_end, complete: page.complete };
  return { buffer: next, dropped };
}

export function withOlder(buffer: LogBuffer, page: ReadLogPageResponse): LogBuffer {
  const pages = [held(page), ...buffer.pages];
  const lines = [...leveled(page), ...buffer.lines];
  let total = lines.length;
  while (total > LINES_KEPT && pages.length > 1) total -= pages.pop()?.lines ?? 0;
  if (total === lines.length) return { ...buffer, lines, pages };
  const newerCursor = pages.at(-1)?.newerCursor ?? '';
  return { lines: lines.slice(0, total), pages, newerCursor, atEnd: false, complete: false };
}

// Identifies a line of a job's output in a URL.
export interface LineName {
  attempt: number;
  rank: number;
  offset: number;
}

export const lineName = ({ attempt, rank, offset }: LineName): string =>
  `${attempt}.${rank}.${offset}`;

// Returns undefined unless the text identifies a line.
export function parseLineName(text: string): LineName | undefined {
  const [, attempt, rank, offset] = /^(\d{1,9})\.(\d{1,9})\.(\d{1,15})$/.exec(text) ?? [];
  if (attempt === undefined) return undefined;
  return { attempt: Number(attempt), rank: Number(rank), offset: Number(offset) };
}

// Returns the index of the open line after a key, or undefined if the key has no effect. Enter
// opens the first visible line, arrow keys open the next or previous line, and Escape closes the
// line.
export function openAfterKey(
  key: string,
  open: number,
  firstInView: number,
  amount: number,
): number | undefined {
  if (amount === 0) return undefined;
  if (open < 0) return key === 'Enter' ? Math.min(firstInView, amount - 1) : undefined;
  if (key === 'ArrowDown') return Math.min(amount - 1, open + 1);
  if (key === 'ArrowUp') return Math.max(0, open - 1);
  return key === 'Escape' ? NONE_OPEN : undefined;
}

// Returns `text` without spaces if it is empty or a list of ranks, such as "0,8-15"; else
// undefined.
export function rankList(text: string): string | undefined {
  const packed = text.replace(/\s+/g, '');
  return /^(\d+(-\d+)?(,\d+(-\d+)?)*)?$/.test(packed) ? packed : undefined;
}

export const isOneRank = (ranks: string): boolean => /^\d+$/.test(ranks);

// Matches terminal escape sequences, such as color codes.
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;
export const withoutEscapes = (text: string) => text.replace(ESCAPES, '');

// Returns the last `amount` non-empty lines.
export function lastLines(text: string, amount: number): string {
  return withoutEscapes(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-amount)
    .join('\n');
}
