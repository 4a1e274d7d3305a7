import { expect, it } from 'vitest';
import type { LogLine, ReadLogPageResponse } from '../api/types';
import { LogTooLarge, readWholeLog } from './whole_log';

const page = (texts: string[], atEnd: boolean): ReadLogPageResponse => ({
  lines: texts.map((text, rank) => ({ attempt: 1, rank, text }) as LogLine),
  levels: [],
  older_cursor: '',
  newer_cursor: `after ${texts.at(-1)}`,
  at_end: atEnd,
  complete: atEnd,
  extents: [],
});

const onProgress = () => {};

it('reads page after page up to the end', async () => {
  const pages = [page(['a', 'b'], false), page(['c'], true)];
  const asked: unknown[] = [];
  const sizes: number[] = [];
  const read = (query: object) => {
    asked.push('cursor' in query && query.cursor);
    return Promise.resolve(pages.shift()!);
  };
  const parts = await readWholeLog(read, { named: true, onProgress: (size) => sizes.push(size) });
  expect(parts.join('')).toBe('[1.0] a\n[1.1] b\n[1.0] c\n');
  expect(asked).toEqual([undefined, 'after b']);
  expect(sizes).toEqual([16, 24]);
});

it('leaves out the rank of a single rank', async () => {
  const read = () => Promise.resolve(page(['a'], true));
  expect(await readWholeLog(read, { named: false, onProgress })).toEqual(['a\n']);
});

it('refuses a log that does not fit in memory', async () => {
  const read = () => Promise.resolve(page(['a line'], false));
  const whole = readWholeLog(read, { named: false, onProgress, limit: 50 });
  await expect(whole).rejects.toThrow(LogTooLarge);
});
