/**
 * How a function inside DuckDB gets rows that only the main thread can make (a crawl, a sitemap, rows of PostgreSQL). Such
 * functions are synchronous: `next` holds the DuckDB thread until the main thread has sent rows, and serves batches of
 * background crawls meanwhile. Types only: what a feed is asked for, and what it answers.
 */

/** Each kind has its maker in the main thread (src/sql/feeds/). */
export interface FeedRequest {
  kind: string;
  /** Structured-clone data. */
  args: unknown;
}

export interface Feed {
  /** The next batch of rows (structured-clone data, as the maker gave them); null at the end. Throws what made it fail. */
  next(): unknown[] | null;
  /** Ends it early: the maker stops. Calling it again does nothing. */
  close(): void;
}

export interface MainThread {
  open(request: FeedRequest): Feed;
}

/** The maker's side, in the main thread. Each value is one batch; returning ends the feed, throwing fails it. */
export type FeedMaker = (args: never, signal: AbortSignal) => AsyncIterable<unknown[]>;
