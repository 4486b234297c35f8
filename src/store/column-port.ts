/**
 * A store's tables as columns, for programs that think in columns (SQL in DuckDB): only the columns that were asked for are
 * read, and rows come in batches in the order of their keys. Every batch is a statement of its own, as in the read side.
 *
 * Values are plain numbers and texts: times are wall milliseconds, booleans 0 and 1, hashes lower-case hex, numbers of 64
 * bits texts, and the links of a page JSON arrays, packed as they are stored.
 */
import type { ProjectRow } from './read-rows.ts';

export const COLUMN_TABLES = [
  'pages',
  'link_sets',
  'visits',
  'page_changes',
  'sitemap_entries',
  'runs',
  'hosts',
] as const;
export type ColumnTable = (typeof COLUMN_TABLES)[number];

export interface ColumnQuestion {
  table: ColumnTable;
  /** As column-sources.ts names them; may be empty. */
  columns: readonly string[];
  /** Null for all. */
  project: string | null;
}

export type ColumnValue = string | number | null;

/** Some rows, never none. */
export interface ColumnBatch {
  rows: number;
  /** In the order of the question. */
  columns: ColumnValue[][];
}

/** A file that is read where it is asked, without a turn of the event loop: for callers that cannot wait. */
export interface ColumnFile {
  projects(): Promise<ProjectRow[]>;
  columns(question: ColumnQuestion): Iterable<ColumnBatch>;
  close(): void;
}

/** Rows of arrays as columns; what stands before `from` in each row is left out. */
export function toColumns(rows: readonly (readonly unknown[])[], from: number): ColumnBatch {
  const width = rows[0].length - from;
  const columns: ColumnValue[][] = [];
  for (let at = 0; at < width; at++) {
    const column = new Array<ColumnValue>(rows.length);
    for (let row = 0; row < rows.length; row++) column[row] = rows[row][at + from] as ColumnValue;
    columns.push(column);
  }
  return { rows: rows.length, columns };
}
