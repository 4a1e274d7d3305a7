// The licences of what the bundle contains go with it: dist/licenses.txt.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';

const here = new URL('./', import.meta.url);
const { dependencies } = JSON.parse(readFileSync(new URL('package.json', here), 'utf8'));

function licenseOf(name) {
  const folder = new URL(`node_modules/${name}/`, here);
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  return `${name}\n\n${readFileSync(new URL(file, folder), 'utf8').trim()}\n`;
}

// Preact's signals are a package of their own behind the adapter.
const names = [...Object.keys(dependencies), '@preact/signals-core'].sort();
const dist = new URL(`${process.env.DIST ?? 'dist'}/`, here);
writeFileSync(new URL('licenses.txt', dist), names.map(licenseOf).join('\n'));
