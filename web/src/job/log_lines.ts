// The lines that a log view holds: a stretch of the output that grows at both ends. Pure.
import type { LogLine, ReadLogPageResponse } from '../api/types';

// Most lines held. Beyond them the far end is dropped; scrolling loads it again.
export const LINES_KEPT = 20_000;

// The index of a line when none is open.
export const NONE_OPEN = -1;

// Cursors at both ends of a held page, so that whole pages can be dropped and loaded again.
interface HeldPage {
  lines: number;
  olderCursor: string;
  newerCursor: string;
}

export interface LogStretch {
  lines: readonly LogLine[];
  pages: readonly HeldPage[];
  newerCursor: string;
  // True when the output has no newer lines at this moment.
  atEnd: boolean;
  complete: boolean;
}

const held = (page: ReadLogPageResponse): HeldPage => ({
  lines: page.lines.length,
  olderCursor: page.older_cursor,
  newerCursor: page.newer_cursor,
});

// Empty: there is nothing older.
export const olderCursorOf = (stretch: LogStretch): string => stretch.pages[0]?.olderCursor ?? '';

export function firstStretch(page: ReadLogPageResponse): LogStretch {
  return {
    lines: page.lines,
    pages: [held(page)],
    newerCursor: page.newer_cursor,
    atEnd: page.at_end,
    complete: page.complete,
  };
}

// `dropped` lines left at the top, so that a view can keep its place.
export function withNewer(
  stretch: LogStretch,
  page: ReadLogPageResponse,
): { stretch: LogStretch; dropped: number } {
  const pages = page.lines.length > 0 ? [...stretch.pages, held(page)] : [...stretch.pages];
  let total = stretch.lines.length + page.lines.length;
  let dropped = 0;
  while (total > LINES_KEPT && pages.length > 1) {
    const gone = pages.shift()?.lines ?? 0;
    dropped += gone;
    total -= gone;
  }
  const newerCursor = page.newer_cursor || stretch.newerCursor;
  const lines = [...stretch.lines, ...page.lines].slice(dropped);
  const next = { lines, pages, newerCursor, atEnd: page.at_end, complete: page.complete };
  return { stretch: next, dropped };
}

export function withOlder(stretch: LogStretch, page: ReadLogPageResponse): LogStretch {
  const pages = [held(page), ...stretch.pages];
  const lines = [...page.lines, ...stretch.lines];
  let total = lines.length;
  while (total > LINES_KEPT && pages.length > 1) total -= pages.pop()?.lines ?? 0;
  if (total === lines.length) return { ...stretch, lines, pages };
  const newerCursor = pages.at(-1)?.newerCursor ?? '';
  return { lines: lines.slice(0, total), pages, newerCursor, atEnd: false, complete: false };
}

// One line of a job's output, as an address names it.
export interface LineName {
  attempt: number;
  rank: number;
  offset: number;
}

export const lineName = ({ attempt, rank, offset }: LineName): string =>
  `${attempt}.${rank}.${offset}`;

// undefined: it names no line.
export function parseLineName(text: string): LineName | undefined {
  const [, attempt, rank, offset] = /^(\d{1,9})\.(\d{1,9})\.(\d{1,15})$/.exec(text) ?? [];
  if (attempt === undefined) return undefined;
  return { attempt: Number(attempt), rank: Number(rank), offset: Number(offset) };
}

// The line that is open after a key, as an index; undefined when the key means nothing here. Enter
// opens the first line in view; from there arrows go on, and Escape closes.
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

// Ranks as people write them: "0,8-15"; undefined when it is no such list.
export function rankList(text: string): string | undefined {
  const packed = text.replace(/\s+/g, '');
  return /^(\d+(-\d+)?(,\d+(-\d+)?)*)?$/.test(packed) ? packed : undefined;
}

// The parts of `text` that match `wanted`, for marking: [text, isMatch] in order.
export function markMatches(text: string, wanted: string): [string, boolean][] {
  if (wanted === '') return [[text, false]];
  const parts: [string, boolean][] = [];
  let from = 0;
  for (let at = text.indexOf(wanted); at !== -1; at = text.indexOf(wanted, from)) {
    if (at > from) parts.push([text.slice(from, at), false]);
    parts.push([wanted, true]);
    from = at + wanted.length;
  }
  if (from < text.length || parts.length === 0) parts.push([text.slice(from), false]);
  return parts;
}

// Colour codes of terminals say nothing here.
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;
export const withoutEscapes = (text: string) => text.replace(ESCAPES, '');

// The end of some output: its last lines that say something.
export function lastLines(text: string, amount: number): string {
  return withoutEscapes(text)
    .split('\n')
    .filter((line) => line.trim() !== '')
    .slice(-amount)
    .join('\n');
}
