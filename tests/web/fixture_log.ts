// Fictitious output of four ranks, searched as the controller does.
import type { Job, LogLevel, LogLine, ReadLogPageResponse } from '../../web/src/api/types';
import { NOW } from './fixtures';

const LOG_LINES = 30_000;
// Error lines of rank 0. The last line is the error of the job "tokenizer-check".
export const ERRORS = new Map([
  [4_000, 'ERROR cannot reach the metrics server'],
  [20_000, "KeyError: 'weight'"],
  [29_000, 'error: token id 128263 is outside the vocabulary of 128256'],
]);

function textOf(index: number): string {
  const error = ERRORS.get(index);
  if (error) return error;
  if (index % 97 === 0) return `WARN checkpoint writer is ${index % 13} s behind`;
  const loss = (2 + 900 / (900 + index)).toFixed(4);
  return `step ${Math.floor(index / 4)} loss ${loss} grad_norm 0.4`;
}

const logLine = (found: Job, index: number): LogLine => ({
  attempt: index < LOG_LINES / 2 ? 1 : Math.max(1, found.attempts.length),
  rank: index % 4,
  time_ms: NOW - (LOG_LINES - index) * 100,
  text: textOf(index),
  offset: index * 64,
});

function levelOf({ text }: LogLine): LogLevel {
  if (/^(ERROR|error:|\w+Error:)/.test(text)) return 'error';
  return text.startsWith('WARN') ? 'warning' : 'unspecified';
}

// Returns a function that decides which lines a request selects.
function selectionOf(query: URLSearchParams): (line: LogLine) => boolean {
  const grep = query.get('grep') ?? '';
  const literal = grep.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const flags = query.has('ignore_case') ? 'i' : '';
  const pattern = new RegExp(query.has('regex') ? grep : literal, flags);
  const ranks = (query.get('ranks') ?? '').split(',').filter((rank) => rank !== '');
  const levels = { error: ['error'], warning: ['warning', 'error'] }[query.get('level') ?? ''];
  return (line) =>
    pattern.test(line.text) &&
    (ranks.length === 0 || ranks.includes(String(line.rank))) &&
    (!query.has('attempt') || Number(query.get('attempt')) === line.attempt) &&
    (!levels || levels.includes(levelOf(line)));
}

// Returns the index of the line before the page (if `newer`) or after the page. A cursor is the
// index of a line among all lines, selected or not.
function placeOf(query: URLSearchParams, newer: boolean): number {
  const offset = query.get('offset');
  if (offset !== null) return Number(offset) / 64 - (newer ? 1 : 0);
  return Number(query.get('cursor') ?? (newer ? -1 : LOG_LINES));
}

export function logPage(found: Job, query: URLSearchParams): ReadLogPageResponse {
  const newer = query.get('direction') === 'newer';
  const place = placeOf(query, newer);
  const selected = Array.from({ length: LOG_LINES }, (_, index) => logLine(found, index)).filter(
    selectionOf(query),
  );
  const limit = Number(query.get('limit') ?? 500);
  const isOnSide = ({ offset }: LogLine) => (newer ? offset > place * 64 : offset < place * 64);
  const side = selected.filter(isOnSide);
  const lines = newer ? side.slice(0, limit) : side.slice(-limit);
  const [first, last] = [lines[0], lines.at(-1)];
  return {
    lines,
    levels: lines.map(levelOf),
    older_cursor: first && first !== selected[0] ? String(first.offset / 64) : '',
    newer_cursor: String(last ? last.offset / 64 : place),
    at_end: !last || last === selected.at(-1),
    complete: false,
    extents: [],
  };
}
