/**
 * Rows for a statement, a parameter a column: each is an array in PostgreSQL's binary format, and `unnest` puts them side
 * by side again. No value is escaped, printed or parsed on the way, as in JSON, and texts that are bytes already stay
 * bytes. What PostgreSQL does not take as text (NUL, half a surrogate pair, bytes that are no UTF-8) becomes U+FFFD;
 * a number that is none (NaN, Infinity) becomes NULL; one that does not fit its column is an error here.
 */
import { isUtf8 } from 'node:buffer';
import { endianness } from 'node:os';
import type { Sql, TransactionSql } from 'postgres';
import { ARRAY_OF } from './connection.ts';

type Value = string | number | bigint | boolean | Uint8Array | null | undefined;

/** A buffer that grows, and what is written next into it. */
interface Packing {
  buffer: Buffer;
  at: number;
}

interface ColumnType {
  /** The type in PostgreSQL, where it has another name here. */
  cast?: string;
  oid: number;
  arrayOid: number;
  /** Writes the value and moves on; there is room for `size` bytes. */
  write(packing: Packing, value: never): void;
  size(value: never): number;
}

/** Of 32 bits; larger ones are cut. */
function putWord(packing: Packing, value: number): void {
  const { buffer, at } = packing;
  buffer[at] = value >>> 24;
  buffer[at + 1] = value >>> 16;
  buffer[at + 2] = value >>> 8;
  buffer[at + 3] = value;
  packing.at = at + 4;
}

function putInt32(packing: Packing, value: number): void {
  if ((value | 0) !== value) throw new RangeError(`${value} is no integer of 32 bits`);
  putWord(packing, value);
}

const WIDE = 2 ** 32;

