import { describe, expect, it } from 'vitest';
import type { LogLine, ReadLogPageResponse } from '../api/types';
import {
  LINES_KEPT,
  NONE_OPEN,
  bufferOf,
  isOneRank,
  lineName,
  olderCursorOf,
  openAfterKey,
  parseLineName,
  rankList,
  withNewer,
  withOlder,
  withoutEscapes,
} from './log_lines';

describe('log lines', () => {
  const page = (first: number, count: number, change: Partial<ReadLogPageResponse> = {}) =>
    ({
      lines: Array.from({ length: count }, (_, index) => ({ offset: first + index }) as LogLine),
      older_cursor: `before ${first}`,
      newer_cursor: `after ${first + count}`,
      at_end: true,
      complete: false,
      extents: [],
      levels: [],
      ...change,
    }) as ReadLogPageResponse;

  it('grows at both ends', () => {
    const start = bufferOf(page(100, 10));
    const older = withOlder(start, page(90, 10));
    const { buffer } = withNewer(older, page(110, 5));
    expect(buffer.lines.map(({ offset }) => offset)).toEqual(
      Array.from({ length: 25 }, (_, index) => 90 + index),
    );
    expect(olderCursorOf(buffer)).toBe('before 90');
    expect(buffer.newerCursor).toBe('after 115');
  });

  it('drops whole pages at the top, and can load them again', () => {
    let buffer = bufferOf(page(0, LINES_KEPT));
    const first = withNewer(buffer, page(LINES_KEPT, 1_000));
    buffer = first.buffer;
    expect(first.dropped).toBe(LINES_KEPT);
    expect(buffer.lines[0]?.offset).toBe(LINES_KEPT);
    expect(olderCursorOf(buffer)).toBe(`before ${LINES_KEPT}`);
  });

  it('drops whole pages at the end as well, and is then not at the end', () => {
    let buffer = bufferOf(page(LINES_KEPT, 1_000, { at_end: true, complete: true }));
    for (let from = LINES_KEPT - 1_000; from >= 0; from -= 1_000) {
      buffer = withOlder(buffer, page(from, 1_000));
    }
    expect(buffer.lines.length).toBe(LINES_KEPT);
    expect(buffer.lines.at(-1)?.offset).toBe(LINES_KEPT - 1);
    expect([buffer.atEnd, buffer.complete]).toEqual([false, false]);
    // The next newer page is the dropped page.
    expect(buffer.newerCursor).toBe(`after ${LINES_KEPT}`);
  });

  it('gives each line its level', () => {
    const levels = ['error', 'unspecified'] as const;
    const start = bufferOf(page(0, 2, { levels: [...levels] }));
    const { buffer } = withNewer(start, page(2, 1, { levels: ['warning'] }));
    expect(buffer.lines.map(({ level }) => level)).toEqual([...levels, 'warning']);
  });

  it('names a line in an address', () => {
    const line = { attempt: 2, rank: 17, offset: 4_096 };
    expect(parseLineName(lineName(line))).toEqual(line);
    for (const text of ['', '1.2', '1.2.x', '1.2.3.4', '-1.2.3']) {
      expect(parseLineName(text), text).toBeUndefined();
    }
  });

  it('opens lines by keys', () => {
    expect(openAfterKey('Enter', NONE_OPEN, 40, 100)).toBe(40);
    expect(openAfterKey('ArrowDown', NONE_OPEN, 40, 100)).toBeUndefined();
    expect(openAfterKey('ArrowDown', 40, 40, 100)).toBe(41);
    expect(openAfterKey('ArrowDown', 99, 40, 100)).toBe(99);
    expect(openAfterKey('ArrowUp', 0, 0, 100)).toBe(0);
    expect(openAfterKey('Escape', 40, 40, 100)).toBe(NONE_OPEN);
    expect(openAfterKey('Enter', NONE_OPEN, 0, 0)).toBeUndefined();
  });

  it('keeps its cursor when a page has no lines', () => {
    const start = bufferOf(page(0, 3));
    expect(withNewer(start, page(3, 0, { newer_cursor: '' })).buffer.newerCursor).toBe('after 3');
  });

  it('reads lists of ranks', () => {
    expect(rankList(' 0, 8-15 ')).toBe('0,8-15');
    expect(rankList('')).toBe('');
    expect(rankList('0,')).toBeUndefined();
    expect(rankList('a')).toBeUndefined();
    expect(['0', '12', '0,1', '0-3', ''].map(isOneRank)).toEqual([true, true, false, false, false]);
  });

  it('removes color codes', () => {
    expect(withoutEscapes('\u001b[31mred\u001b[0m')).toBe('red');
  });
});
