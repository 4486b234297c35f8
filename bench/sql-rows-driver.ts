// Writes rows of a CRAWL into a DuckDB file, in a process of its own.
//   sql-rows-driver ours FILE ROWS      as `sumi sql` does: small row groups, packed bodies, rare checkpoints
//   sql-rows-driver defaults FILE ROWS  the same rows by the same Appender into a file and a table of DuckDB's defaults
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { openTarget } from '../src/sql/table/check-target.ts';
import { COLUMNS, CREATED_COLUMNS } from '../src/sql/table/columns.ts';
import type { CrawlRow } from '../src/sql/table/crawl-row.ts';
import { openDatabase } from '../src/sql/table/open-database.ts';
import { createRowWriter } from '../src/sql/table/row-writer.ts';
import { seededRandom } from '../test/seeded-random.ts';

export interface WrittenRows {
  rowsPerSecond: number;
  longestFlushMs: number;
}

const BATCH = 100;
const BODY_BYTES = 2000;
/** All bodies are cut from one text, so that none is like another and making them costs nothing. */
const TEXT_BYTES = 1 << 22;

const [way, file, count] = process.argv.slice(2);
const rows = Number(count);

async function openOurs() {
  const database = await openDatabase({ file, isReadOnly: false });
  return { connect: () => database.connect(), close: () => database.close() };
}

async function openDefaults() {
  const instance = await DuckDBInstance.create(file);
  const connections: DuckDBConnection[] = [];
  const connect = async () => {
    const connection = await instance.connect();
    connections.push(connection);
    return connection;
  };
  const columns = CREATED_COLUMNS.map((name) => `${name} ${COLUMNS[name].type}`);
  await (await connect()).run(`CREATE TABLE pages (${columns.join(', ')})`);
  return {
    connect,
    async close() {
      for (const connection of connections) connection.closeSync();
      instance.closeSync();
    },
  };
}

function makeText(random: () => number): Buffer {
  const words = Array.from({ length: 5000 }, () => Math.floor(random() * 36 ** 5).toString(36));
  const parts: string[] = [];
  for (let bytes = 0; bytes < TEXT_BYTES; bytes += parts.at(-1)!.length)
    parts.push(`${words[Math.floor(random() ** 2 * words.length)]} `);
  return Buffer.from(parts.join(''));
}

const { next: random } = seededRandom(22);
const text = makeText(random);

function makeRow(index: number): CrawlRow {
  const host = `host${index % 977}.example.com`;
  const url = `https://${host}/section/page-${index}`;
  const from = Math.floor(random() * (text.length - BODY_BYTES));
  return {
    ...{ url, surtKey: `com,example,host${index % 977})/section/page-${index}`, httpStatus: 200 },
    ...{ contentType: 'text/html; charset=utf-8', crawlTime: 1_700_000_000_000 + index, error: null },
    ...{ errorType: null, etag: `"${index.toString(36)}"`, lastModified: null },
    contentHash: index.toString(16).padStart(8, '0').repeat(8),
    ...{ finalUrl: url, redirectCount: 0, elapsedMs: index % 300, title: `Page ${index}`, depth: index % 7 },
    ...{ inputUrl: null, state: 'Processed', body: text.subarray(from, from + BODY_BYTES), charset: 'utf-8' },
    ...{ headers: null, text: null, h1: null, metaDescription: null, lang: null, canonical: null },
    wordCount: null,
  };
}

const database = await (way === 'ours' ? openOurs() : openDefaults());
const target = { catalog: null, schema: null, table: 'pages' };
const plan = await openTarget(await database.connect(), { target, extracted: [] });
const writer = await createRowWriter(await database.connect(), plan);
let writingMs = 0;
let longestFlushMs = 0;
for (let index = 0; index < rows; index += BATCH) {
  const batch = Array.from({ length: BATCH }, (_, at) => makeRow(index + at));
  const began = performance.now();
  const { written } = writer.append(batch);
  const took = performance.now() - began;
  if (written !== BATCH) throw new Error(`${written} rows of ${BATCH} were written`);
  writingMs += took;
  longestFlushMs = Math.max(longestFlushMs, took);
}
writer.close();
await database.close();
const figures: WrittenRows = {
  rowsPerSecond: rows / (writingMs / 1000),
  longestFlushMs,
};
console.log(JSON.stringify(figures));
