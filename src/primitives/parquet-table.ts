/** Writes a Parquet file one row group at a time, so that only one group is in memory. */
import { ByteWriter, ParquetWriter } from 'hyparquet-writer';

const TYPES = {
  string: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  integer: { type: 'INT32' },
  number: { type: 'DOUBLE' },
  /** Cells are of the type bigint. */
  long: { type: 'INT64' },
  boolean: { type: 'BOOLEAN' },
} as const satisfies Record<string, object>;

export type ParquetType = keyof typeof TYPES;

export interface ParquetColumn {
  readonly name: string;
  readonly type: ParquetType;
  readonly isNullable: boolean;
}

export type ParquetCell = string | number | bigint | boolean | null;

/** Each call returns the bytes that it adds to the file. */
export function openParquetTable(columns: readonly ParquetColumn[]) {
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: [
      { name: 'root', num_children: columns.length },
      ...columns.map(({ name, type, isNullable }) => ({
        name,
        ...TYPES[type],
        repetition_type: isNullable ? ('OPTIONAL' as const) : ('REQUIRED' as const),
      })),
    ],
  });
  /** The writer continues to count from its last position. */
  const taken = () => {
    const bytes = writer.getBytes().slice();
    writer.index = 0;
    return bytes;
  };
  return {
    write(data: ParquetCell[][]): Uint8Array {
      const columnData = columns.map(({ name }, i) => ({ name, data: data[i], offsetIndex: false }));
      void parquet.write({ columnData, rowGroupSize: data[0].length });
      return taken();
    },
    finish(): Uint8Array {
      void parquet.finish();
      return taken();
    },
  };
}