function putInt64(packing: Packing, value: number | bigint): void {
  if (typeof value === 'bigint') {
    packing.at = packing.buffer.writeBigInt64BE(value, packing.at);
    return;
  }
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is no integer that a number can hold`);
  const high = Math.floor(value / WIDE);
  putWord(packing, high);
  putWord(packing, value - high * WIDE);
}

function putInt16(packing: Packing, value: number): void {
  if ((value << 16) >> 16 !== value) throw new RangeError(`${value} is no integer of 16 bits`);
  packing.at = packing.buffer.writeInt16BE(value, packing.at);
}

function putText(packing: Packing, value: string | Uint8Array): void {
  if (typeof value !== 'string') {
    if (isStorable(value)) putBytes(packing, value);
    else putDecoded(packing, value);
    return;
  }
  const text = value.includes('\0') ? value.replaceAll('\0', '\ufffd') : value;
  packing.at += packing.buffer.write(text, packing.at);
}

/** Each byte that is none of UTF-8 becomes a character of three. */
function putDecoded(packing: Packing, value: Uint8Array): void {
  reserve(packing, 3 * value.length);
  putText(packing, Buffer.from(value).toString());
}

function isStorable(text: Uint8Array): boolean {
  // As a Buffer's: ten times as fast as the array's own.
  return Buffer.prototype.indexOf.call(text, 0) === -1 && isUtf8(text);
}

function putBytes(packing: Packing, value: Uint8Array): void {
  packing.buffer.set(value, packing.at);
  packing.at += value.length;
}

const TYPES = {
  int2: { oid: 21, arrayOid: ARRAY_OF.int2, write: putInt16, size: () => 2 },
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
    size: (value: string | Uint8Array) => (typeof value === 'string' ? 3 * value.length : value.length),
  },
  bytea: { oid: 17, arrayOid: ARRAY_OF.bytea, write: putBytes, size: (value: Uint8Array) => value.length },
  uuid: { oid: 2950, arrayOid: ARRAY_OF.uuid, write: putBytes, size: () => 16 },
  /** Of a boolean. */
  flag: {
    cast: 'int2',
    oid: 21,
    arrayOid: ARRAY_OF.int2,
    write: (packing: Packing, value: boolean) => putInt16(packing, value ? 1 : 0),
    size: () => 2,
  },
  /** Wall milliseconds, rounded. */
  time: {
    cast: 'int8',
    oid: 20,
    arrayOid: ARRAY_OF.int8,
    write: (packing: Packing, value: number) => putInt64(packing, Math.round(value)),
    size: () => 8,
  },
} satisfies Record<string, ColumnType>;

export type ColumnWord = keyof typeof TYPES;

/** `key`: the property of a row that holds the value, where it has another name. */
export type Columns = readonly (readonly [name: string, type: ColumnWord, key?: string])[];

const castOf = (type: ColumnWord): string => (TYPES[type] as ColumnType).cast ?? type;

/** FROM-clause of rows whose columns are given from that parameter on: `unpacked(2, COLUMNS, 'r')`. */
export function unpacked(first: number, columns: Columns, name: string): string {
  const arrays = columns.map(([, type], i) => `$${first + i}::${castOf(type)}[]`);
  return `unnest(${arrays.join(', ')}) AS ${name}(${columns.map(([column]) => column).join(', ')})`;
}

/** As `unpacked`, without the rows whose places, counted from 1, stand in the parameter behind. */
export function unpackedBut(first: number, columns: Columns, name: string): string {
  const list = unpacked(first, columns, name)
    .replace(' AS ', ' WITH ORDINALITY AS ')
    .replace(/\)$/, ', place)');
  return `${list} WHERE ${name}.place <> ALL ($${first + columns.length}::int8[])`;
}

/** The parameters for `unpacked`. There must be a row, and a column without NULL. */
export function packed<Row extends object>(
  tx: Sql | TransactionSql,
  columns: Columns,
  rows: readonly Row[],
): unknown[] {
  const list = new PackedRows(columns);
  for (const row of rows) list.add(row);
  return list.parameters(tx);
}

/** One list of numbers, as `int4[]`. */
export function packedNumbers(tx: TransactionSql, numbers: Int32Array): unknown {
  const { oid, arrayOid } = TYPES.int4;
  const words = new Int32Array(5 + numbers.length * 2);
  words.set([1, 0, oid, numbers.length, 1]);
  for (let i = 0; i < numbers.length; i++) {
    words[5 + 2 * i] = 4;
    words[6 + 2 * i] = numbers[i];
  }
  const bytes = Buffer.from(words.buffer);
  if (IS_LITTLE_ENDIAN) bytes.swap32();
  return tx.typed(bytes as never, arrayOid);
}

const IS_LITTLE_ENDIAN = endianness() === 'LE';
const HEADER_BYTES = 20;
const FIRST_BYTES = 1024;

/** Rows that are packed as they come: nothing of them is kept but their bytes. */
export class PackedRows {
  count = 0;
  readonly #keys: readonly string[];
  readonly #ofFirst: number;
  readonly #types: readonly ColumnType[];
  readonly #packings: Packing[];
  /** Where the columns' last whole row ends. */
  readonly #ends: Int32Array;
  /** Whether the column has a value. */
  readonly #isFilled: Uint8Array;

  /** The first `ofFirst` columns, or all, are read from the first object of a row, the rest from the second. */
  constructor(columns: Columns, ofFirst = columns.length) {
    this.#keys = columns.map(([name, , key]) => key ?? name);
    this.#ofFirst = ofFirst;
    this.#types = columns.map(([, type]) => TYPES[type]);
    this.#packings = columns.map(() => ({ buffer: Buffer.allocUnsafe(FIRST_BYTES), at: HEADER_BYTES }));
    this.#ends = new Int32Array(columns.length).fill(HEADER_BYTES);
    this.#isFilled = new Uint8Array(columns.length);
  }

  /** Answers the row's place, counted from 1. A row with a value that does not fit leaves nothing behind. */
  add(row: object, rest: object = row): number {
    try {
      this.#put(row, 0, this.#ofFirst);
      this.#put(rest, this.#ofFirst, this.#keys.length);
    } catch (error) {
      for (const [i, packing] of this.#packings.entries()) packing.at = this.#ends[i];
      throw error;
    }
    for (let i = 0; i < this.#packings.length; i++) this.#ends[i] = this.#packings[i].at;
    this.count++;
    return this.count;
  }

  #put(row: object, from: number, to: number): void {
    for (let i = from; i < to; i++) {
      const value = (row as Record<string, Value>)[this.#keys[i]];
      const packing = this.#packings[i];
      if (value === null || value === undefined || (typeof value === 'number' && !Number.isFinite(value))) {
        reserve(packing, 4);
        putWord(packing, -1);
      } else {
        this.#isFilled[i] = 1;
        putValue(packing, this.#types[i], value as never);
      }
    }
  }

  /** Good until the next row is added. A column without any value is NULL: `unnest` fills it up. */
  parameters(tx: Sql | TransactionSql): unknown[] {
    return this.#types.map(({ oid, arrayOid }, i) => {
      const { buffer, at } = this.#packings[i];
      // One dimension, NULLs allowed, of that type, so many, counted from 1.
      const header = { buffer, at: 0 };
      for (const value of [1, 1, oid, this.count, 1]) putWord(header, value);
      const column = this.#isFilled[i] === 1 ? buffer.subarray(0, at) : null;
      // With its type also where it is NULL: the driver prepares a statement anew for other types.
      return tx.typed(column as never, arrayOid);
    });
  }

  /** Its memory is used again. */
  clear(): void {
    this.count = 0;
    this.#isFilled.fill(0);
    this.#ends.fill(HEADER_BYTES);
    for (const packing of this.#packings) packing.at = HEADER_BYTES;
  }
}

function putValue(packing: Packing, { write, size }: ColumnType, value: never): void {
  reserve(packing, 4 + size(value));
  const start = packing.at;
  packing.at += 4;
  write(packing, value);
  const end = packing.at;
  packing.at = start;
  putWord(packing, end - start - 4);
  packing.at = end;
}

function reserve(packing: Packing, bytes: number): void {
  const { buffer, at } = packing;
  if (at + bytes <= buffer.length) return;
  packing.buffer = Buffer.allocUnsafe(Math.max(at + bytes, buffer.length * 2));
  buffer.copy(packing.buffer, 0, 0, at);
}
