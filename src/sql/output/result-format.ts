/** Result formats, and how one is written: chunk by chunk in the DuckDB thread, so that only text crosses threads. */
import type { DuckDBDataChunk, DuckDBType } from '@duckdb/node-api';

export const RESULT_FORMATS = ['table', 'json', 'jsonl', 'csv', 'markdown'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

export interface ResultColumn {
  name: string;
  type: DuckDBType;
}

/**
 * One result on its way to text. The texts together are the whole result, its end of line included. A chunk comes in
 * pieces of bounded length, because its 2,048 rows of page bodies may be longer than the longest string there can be.
 */
export interface ResultWriter {
  chunk(chunk: DuckDBDataChunk): Iterable<string>;
  end(): string;
}

export interface WriterOptions {
  format: ResultFormat;
  columns: readonly ResultColumn[];
  /** Characters of a line, for tables. Without it, lines are as long as their values. */
  width?: number;
  /**
   * The session's TimeZone, for TIMESTAMP WITH TIME ZONE; without it
   * UTC.
   */
  timeZone?: string;
}

export type CreateResultWriter = (options: WriterOptions) => ResultWriter;
