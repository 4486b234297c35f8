/** The columns of crawl() and the fields of fetch(): their types, and how a row has them. */
import {
  DuckDBMapValue,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  INTEGER,
  MAP,
  TIMESTAMP,
  VARCHAR,
} from '@duckdb/node-api';
import type { BodyReader } from '../table/body-text.ts';
import type { CrawlRow } from '../table/crawl-row.ts';

export interface RowColumn<Row> {
  name: string;
  type: DuckDBType;
  of: (row: Row) => DuckDBValue;
}

const HEADERS_TYPE = MAP(VARCHAR, VARCHAR);

export function crawlColumns(bodyOf: BodyReader): readonly RowColumn<CrawlRow>[] {
  const text = (name: string, of: (row: CrawlRow) => string | null) => ({ name, type: VARCHAR, of });
  const whole = (name: string, of: (row: CrawlRow) => number | null) => ({ name, type: INTEGER, of });
  return [
    text('url', ({ url }) => url),
    text('surt_key', ({ surtKey }) => surtKey),
    whole('http_status', ({ httpStatus }) => httpStatus),
    text('body', (row) => bodyTextOf(row, bodyOf)),
    text('content_type', ({ contentType }) => contentType),
    { name: 'crawl_time', type: TIMESTAMP, of: ({ crawlTime }) => timestampOf(crawlTime) },
    text('error', ({ error }) => error),
    text('error_type', ({ errorType }) => errorType),
    text('etag', ({ etag }) => etag),
    text('last_modified', ({ lastModified }) => lastModified),
    text('content_hash', ({ contentHash }) => contentHash),
    text('final_url', ({ finalUrl }) => finalUrl),
    whole('redirect_count', ({ redirectCount }) => redirectCount),
    whole('elapsed_ms', ({ elapsedMs }) => elapsedMs),
    text('title', ({ title }) => title),
    whole('depth', ({ depth }) => depth),
    text('input_url', ({ inputUrl }) => inputUrl),
    text('state', ({ state }) => state),
    text('text', ({ text: bytes }) => utf8Of(bytes)),
    text('h1', ({ h1 }) => h1),
    text('meta_description', ({ metaDescription }) => metaDescription),
    text('lang', ({ lang }) => lang),
    text('canonical', ({ canonical }) => canonical),
    whole('word_count', ({ wordCount }) => wordCount),
    { name: 'headers', type: HEADERS_TYPE, of: ({ headers }) => mapOf(headers) },
  ];
}

/** Null for a binary body, and where there is none. */
export function bodyTextOf({ body, contentType, charset }: CrawlRow, read: BodyReader): string | null {
  return body === null ? null : read({ body, contentType, charset });
}

function timestampOf(milliseconds: number): DuckDBTimestampValue {
  return new DuckDBTimestampValue(BigInt(Math.round(milliseconds)) * 1000n);
}

function utf8Of(bytes: Uint8Array | null): string | null {
  if (bytes === null) return null;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

function mapOf(headers: CrawlRow['headers']): DuckDBValue {
  return headers === null ? null : new DuckDBMapValue(headers.map(([key, value]) => ({ key, value })));
}
