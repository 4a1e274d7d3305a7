import { expect, it } from 'vitest';
import { loadedError, searchFrom } from './error_jump';
import type { LeveledLine, LogBuffer } from './log_lines';

const line = (offset: number, level = 'unspecified') =>
  ({ attempt: 1, rank: 0, offset, level }) as LeveledLine;

const buffer: LogBuffer = {
  lines: [line(0, 'error'), line(1), line(2, 'warning'), line(3, 'error'), line(4)],
  pages: [{ lines: 5, olderCursor: 'before', newerCursor: 'after' }],
  newerCursor: 'after',
  atEnd: true,
  complete: true,
};

it('finds the nearest loaded error on either side of the open line', () => {
  expect(loadedError(buffer, line(1), 'newer')).toMatchObject({ offset: 3 });
  expect(loadedError(buffer, line(3), 'older')).toMatchObject({ offset: 0 });
  expect(loadedError(buffer, line(3), 'newer')).toBeUndefined();
  expect(loadedError(buffer, line(9), 'newer')).toBeUndefined();
});

it('continues at the controller beyond the loaded lines', () => {
  expect(searchFrom(buffer, line(4), 'newer')).toEqual({ cursor: 'after' });
  expect(searchFrom(buffer, line(0), 'older')).toEqual({ cursor: 'before' });
  const first = { ...buffer, pages: [{ ...buffer.pages[0]!, olderCursor: '' }] };
  expect(searchFrom(first, line(0), 'older')).toBeUndefined();
  expect(searchFrom(first, undefined, 'older')).toEqual({ cursor: undefined });
});
