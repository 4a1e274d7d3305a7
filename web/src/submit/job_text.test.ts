import { describe, expect, it } from 'vitest';
import { changedLines, diffLines, errorsIn, nameIn, offsetOf, withName } from './job_text';

describe('errorsIn', () => {
  it('reads the place of each error', () => {
    const message =
      'job file:2:1: unknown key `comand`; did you mean `command`?\n' +
      '  `command` is missing; name a program\n' +
      'job file:3:33: `train.global_batch` must be at least 1, got -1';
    expect(errorsIn(message)).toEqual([
      { line: 2, column: 1, text: 'unknown key `comand`; did you mean `command`?' },
      { line: undefined, column: undefined, text: '`command` is missing; name a program' },
      { line: 3, column: 33, text: '`train.global_batch` must be at least 1, got -1' },
    ]);
    expect(errorsIn('job file: is empty')).toEqual([
      { line: undefined, column: undefined, text: 'job file: is empty' },
    ]);
  });

  it('gives places that lead to the text', () => {
    const text = 'a: 1\nbb: 2\nccc: 3\n';
    expect(text.slice(offsetOf(text, 2, 1)).startsWith('bb')).toBe(true);
    expect(text.slice(offsetOf(text, 3, 4)).startsWith(': 3')).toBe(true);
    expect(offsetOf(text, 99, 1)).toBe(text.length);
  });
});

describe('the name', () => {
  it('is read and replaced at its line', () => {
    const text = '# recipe\nname: llama3-8b  # base\nenv: {name: x}\n';
    expect(nameIn(text)).toBe('llama3-8b');
    expect(withName(text, 'mine')).toBe('# recipe\nname: mine  # base\nenv: {name: x}\n');
    expect(nameIn('name: "quoted"\n')).toBe('quoted');
  });

  it('may contain what a replacement would read as a pattern', () => {
    expect(withName('name: a\n', '$&-$1')).toBe('name: $&-$1\n');
  });

  it('is added after the comments at the top if it is missing', () => {
    expect(nameIn('model:\n  name: inner\n')).toBe('');
    expect(withName('# recipe\ncommand: [a]\n', 'x')).toBe('# recipe\nname: x\ncommand: [a]\n');
    expect(withName('', 'x')).toBe('name: x\n');
  });

  it('can be emptied and written again', () => {
    expect(withName(withName('name: a\nseed: 1', ''), 'b')).toBe('name: b\nseed: 1');
  });
});

describe('diffLines', () => {
  const words = (before: string, after: string) =>
    changedLines(diffLines(before, after)).map(({ kind, text }) => `${kind} ${text}`);

  it('finds changed, added and removed lines', () => {
    expect(words('a\nb\nc\nd', 'a\nB\nc\nd\ne')).toEqual(['removed b', 'added B', 'added e']);
    expect(words('a\nb\nc', 'a\nc')).toEqual(['removed b']);
    expect(words('same', 'same')).toEqual([]);
  });

  it('restores both texts', () => {
    const [before, after] = ['x\na\nb\na\nc', 'a\nb\nc\na\ny'];
    const lines = diffLines(before, after);
    const side = (other: string) =>
      lines
        .filter(({ kind }) => kind !== other)
        .map(({ text }) => text)
        .join('\n');
    expect(side('added')).toBe(before);
    expect(side('removed')).toBe(after);
  });

  it('compares very long texts coarsely', () => {
    const body = (word: string) =>
      Array.from({ length: 1_500 }, (_, index) => `${word} ${index}`).join('\n');
    const long = (word: string) => `head\n${body(word)}\ntail`;
    const lines = diffLines(long('a'), long('b'));
    expect(lines[0]).toEqual({ kind: 'same', text: 'head' });
    expect(changedLines(lines)).toHaveLength(3_000);
  });
});
