/** Lists and changes written to a stream of the program, in the formats of the command line. */
import type { Writable } from 'node:stream';
import { type ChangeFormat, changePieces } from '../export/change-pieces.ts';
import { PAGE_COLUMNS, PAGE_NAMES } from '../export/list-columns.ts';
import { parquetPieces } from '../export/parquet-pieces.ts';
import { type ListFormat, rowPieces } from '../export/row-pieces.ts';
import { tellChanges, tellDifferences, tellHistory } from '../export/tellable-changes.ts';
import { writePieces } from '../export/write-pieces.ts';
import type { Differences } from '../project/compare-two-runs.ts';
import type { Changes, PageHistory } from '../project/list-changes.ts';
import type { PageRow } from '../store/read-side.ts';

/** For rows of any kind: a line or an object each. */
export type RowFormat = Exclude<ListFormat, 'table'>;

export interface RowsToWrite<Row> {
  /** One at a time or some at a time. */
  readonly rows: AsyncIterable<Row | readonly Row[]>;
  readonly format: RowFormat;
  /** The columns of CSV, in order; JSON has every one. */
  readonly names: readonly (keyof Row & string)[];
  /** Begin CSV with a byte order mark, for Excel. */
  readonly bom?: boolean;
}

/** Waits while the reader is slow, and leaves the stream open. */
export async function writeRows<Row extends object>(list: RowsToWrite<Row>, out: Writable): Promise<void> {
  await writePieces(rowPieces({ ...list, columns: [] }), out);
}

/** Pages with every column, also as Parquet. */
export async function writePages(
  rows: AsyncIterable<PageRow>,
  format: RowFormat | 'parquet',
  out: Writable,
): Promise<void> {
  if (format === 'parquet') return await writePieces(parquetPieces(rows, PAGE_COLUMNS), out);
  await writeRows({ rows, format, names: PAGE_NAMES }, out);
}

/** As `sumi changes` and `sumi compare` write them: text, tables, Markdown, a page to look at. */
export async function writeChanges(
  found: Changes | PageHistory | Differences,
  format: ChangeFormat,
  out: Writable,
): Promise<void> {
  await writePieces(changePieces(tell(found), { format }), out);
}

function tell(found: Changes | PageHistory | Differences) {
  if ('page' in found) return tellHistory(found);
  return 'second' in found ? tellDifferences(found) : tellChanges(found);
}
