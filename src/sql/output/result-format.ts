/** Result formats, and how one is written: chunk by chunk in the DuckDB thread, so that only text crosses threads. */
import type { DuckDBDataChunk, DuckDBType } from '@duckdb/node-api';

export const RESULT_FORMATS = ['table', 'json', 'jsonl', 'csv', 'markdown'] as const;
export type ResultFormat = (typeof RESULT_FORMATS)[number];

export interface ResultColumn {
  name: string;
  type: DuckDBType;
}

/** One result on its way to text. The texts together are the whole result, its end of line included. */
export interface ResultWriter {
  chunk(chunk: DuckDBDataChunk): string;
  end(): string;
}

export interface WriterOptions {
  format: ResultFormat;
  columns: readonly ResultColumn[];
  /** Characters of a line, for tables. */
  width: number;
}

export type CreateResultWriter = (options: WriterOptions) => ResultWriter;
