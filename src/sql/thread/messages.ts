/**
 * What the main thread and the DuckDB thread say to each other. The main thread asks, by number; the answer to a question
 * may be preceded by pieces, each of which is asked for (`more`), so that a slow reader holds up the maker.
 */
import type { MessagePort } from 'node:worker_threads';
import type { TravellingError } from '../../primitives/travelling-error.ts';
import type { CrawlRow } from '../table/crawl-row.ts';

export type ToThread = { id: number; verb: string; args: unknown } | { id: number; more: true };

export type FromThread =
  | { ready: true }
  | { progress: number | null }
  | { id: number; piece: unknown }
  | { id: number; answer: unknown }
  | { id: number; error: TravellingError };

/** The thread asks for rows that only the main thread can make, and waits for them (wait-for-main.ts). */
export type ToMaker =
  | { feed: number; kind: string; args: unknown }
  | { feed: number; more: true }
  | { feed: number; close: true };

export type FromMaker =
  | { feed: number; rows: unknown[] }
  | { feed: number; end: true }
  | { feed: number; error: TravellingError };

/** What pages of a crawl wait for. It has a channel of its own: it is done also while the thread waits inside a function. */
export interface RowWork {
  append: { args: CrawlRow[]; answer: Written };
  replace: { args: CrawlRow[]; answer: Written };
  touch: { args: { urls: readonly string[]; at: number }; answer: null };
  judge: { args: readonly string[]; answer: (boolean | null)[] };
}

export interface RowTask<Verb extends keyof RowWork = keyof RowWork> {
  task: number;
  crawl: number;
  verb: Verb;
  args: RowWork[Verb]['args'];
  /** What bodies in it lie in: handed over, and handed back with the answer. */
  buffers: ArrayBuffer[];
}

export interface Written {
  written: number;
  refused: RefusedRow[];
}

export interface RefusedRow {
  url: string;
  error: string;
}

export type RowTaskDone = { task: number; buffers: ArrayBuffer[] } & (
  | { answer: unknown }
  | { error: TravellingError }
);

/** Places in the array that both threads share. */
export const SIGNAL = {
  /** Raised by whoever has sent something to the waiting thread. */
  wake: 0,
  /** The statement with this number (and all before) is to end: what waits for the main thread gives up. */
  interrupted: 1,
  /** The number of the statement that the user's connection is at. */
  statement: 2,
  length: 3,
} as const;

export interface ThreadData {
  signal: SharedArrayBuffer;
  /** Feeds: the thread's requests for rows, and the rows. */
  feeds: MessagePort;
  /** Rows of crawls, and what their pages wait for besides. */
  rows: MessagePort;
}
