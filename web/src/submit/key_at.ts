// Finds the setting at a position of a job file's text. Pure functions. The text may be incomplete,
// because the user is typing it. Instead of parsing YAML, these functions only follow indentation,
// braces, quotes and comments.

// "key:" at the beginning of a line, perhaps after "- ".
const BLOCK_KEY = /^( *)(?:- +)*(?:"([^"]*)"|'([^']*)'|([\w.-]+)) *:(?=\s|$)/;
const WORD = /[\w.-]/;
// A quote begins only after one of these characters, so that an apostrophe in plain text is not a
// quote.
const BEFORE_QUOTE = /[\s{[,:]/;
const LIST = Symbol('list');

interface Level {
  indent: number;
  key: string;
}

interface Scan {
  text: string;
  // End of the scan: the end of the word at the cursor.
  end: number;
  // Keys of the enclosing lines.
  lines: Level[];
  // The newest key in each open brace (empty if there is none yet), or LIST for an open bracket.
  braces: (string | typeof LIST)[];
}

function endOfWord(text: string, offset: number): number {
  let end = Math.min(offset, text.length);
  while (end < text.length && WORD.test(text[end] as string)) end++;
  // The colon belongs to the key.
  return text[end] === ':' ? end + 1 : end;
}

const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
};

// Reads the beginning of a line that is outside of braces. Returns where its value begins.
function afterIndentation(scan: Scan, from: number): number {
  const lineEnd = endOfLine(scan.text, from);
  const line = scan.text.slice(from, lineEnd);
  const indent = line.length - line.trimStart().length;
  const isLast = scan.end <= lineEnd;
  const found = BLOCK_KEY.exec(line);
  const isEmpty = line.trim() === '' || line.trimStart().startsWith('#');
  // An empty line belongs to the section above it, unless the cursor is on it.
  if (isEmpty && !isLast) return lineEnd;
  const column = isEmpty ? Math.min(indent, scan.end - from) : indent;
  const partial = isLast && !found ? /^ *([\w.-]+)$/.exec(scan.text.slice(from, scan.end)) : null;
  if (found || partial || isEmpty) {
    while ((scan.lines.at(-1)?.indent ?? -1) >= column) scan.lines.pop();
  }
  const key = found?.[2] ?? found?.[3] ?? found?.[4] ?? partial?.[1];
  if (key !== undefined) scan.lines.push({ indent: column, key });
  if (isEmpty) return lineEnd;
  return from + (found ? found[0].length : indent);
}

function afterQuote(text: string, from: number): number {
  const close = text.indexOf(text[from] as string, from + 1);
  return close === -1 ? text.length : close + 1;
}

// Reads a word inside braces. The word is a key if a colon follows, or if it is the unfinished word
// at the cursor.
function afterWord(scan: Scan, from: number): number {
  const { text, end, braces } = scan;
  let to = from;
  while (to < text.length && WORD.test(text[to] as string)) to++;
  const colon = /^ *:(?=[\s,}\]]|$)/.test(text.slice(to, to + 8));
  const before = text.slice(0, from).trimEnd().at(-1);
  const isUnfinished = to >= end && (before === '{' || before === ',');
  const isInList = braces.at(-1) === LIST;
  if (!isInList && (colon || isUnfinished)) braces[braces.length - 1] = text.slice(from, to);
  return to;
}

// Reads one character, quote, word or comment. Returns the position after it.
function afterToken(scan: Scan, at: number): number {
  const { text, braces } = scan;
  const character = text[at] as string;
  const before = text[at - 1] ?? '\n';
  if (character === '#' && /\s/.test(before)) return endOfLine(text, at);
  if ((character === '"' || character === "'") && BEFORE_QUOTE.test(before)) {
    return afterQuote(text, at);
  }
  if (character === '{' || character === '[') braces.push(character === '[' ? LIST : '');
  else if (character === '}' || character === ']') braces.pop();
  else if (character === ',' && typeof braces.at(-1) === 'string') braces[braces.length - 1] = '';
  else if (braces.length > 0 && WORD.test(character)) return afterWord(scan, at);
  return at + 1;
}

// Returns the path of the setting at the offset, such as ["train", "global_batch"]. Empty at the
// top level.
export function keyAt(text: string, offset: number): string[] {
  const scan: Scan = { text, end: endOfWord(text, offset), lines: [], braces: [] };
  let at = 0;
  let atLineStart = true;
  while (at < scan.end || (atLineStart && at === scan.end)) {
    if (atLineStart && scan.braces.length === 0) {
      at = afterIndentation(scan, at);
      atLineStart = false;
      continue;
    }
    if (at >= text.length) break;
    atLineStart = text[at] === '\n';
    at = atLineStart ? at + 1 : afterToken(scan, at);
  }
  const inBraces = scan.braces.filter((key) => typeof key === 'string' && key !== '');
  return [...scan.lines.map(({ key }) => key), ...(inBraces as string[])];
}
