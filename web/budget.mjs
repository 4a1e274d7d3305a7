// What the browser has to load, gzipped, against the promise: `npm run build` fails beyond it.
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';

const TOTAL_KB = 155;
const FIRST_ROUTE_KB = 80;

const dist = new URL(`./${process.env.DIST ?? 'dist'}/`, import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('.vite/manifest.json', dist), 'utf8'));
const gzipped = (file) => gzipSync(readFileSync(new URL(file, dist))).length / 1000;

// A chunk and all that it imports before it runs.
function withImports(key, seen = new Set()) {
  if (seen.has(key)) return seen;
  seen.add(key);
  for (const other of manifest[key].imports ?? []) withImports(other, seen);
  return seen;
}

const sum = (keys) => [...keys].reduce((kb, key) => kb + gzipped(manifest[key].file), 0);
const scripts = Object.keys(manifest).filter((key) => manifest[key].file.endsWith('.js'));
const total = sum(scripts);
const first = sum(withImports('index.html'));
console.log(
  `JavaScript gzipped: ${total.toFixed(1)} kB of ${TOTAL_KB}, ` +
    `first route ${first.toFixed(1)} kB of ${FIRST_ROUTE_KB}`,
);
if (total > TOTAL_KB || first > FIRST_ROUTE_KB) process.exit(1);
