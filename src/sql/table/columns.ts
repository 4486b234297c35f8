/**
 * The columns of a CRAWL's table: one list of names, types, what an existing column may be instead, and the value of a row.
 * Those that are not created are filled only where a table has them.
 */
import { type DuckDBAppender, DuckDBMapValue, DuckDBTimestampValue, MAP, VARCHAR } from '@duckdb/node-api';
import type { BodyReader } from './body-text.ts';
import type { CrawlRow } from './crawl-row.ts';

/** What a value is on its way into DuckDB; body is text or bytes by the type of the table's column. */
type ColumnKind = 'text' | 'integer' | 'time' | 'headers' | 'body';

interface ColumnSpec {
  type: string;
  kind: ColumnKind;
  /** Types that an existing column may have. */
  accepts: readonly string[];
  /** No row is without a value. */
  isAlwaysGiven: boolean;
  /** Part of a table that a CRAWL makes. */
  isCreated: boolean;
  value: (row: CrawlRow) => unknown;
}

const BIG_INTEGERS = ['INTEGER', 'UINTEGER', 'BIGINT', 'UBIGINT', 'HUGEINT', 'UHUGEINT'];
const INTEGERS = [...BIG_INTEGERS, 'SMALLINT', 'USMALLINT'];
const MAP_TYPE = 'MAP(VARCHAR, VARCHAR)';
const TIMES = ['TIMESTAMP', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMP WITH TIME ZONE'];

type Value = (row: CrawlRow) => unknown;

const column = (kind: ColumnKind, type: string, accepts: readonly string[], value: Value): ColumnSpec => ({
  ...{ kind, type, accepts, value },
  ...{ isAlwaysGiven: false, isCreated: true },
});
const text = (value: (row: CrawlRow) => string | null) => column('text', 'VARCHAR', ['VARCHAR'], value);
const integer = (accepts: readonly string[], value: (row: CrawlRow) => number | null) =>
  column('integer', 'INTEGER', accepts, value);
const always = (spec: ColumnSpec): ColumnSpec => ({ ...spec, isAlwaysGiven: true });
const ifPresent = (spec: ColumnSpec): ColumnSpec => ({ ...spec, isCreated: false });

const utf8 = (bytes: Uint8Array | null): string | null =>
  bytes === null ? null : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');

/** In the order of a table that is created. */
const SPECS = {
  url: always(text((row) => row.url)),
  surt_key: text((row) => row.surtKey),
  http_status: integer(INTEGERS, (row) => row.httpStatus),
  body: column('body', 'VARCHAR', ['VARCHAR', 'BLOB'], (row) => row.body),
  content_type: text((row) => row.contentType),
  crawl_time: always(column('time', 'TIMESTAMP', TIMES, (row) => row.crawlTime)),
  error: text((row) => row.error),
  error_type: text((row) => row.errorType),
  etag: text((row) => row.etag),
  last_modified: text((row) => row.lastModified),
  content_hash: text((row) => row.contentHash),
  final_url: text((row) => row.finalUrl),
  redirect_count: integer(INTEGERS, (row) => row.redirectCount),
  elapsed_ms: integer(BIG_INTEGERS, (row) => row.elapsedMs),
  title: text((row) => row.title),
  depth: integer(INTEGERS, (row) => row.depth),
  input_url: text((row) => row.inputUrl),
  state: always(text((row) => row.state)),
  headers: ifPresent(column('headers', MAP_TYPE, [MAP_TYPE], (row) => row.headers)),
  text: ifPresent(text((row) => utf8(row.text))),
  h1: ifPresent(text((row) => row.h1)),
  meta_description: ifPresent(text((row) => row.metaDescription)),
  lang: ifPresent(text((row) => row.lang)),
  canonical: ifPresent(text((row) => row.canonical)),
  word_count: ifPresent(integer(BIG_INTEGERS, (row) => row.wordCount)),
} satisfies Record<string, ColumnSpec>;

export type ColumnName = keyof typeof SPECS;

export const COLUMNS: Readonly<Record<ColumnName, ColumnSpec>> = SPECS;
export const COLUMN_NAMES = Object.keys(SPECS) as ColumnName[];
export const CREATED_COLUMNS = COLUMN_NAMES.filter((name) => COLUMNS[name].isCreated);

export function isColumnName(name: string): name is ColumnName {
  return Object.hasOwn(SPECS, name);
}

/** Appends one value of a row; false where it has none. */
export type AppendValue = (appender: DuckDBAppender, row: CrawlRow) => boolean;

const HEADERS = MAP(VARCHAR, VARCHAR);

/** `type`: of the table's column. */
export function appendColumn(name: ColumnName, type: string, readBody: BodyReader): AppendValue {
  const { kind, value } = COLUMNS[name];
  switch (kind) {
    case 'text':
      return appendAs(value, (appender, given: string) => appender.appendVarchar(given));
    case 'integer':
      return appendAs(value, (appender, given: number) => appender.appendInteger(given));
    case 'time':
      return appendAs(value, (appender, given: number) => appender.appendTimestamp(toTimestamp(given)));
    case 'headers':
      return appendAs(value, (appender, given: NonNullable<CrawlRow['headers']>) =>
        appender.appendMap(toMap(given), HEADERS),
      );
    case 'body':
      return type === 'BLOB'
        ? appendAs(value, (appender, given: Uint8Array) => appender.appendBlob(given))
        : (appender, row) => {
            const { body, contentType, charset } = row;
            const given = body === null ? null : readBody({ body, contentType, charset });
            if (given !== null) appender.appendVarchar(given);
            return given !== null;
          };
  }
}

function appendAs<Given>(read: Value, append: (appender: DuckDBAppender, given: Given) => void): AppendValue {
  return (appender, row) => {
    const given = read(row);
    if (given === null || given === undefined) return false;
    append(appender, given as Given);
    return true;
  };
}

export function toTimestamp(wallMs: number): DuckDBTimestampValue {
  return new DuckDBTimestampValue(BigInt(Math.round(wallMs)) * 1000n);
}

/** A field that was sent several times stands once, with its values joined as HTTP joins them. */
function toMap(fields: NonNullable<CrawlRow['headers']>): DuckDBMapValue {
  const values = new Map<string, string>();
  for (const [name, value] of fields) {
    const key = name.toLowerCase();
    const before = values.get(key);
    values.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return new DuckDBMapValue([...values].map(([key, value]) => ({ key, value })));
}
