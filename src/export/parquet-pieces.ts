/**
 * A list as a Parquet file, a row group at a time, so that a million rows need no memory. Columns have one type each,
 * whatever the first rows hold; what a row lacks is null.
 */
import { openParquetTable, type ParquetCell, type ParquetType } from '../primitives/parquet-table.ts';

export interface RowColumn<Row> {
  readonly name: keyof Row & string;
  readonly type: ParquetType;
}

const ROWS_A_GROUP = 8_192;

export async function* parquetPieces<Row extends object>(
  rows: AsyncIterable<Row | readonly Row[]>,
  columns: readonly RowColumn<Row>[],
): AsyncGenerator<Uint8Array> {
  const table = openParquetTable(columns.map((column) => ({ ...column, isNullable: true })));
  let group: Row[] = [];
  const write = (some: readonly Row[]) =>
    table.write(columns.map(({ name, type }) => some.map((row) => cellOf(row[name], type))));
  for await (const some of rows) {
    if (Array.isArray(some)) group.push(...(some as readonly Row[]));
    else group.push(some as Row);
    while (group.length >= ROWS_A_GROUP) {
      yield write(group.slice(0, ROWS_A_GROUP));
      group = group.slice(ROWS_A_GROUP);
    }
  }
  if (group.length > 0) yield write(group);
  yield table.finish();
}

function cellOf(value: unknown, type: ParquetType): ParquetCell {
  if (value === null || value === undefined) return null;
  if (type === 'string') return Buffer.from(String(value)).toString();
  if (type === 'boolean') return Boolean(value);
  return type === 'long' ? BigInt(Math.trunc(Number(value))) : Number(value);
}
