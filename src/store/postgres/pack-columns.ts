/**
 * Rows for a statement, a parameter a column: each is an array in PostgreSQL's binary format, and `unnest` puts them side
 * by side again. Nothing is escaped, printed or parsed on the way, as JSON would be, and texts that are bytes already
 * stay bytes. NUL, which PostgreSQL does not take, becomes U+FFFD, and so does half a surrogate pair.
 */
import type { TransactionSql } from 'postgres';
import { ARRAY_OF } from './connection.ts';

type Value = string | number | bigint | Uint8Array | null | undefined;

/** A buffer that grows, and what is written next into it. */
interface Packing {
  buffer: Buffer;
  at: number;
}

interface ColumnType {
  oid: number;
  arrayOid: number;
  /** Writes the value and moves on; there is room for `size` bytes. */
  write(packing: Packing, value: never): void;
  size(value: never): number;
}

function putInt32(packing: Packing, value: number): void {
  const { buffer, at } = packing;
  buffer[at] = value >>> 24;
  buffer[at + 1] = value >>> 16;
  buffer[at + 2] = value >>> 8;
  buffer[at + 3] = value;
  packing.at = at + 4;
}

const WIDE = 2 ** 32;

function putInt64(packing: Packing, value: number | bigint): void {
  if (typeof value === 'bigint') {
    packing.at = packing.buffer.writeBigInt64BE(value, packing.at);
    return;
  }
  const high = Math.floor(value / WIDE);
  putInt32(packing, high);
  putInt32(packing, value - high * WIDE);
}

function putText(packing: Packing, value: string | Uint8Array): void {
  if (typeof value !== 'string') {
    if (value.includes(0)) putText(packing, Buffer.from(value).toString());
    else putBytes(packing, value);
    return;
  }
  const text = value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  packing.at += packing.buffer.write(text, packing.at);
}

function putBytes(packing: Packing, value: Uint8Array): void {
  packing.buffer.set(value, packing.at);
  packing.at += value.length;
}

function putUuid(packing: Packing, value: string): void {
  packing.at += packing.buffer.write(value.replaceAll('-', ''), packing.at, 'hex');
}

const TYPES = {
  int2: {
    oid: 21,
    arrayOid: ARRAY_OF.int2,
    write(packing: Packing, value: number) {
      packing.at = packing.buffer.writeInt16BE(value, packing.at);
    },
    size: () => 2,
  },
  int4: { oid: 23, arrayOid: ARRAY_OF.int4, write: putInt32, size: () => 4 },
  int8: { oid: 20, arrayOid: ARRAY_OF.int8, write: putInt64, size: () => 8 },
  float8: {
    oid: 701,
    arrayOid: ARRAY_OF.float8,
    write(packing: Packing, value: number) {
      packing.at = packing.buffer.writeDoubleBE(value, packing.at);
    },
    size: () => 8,
  },
  text: {
    oid: 25,
    arrayOid: ARRAY_OF.text,
    write: putText,
    size: (value: string | Uint8Array) =>
      typeof value === 'string' || value.includes(0) ? 3 * value.length : value.length,
  },
  bytea: { oid: 17, arrayOid: ARRAY_OF.bytea, write: putBytes, size: (value: Uint8Array) => value.length },
  uuid: { oid: 2950, arrayOid: ARRAY_OF.uuid, write: putUuid, size: () => 16 },
} satisfies Record<string, ColumnType>;

export type Columns = readonly (readonly [name: string, type: keyof typeof TYPES])[];

/** FROM-clause of rows whose columns are given from that parameter on: `unpacked(2, COLUMNS, 'r')`. */
export function unpacked(first: number, columns: Columns, name: string): string {
  const arrays = columns.map(([, type], i) => `$${first + i}::${type}[]`);
  return `unnest(${arrays.join(', ')}) AS ${name}(${columns.map(([column]) => column).join(', ')})`;
}

/** The parameters for `unpacked`. There must be a row, and a column without NULL. */
export function packed<Row extends object>(
  tx: TransactionSql,
  columns: Columns,
  rows: readonly Row[],
): unknown[] {
  return columns.map(([name, type]) => {
    const column = packColumn(type, rows as readonly Record<string, Value>[], name);
    return column === null ? null : tx.typed(column as never, TYPES[type].arrayOid);
  });
}

const HEADER_BYTES = 20;
const ROOM_A_VALUE = 12;

/** Null for a column without any value: `unnest` fills it up with NULL. */
function packColumn(
  type: keyof typeof TYPES,
  rows: readonly Record<string, Value>[],
  name: string,
): Buffer | null {
  const { oid, write, size }: ColumnType = TYPES[type];
  const packing: Packing = { buffer: Buffer.allocUnsafe(HEADER_BYTES + rows.length * ROOM_A_VALUE), at: 0 };
  // One dimension, NULLs allowed, of that type, so many, counted from 1.
  for (const value of [1, 1, oid, rows.length, 1]) putInt32(packing, value);
  let isEmpty = true;
  for (const row of rows) {
    const value = row[name];
    if (value === null || value === undefined) {
      reserve(packing, 4);
      putInt32(packing, -1);
      continue;
    }
    isEmpty = false;
    reserve(packing, 4 + size(value as never));
    const start = packing.at;
    packing.at += 4;
    write(packing, value as never);
    const end = packing.at;
    packing.at = start;
    putInt32(packing, end - start - 4);
    packing.at = end;
  }
  return isEmpty ? null : packing.buffer.subarray(0, packing.at);
}

function reserve(packing: Packing, bytes: number): void {
  const { buffer, at } = packing;
  if (at + bytes <= buffer.length) return;
  packing.buffer = Buffer.allocUnsafe(Math.max(at + bytes, buffer.length * 2));
  buffer.copy(packing.buffer, 0, 0, at);
}
