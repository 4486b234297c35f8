/** One row of a CRAWL, as the main thread gives it to the DuckDB thread: plain data, the body as bytes. */
import type { PageState } from '../../frontier/page-state.ts';

export const ERROR_TYPES = [
  'network_timeout',
  'network_dns_failure',
  'network_connection_refused',
  'network_ssl_error',
  'network_error',
  'http_client_error',
  'http_server_error',
  'http_rate_limited',
  'robots_disallowed',
  'content_too_large',
  'content_type_rejected',
  'redirect_error',
  'invalid_url',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

export interface CrawlRow {
  /** The normalized URL; of text that is no URL, the text as given. */
  url: string;
  surtKey: string | null;
  httpStatus: number | null;
  contentType: string | null;
  /** Wall milliseconds. */
  crawlTime: number;
  error: string | null;
  errorType: ErrorType | null;
  etag: string | null;
  lastModified: string | null;
  /** Lower-case hex. */
  contentHash: string | null;
  finalUrl: string | null;
  redirectCount: number | null;
  elapsedMs: number | null;
  title: string | null;
  depth: number | null;
  /** The text of the input that this row answers. */
  inputUrl: string | null;
  state: PageState;
  /** The decoded body; absent where the table has no use for it, where there is none and where noindex forbids it. */
  body: Uint8Array | null;
  /** The encoding by which the body was read; null where it is not known. */
  charset: string | null;
  headers: readonly (readonly [name: string, value: string])[] | null;
  /** The main text in UTF-8. */
  text: Uint8Array | null;
  h1: string | null;
  metaDescription: string | null;
  lang: string | null;
  canonical: string | null;
  wordCount: number | null;
}
