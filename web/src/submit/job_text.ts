// Reads and changes the text of a job file. Pure functions.

// An error of a job file. Line and column count from 1; undefined if the error has no place.
export interface FileError {
  line: number | undefined;
  column: number | undefined;
  text: string;
}

// "job file" is the controller's name of a file that was sent as text.
const PLACED = /^job file:(\d+):(\d+): (.*)$/;

// Splits the controller's message, which has one error per line.
export function errorsIn(message: string): FileError[] {
  const lines = message.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [, row, column, text = line] = PLACED.exec(line) ?? [];
      if (row === undefined) return { line: undefined, column: undefined, text };
      return { line: Number(row), column: Number(column), text };
    });
}

// Returns the offset of a line and column, both counted from 1.
export function offsetOf(text: string, line: number, column: number): number {
  const before = text.split('\n').slice(0, line - 1);
  const start = before.reduce((sum, one) => sum + one.length + 1, 0);
  return Math.min(text.length, start + column - 1);
}

const NAME_LINE = /^name:[ \t]*([^#\n]*?)[ \t]*(#.*)?$/m;

// Returns the value of the top-level key `name`; empty if the key is missing.
export const nameIn = (text: string): string =>
  (NAME_LINE.exec(text)?.[1] ?? '').replaceAll(/^["']|["']$/g, '');

// Sets the top-level key `name`. A missing key is added before the first line that is no comment.
export function withName(text: string, name: string): string {
  if (NAME_LINE.test(text)) {
    return text.replace(NAME_LINE, (_line, _old, comment?: string) =>
      comment === undefined ? `name: ${name}` : `name: ${name}  ${comment}`,
    );
  }
  const lines = text.split('\n');
  const at = lines.findIndex((line) => !line.startsWith('#'));
  lines.splice(at === -1 ? lines.length : at, 0, `name: ${name}`);
  return lines.join('\n');
}

export interface DiffLine {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

// Beyond this number of line pairs, texts are compared by their beginnings and ends only, so that
// the comparison is fast.
const PAIRS_MAX = 1_000_000;

// Returns the length of the longest common subsequence of left[i...] and right[j...] for each pair
// of indices i and j.
function commonLengths(left: readonly string[], right: readonly string[]): Uint32Array[] {
  const rows = Array.from({ length: left.length + 1 }, () => new Uint32Array(right.length + 1));
  for (let i = left.length - 1; i >= 0; i--) {
    const [row, below] = [rows[i]!, rows[i + 1]!];
    for (let j = right.length - 1; j >= 0; j--) {
      row[j] = left[i] === right[j] ? below[j + 1]! + 1 : Math.max(below[j]!, row[j + 1]!);
    }
  }
  return rows;
}

const all = (kind: DiffLine['kind'], lines: readonly string[]): DiffLine[] =>
  lines.map((text) => ({ kind, text }));

function diffMiddle(left: readonly string[], right: readonly string[]): DiffLine[] {
  if (left.length * right.length > PAIRS_MAX) {
    return [...all('removed', left), ...all('added', right)];
  }
  const lengths = commonLengths(left, right);
  const lines: DiffLine[] = [];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    if (left[i] === right[j]) {
      lines.push({ kind: 'same', text: left[i++] as string });
      j++;
    } else if (lengths[i + 1]![j]! >= lengths[i]![j + 1]!) {
      lines.push({ kind: 'removed', text: left[i++] as string });
    } else {
      lines.push({ kind: 'added', text: right[j++] as string });
    }
  }
  return [...lines, ...all('removed', left.slice(i)), ...all('added', right.slice(j))];
}

// Compares two texts by lines.
export function diffLines(before: string, after: string): DiffLine[] {
  const [left, right] = [before.split('\n'), after.split('\n')];
  const least = Math.min(left.length, right.length);
  let head = 0;
  while (head < least && left[head] === right[head]) head++;
  let tail = 0;
  while (tail < least - head && left.at(-1 - tail) === right.at(-1 - tail)) tail++;
  return [
    ...all('same', left.slice(0, head)),
    ...diffMiddle(left.slice(head, left.length - tail), right.slice(head, right.length - tail)),
    ...all('same', left.slice(left.length - tail)),
  ];
}

export const changedLines = (lines: readonly DiffLine[]): DiffLine[] =>
  lines.filter(({ kind }) => kind !== 'same');
