import { describe, expect, it } from 'vitest';
import { levelOf, markerOf, searchQuery, searches, type LogSearch } from './log_search';

const search = (grep: string, change: Partial<LogSearch> = {}): LogSearch => ({
  grep,
  matchCase: false,
  regex: false,
  level: undefined,
  ...change,
});
const mark = (text: string, ...of: Parameters<typeof search>) => markerOf(search(...of))(text);

describe('the search of a log', () => {
  it('ignores case unless asked otherwise', () => {
    expect(searchQuery(search('error'))).toEqual({ grep: 'error', ignore_case: true });
    expect(searchQuery(search('e', { matchCase: true, regex: true, level: 'error' }))).toEqual({
      grep: 'e',
      regex: true,
      level: 'error',
    });
    const errors = search('', { regex: true, level: 'error' });
    expect(searchQuery(errors)).toEqual({ level: 'error' });
  });

  it('is off without a text and a level', () => {
    expect(searches(search(''))).toBe(false);
    expect(searches(search('', { level: 'error' }))).toBe(true);
    expect([levelOf('error'), levelOf('unspecified'), levelOf(null)]).toEqual([
      'error',
      undefined,
      undefined,
    ]);
  });
});

describe('marks', () => {
  it('cover every match and keep every letter', () => {
    expect(mark('aBab', 'b')).toEqual([
      ['a', false],
      ['B', true],
      ['a', false],
      ['b', true],
    ]);
    expect(mark('abc', '')).toEqual([['abc', false]]);
    expect(mark('', 'x')).toEqual([['', false]]);
    expect(mark('aBab', 'b', { matchCase: true })).toHaveLength(2);
  });

  it('take a text as text and an expression as an expression', () => {
    expect(mark('a.c abc', 'a.c')).toEqual([
      ['a.c', true],
      [' abc', false],
    ]);
    expect(mark('a.c abc', 'a.c', { regex: true }).filter(([, hit]) => hit)).toHaveLength(2);
    expect(mark('abc', 'x*', { regex: true })).toEqual([['abc', false]]);
  });

  it('leave out what a browser cannot search quickly, or not at all', () => {
    const line = `${'a'.repeat(40)}!`;
    for (const bad of ['(a+)+$', '(a|aa)*$', '(?i)a', '(']) {
      expect(mark(line, bad, { regex: true }), bad).toEqual([[line, false]]);
    }
    const long = 'a'.repeat(600);
    expect(mark(long, 'a', { regex: true })).toEqual([[long, false]]);
    expect(mark(long, long)).toEqual([[long, true]]);
  });
});
