import { describe, expect, it } from 'vitest';
import { textDifference } from './text_difference';

const words = (before: string, after: string) =>
  textDifference(before, after).map(({ kind, text }) => [kind, text]);

describe('the difference of two texts', () => {
  it('has the words of either text', () => {
    expect(words('the old train ', 'the new train ')).toEqual([
      ['same', 'the '],
      ['removed', 'old '],
      ['added', 'new '],
      ['same', 'train '],
    ]);
    expect(words('a b c', 'a b c')).toEqual([['same', 'a b c']]);
    expect(words('', 'x')).toEqual([['added', 'x']]);
    expect(words('x', '')).toEqual([['removed', 'x']]);
    expect(words('', '')).toEqual([]);
  });

  it('keeps each text whole', () => {
    const before = '  two\n\nlines of  text, and more';
    const after = 'two lines\nof text  and';
    const parts = textDifference(before, after);
    const without = (kind: string) =>
      parts.filter((part) => part.kind !== kind).map(({ text }) => text);
    expect(without('added').join('')).toBe(before);
    expect(without('removed').join('')).toBe(after);
  });

  // Compares with the definition, which takes exponential time.
  it('has as many equal words as possible', () => {
    const longest = (a: string[], b: string[]): number => {
      const [first, ...rest] = a;
      if (first === undefined || b.length === 0) return 0;
      if (first === b[0]) return 1 + longest(rest, b.slice(1));
      return Math.max(longest(rest, b), longest(a, b.slice(1)));
    };
    let seed = 1;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const wordsOf = () => Array.from({ length: random(8) }, () => `${'abc'[random(3)]} `);
    for (let i = 0; i < 300; i++) {
      const [before, after] = [wordsOf(), wordsOf()];
      const same = textDifference(before.join(''), after.join(''))
        .filter(({ kind }) => kind === 'same')
        .reduce((sum, { text }) => sum + text.length / 2, 0);
      expect(same).toBe(longest(before, after));
    }
  });

  it('is limited', () => {
    const long = 'word '.repeat(5000);
    const length = textDifference(long, long).reduce((sum, { text }) => sum + text.length, 0);
    expect(length).toBe(2000 * 5);
  });
});
