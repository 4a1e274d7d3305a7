// Measures tokenizers of npm packages, which are below PACKAGES. Prints a line of JSON.
//   node peers.mjs PACKAGES encode hf TOKENIZER.json FILE BYTES
//   node peers.mjs PACKAGES encode tiktoken|js ENCODING FILE BYTES
//   node peers.mjs PACKAGES train OUT.json FILE     (30,000 tokens, the package's default)
import fs from 'node:fs';
import {createRequire} from 'node:module';
import path from 'node:path';

const [packages, command, ...rest] = process.argv.slice(2);
const require = createRequire(path.resolve(packages) + '/');

// CPU time of all threads. RAYON_NUM_THREADS=1 makes Hugging Face's library use one.
function cpuSeconds() {
  const used = process.cpuUsage();
  return (used.user + used.system) / 1e6;
}

// The first documents of a file, which are separated by NUL, up to `bytes`.
function readDocuments(file, bytes) {
  const all = fs.readFileSync(file);
  const documents = [];
  let begin = 0;
  while (begin < Math.min(bytes, all.length)) {
    const end = all.indexOf(0, begin);
    documents.push(all.toString('utf8', begin, end));
    begin = end + 1;
  }
  return documents;
}

// Each returns a function that returns the number of tokens of a text.
const encoders = {
  hf(file) {
    const tokenizer = require('tokenizers').Tokenizer.fromFile(file);
    return async (text) =>
      (await tokenizer.encode(text, null, {addSpecialTokens: false})).getIds().length;
  },
  tiktoken(name) {
    const encoding = require('tiktoken').get_encoding(name);
    return (text) => encoding.encode_ordinary(text).length;
  },
  js(name) {
    const {encode} = require('gpt-tokenizer/cjs/encoding/' + name);
    return (text) => encode(text, {disallowedSpecial: new Set()}).length;
  },
};

async function encode(library, source, file, bytes) {
  const documents = readDocuments(file, Number(bytes));
  const countTokens = encoders[library](source);
  const begin = cpuSeconds();
  let tokens = 0;
  for (const document of documents) tokens += await countTokens(document);
  const seconds = cpuSeconds() - begin;
  return {bytes: documents.reduce((sum, d) => sum + Buffer.byteLength(d), 0), tokens, seconds};
}

function train(out, file) {
  const {BPE, Tokenizer, byteLevelPreTokenizer} = require('tokenizers');
  const tokenizer = new Tokenizer(BPE.empty());
  tokenizer.setPreTokenizer(byteLevelPreTokenizer(false, true));
  const begin = cpuSeconds();
  tokenizer.train([file]);
  const seconds = cpuSeconds() - begin;
  tokenizer.save(out, false);
  return {seconds};
}

const result = command === 'encode' ? await encode(...rest) : train(...rest);
console.log(JSON.stringify(result));
