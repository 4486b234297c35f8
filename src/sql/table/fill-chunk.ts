/**
 * Puts rows into an Appender by columns, for tables such as a CRAWL makes: bodies go from their bytes into DuckDB without
 * becoming a JavaScript string in between, which would cost more than all the rest of a row. Any other table is none of
 * this file's business. Knows nothing of transactions.
 */
import { isUtf8 } from 'node:buffer';
import {
  BLOB,
  type DuckDBAppender,
  DuckDBBlobValue,
  DuckDBBlobVector,
  DuckDBDataChunk,
  type DuckDBType,
  INTEGER,
  TIMESTAMP,
  VARCHAR,
} from '@duckdb/node-api';
import { type BodyReader, createBodyReader, createUtf8BodyReader, type Utf8BodyReader } from './body-text.ts';
import { COLUMNS, toTimestamp } from './columns.ts';
import type { CrawlRow } from './crawl-row.ts';
import { fallsBack } from './row-filler.ts';
import type { PlannedColumn } from './target-plan.ts';

export type FillChunks = (appender: DuckDBAppender, rows: readonly CrawlRow[]) => void;

/** Of a chunk at most, as DuckDB has it. */
const MOST_ROWS = 2048;

const TYPES = { VARCHAR, INTEGER, TIMESTAMP, BLOB };

type Fill = (chunk: DuckDBDataChunk, at: number, rows: readonly CrawlRow[]) => void;

/** Null where a column needs a default, a conversion or a value that is not of the row. */
export function createChunkFiller(columns: readonly PlannedColumn[]): FillChunks | null {
  const readers: BodyReaders = { text: createBodyReader(), utf8: createUtf8BodyReader() };
  const fills: Fill[] = [];
  const types: DuckDBType[] = [];
  for (const column of columns) {
    const fill = fallsBack(column) ? null : fillOf(column, readers);
    if (fill === null) return null;
    fills.push(fill);
    types.push(TYPES[column.type as keyof typeof TYPES]);
  }
  let chunk: DuckDBDataChunk | null = null;
  return (appender, rows) => {
    chunk ??= DuckDBDataChunk.create(types);
    for (let from = 0; from < rows.length; from += MOST_ROWS) {
      const part = rows.slice(from, from + MOST_ROWS);
      try {
        chunk.rowCount = part.length;
        for (const [at, fill] of fills.entries()) fill(chunk, at, part);
        appender.appendDataChunk(chunk);
      } finally {
        // Gives the memory of the bodies back.
        chunk.reset();
      }
    }
    appender.flushSync();
  };
}

interface BodyReaders {
  text: BodyReader;
  utf8: Utf8BodyReader;
}

function fillOf({ source, type }: PlannedColumn, readers: BodyReaders): Fill | null {
  if (source.from !== 'row') return null;
  const { kind, value } = COLUMNS[source.column];
  const fillWith =
    (convert: (given: never) => unknown): Fill =>
    (chunk, at, rows) =>
      chunk.setColumnValues(
        at,
        rows.map((row) => {
          const given = value(row) as never;
          return given === null || given === undefined ? null : (convert(given) as never);
        }),
      );
  switch (`${kind} ${type}`) {
    case 'text VARCHAR':
    case 'integer INTEGER':
      return fillWith((given) => given);
    case 'time TIMESTAMP':
      return fillWith(toTimestamp);
    case 'body BLOB':
      return fillWith((given) => new DuckDBBlobValue(given));
    case 'body VARCHAR':
      return fillBodies(readers);
    default:
      return null;
  }
}

/** Text and bytes have the same form in DuckDB's vectors; the driver takes only strings for the one. */
const fillBodies =
  ({ text, utf8 }: BodyReaders): Fill =>
  (chunk, at, rows) => {
    const { vector } = chunk.getColumnVector(at) as unknown as RawVector;
    const bytes = DuckDBBlobVector.fromRawVector(vector, rows.length);
    for (const [index, { body, contentType, charset }] of rows.entries()) {
      const typed = body === null ? null : { body, contentType, charset };
      const read = typed === null ? null : utf8(typed);
      if (typed === null || read === null) bytes.setItem(index, null);
      // What is no UTF-8 becomes U+FFFD on the way through a string.
      else if (!isUtf8(read)) bytes.setItem(index, new DuckDBBlobValue(Buffer.from(text(typed)!)));
      else bytes.setItem(index, new DuckDBBlobValue(read.buffer === typed.body.buffer ? read : read.slice()));
    }
    bytes.flush();
  };

interface RawVector {
  vector: Parameters<typeof DuckDBBlobVector.fromRawVector>[0];
}
