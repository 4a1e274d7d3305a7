// Writes the files of this folder with three implementations of Parquet. In an empty directory:
//   npm install parquet-wasm@0.8.0 apache-arrow@21.2.0 hyparquet-writer@0.17.0 @duckdb/node-api@1.5.6-r.1
//   cp FOLDER/write.mjs . && node write.mjs FOLDER
// golden_test.cpp contains the same rule for the texts.
import {writeFileSync} from 'node:fs';
import {createRequire} from 'node:module';

const require = createRequire(import.meta.url);
const arrow = require('apache-arrow');
const wasm = require('parquet-wasm/node');
const out = process.argv[2];

const ROWS = 120;
function textOf(i) {
  if (i % 7 === 3) return null;
  if (i % 11 === 5) return '';
  return `text ${i % 13} äöü 漢字 ` + 'x'.repeat(i % 5);
}
const texts = Array.from({length: ROWS}, (_, i) => textOf(i));
const numbers = Array.from({length: ROWS}, (_, i) => i);

function arrowFile(name, {version, codec, dictionary}) {
  const table = new arrow.Table({
    number: arrow.vectorFromArray(numbers, new arrow.Int32()),
    text: arrow.vectorFromArray(texts, new arrow.Utf8()),
  });
  let properties = new wasm.WriterPropertiesBuilder()
      .setWriterVersion(version)
      .setCompression(codec)
      .setDictionaryEnabled(dictionary)
      .setMaxRowGroupSize(50)
      .setDataPageSizeLimit(200)
      .setWriteBatchSize(10);
  if (!dictionary) properties = properties.setEncoding(wasm.Encoding.PLAIN);
  const bytes = wasm.writeParquet(
      wasm.Table.fromIPCStream(arrow.tableToIPC(table, 'stream')), properties.build());
  writeFileSync(`${out}/${name}.parquet`, bytes);
}

const V1 = wasm.WriterVersion.V1, V2 = wasm.WriterVersion.V2, C = wasm.Compression;
arrowFile('arrow_v1_plain', {version: V1, codec: C.UNCOMPRESSED, dictionary: false});
arrowFile('arrow_v1_dictionary_snappy', {version: V1, codec: C.SNAPPY, dictionary: true});
arrowFile('arrow_v1_plain_gzip', {version: V1, codec: C.GZIP, dictionary: false});
arrowFile('arrow_v1_dictionary_brotli', {version: V1, codec: C.BROTLI, dictionary: true});
arrowFile('arrow_v2_plain_zstd', {version: V2, codec: C.ZSTD, dictionary: false});
arrowFile('arrow_v2_dictionary_gzip', {version: V2, codec: C.GZIP, dictionary: true});
arrowFile('arrow_v2_dictionary_none', {version: V2, codec: C.UNCOMPRESSED, dictionary: true});

const {parquetWriteBuffer} = await import('hyparquet-writer');
writeFileSync(`${out}/hyparquet_snappy.parquet`, Buffer.from(parquetWriteBuffer({
  columnData: [
    {name: 'text', data: texts, type: 'STRING'},
    {name: 'tags', data: numbers.map((i) => [`a${i}`, 'b']), type: 'JSON'},
  ],
  rowGroupSize: 40,
})));
writeFileSync(`${out}/hyparquet_required.parquet`, Buffer.from(parquetWriteBuffer({
  columnData: [{name: 'text', data: texts.map((text) => text ?? 'none'), nullable: false,
                type: 'STRING'}],
  codec: 'UNCOMPRESSED',
})));

const {DuckDBInstance} = await import('@duckdb/node-api');
const database = await (await DuckDBInstance.create()).connect();
await database.run('create table rows(number int, text varchar)');
for (const i of numbers) {
  const text = texts[i] === null ? 'null' : `'${texts[i]}'`;
  await database.run(`insert into rows values (${i}, ${text})`);
}
const copy = (query, name, options) =>
    database.run(`copy (${query}) to '${out}/${name}.parquet' (format parquet, ${options})`);
await copy('select * from rows order by number', 'duckdb_v1_zstd', 'compression zstd');
await copy('select * from rows order by number', 'duckdb_v1_snappy', 'compression snappy');
await copy('select * from rows order by number', 'duckdb_v2_delta',
           'compression snappy, parquet_version v2');
await copy(`select [text] as text, {'text': text} as document, number from rows order by number`,
           'duckdb_nested', 'compression zstd');
