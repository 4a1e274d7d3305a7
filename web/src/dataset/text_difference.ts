// The difference of two texts by words. Pure functions.

export interface DifferencePart {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

// Words of a text with the white space behind them, so that joining them gives the text.
const wordsOf = (text: string): string[] => text.match(/\s*\S+\s*|\s+/g) ?? [];

// Texts of a report are so short that they have fewer words. The limit bounds memory and time.
const WORDS_MAX = 2000;

function append(parts: DifferencePart[], kind: DifferencePart['kind'], text: string): void {
  const last = parts.at(-1);
  if (last?.kind === kind) last.text += text;
  else parts.push({ kind, text });
}

// Returns a table with the lengths of the longest common subsequences of a[i...] and b[j...].
function commonLengths(a: readonly string[], b: readonly string[]): Uint16Array {
  const columns = b.length + 1;
  const lengths = new Uint16Array((a.length + 1) * columns);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      const at = i * columns + j;
      lengths[at] =
        a[i] === b[j]
          ? lengths[at + columns + 1]! + 1
          : Math.max(lengths[at + columns]!, lengths[at + 1]!);
    }
  }
  return lengths;
}

// Returns the parts of both texts in order: `removed` occurs only in `before`, `added` only in
// `after`. The number of equal words is as large as possible.
export function textDifference(before: string, after: string): DifferencePart[] {
  const a = wordsOf(before).slice(0, WORDS_MAX);
  const b = wordsOf(after).slice(0, WORDS_MAX);
  const lengths = commonLengths(a, b);
  const columns = b.length + 1;
  const parts: DifferencePart[] = [];
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    const at = i * columns + j;
    if (i < a.length && j < b.length && a[i] === b[j]) {
      append(parts, 'same', a[i]!);
      i++;
      j++;
    } else if (i < a.length && (j === b.length || lengths[at + columns]! >= lengths[at + 1]!)) {
      append(parts, 'removed', a[i++]!);
    } else {
      append(parts, 'added', b[j++]!);
    }
  }
  return parts;
}
