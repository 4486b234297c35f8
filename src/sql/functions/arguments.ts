/**
 * Arguments of functions as plain values. Functions take any type, so that a text and a list of texts both do; what they
 * cannot use is an error that says what was given and what was expected.
 */
import {
  DuckDBArrayValue,
  DuckDBBlobValue,
  type DuckDBDataChunk,
  DuckDBDecimalValue,
  DuckDBListValue,
  DuckDBMapValue,
  DuckDBStructValue,
  type DuckDBValue,
} from '@duckdb/node-api';
import { sumiError } from '../../errors.ts';

/** Where an argument stands, for errors. */
export interface ArgumentPlace {
  /** As people write it. */
  call: string;
  name: string;
}

/** A bare NULL has a type of its own, which has no vector and no value. */
const BARE_NULL = /SQLNULL/;

export function orNull<Value>(read: () => Value): Value | null {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && BARE_NULL.test(error.message)) return null;
    throw error;
  }
}

/** The values of one argument, row by row. */
export function readColumn(chunk: DuckDBDataChunk, column: number): (row: number) => DuckDBValue {
  const vector = orNull(() => chunk.getColumnVector(column));
  return vector === null ? () => null : (row) => vector.getItem(row);
}

export function wrongArgument({ call, name }: ArgumentPlace, value: unknown, expected: string): Error {
  return sumiError('sql-failed', {
    problem: `${call} got ${shown(value)} as ${name}; expected ${expected}.`,
    advice: `SELECT function_name, parameters, comment FROM duckdb_functions() explains the functions of Sumi.`,
  });
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? JSON.stringify(value) : String(value);
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}

export function textOf(value: DuckDBValue, place: ArgumentPlace): string | null {
  if (value === null || typeof value === 'string') return value;
  throw wrongArgument(place, value, 'a text');
}

/** HTML may come as the bytes that were received. */
export function pageOf(value: DuckDBValue, place: ArgumentPlace): string | Uint8Array | null {
  if (value === null || typeof value === 'string') return value;
  if (value instanceof DuckDBBlobValue) return value.bytes;
  throw wrongArgument(place, value, 'HTML as text or BLOB');
}

export function wholeOf(value: DuckDBValue, place: ArgumentPlace): number | null {
  if (value === null) return null;
  const number = typeof value === 'bigint' ? Number(value) : value;
  if (typeof number === 'number' && Number.isInteger(number)) return number;
  throw wrongArgument(place, value, 'a whole number');
}

/** One text or a list of them; NULLs are left out. */
export function textsOf(value: DuckDBValue, place: ArgumentPlace): string[] {
  const isList = value instanceof DuckDBListValue || value instanceof DuckDBArrayValue;
  const texts = (isList ? value.items : [value]).filter((item) => item !== null);
  return texts.map((item) => {
    if (typeof item === 'string') return item;
    throw wrongArgument(place, item, 'a text or a list of texts');
  });
}

/** `{name: value, …}` or a MAP. */
export function optionsOf(value: DuckDBValue, place: ArgumentPlace): Record<string, unknown> {
  if (value === null) return {};
  if (value instanceof DuckDBStructValue)
    return Object.fromEntries(Object.entries(value.entries).map(([name, one]) => [name, plainOf(one)]));
  if (value instanceof DuckDBMapValue)
    return Object.fromEntries(value.entries.map((entry) => [String(entry.key), plainOf(entry.value)]));
  throw wrongArgument(place, value, 'options as in {follow_links: true}');
}

function plainOf(value: DuckDBValue): unknown {
  if (value instanceof DuckDBListValue || value instanceof DuckDBArrayValue) return value.items.map(plainOf);
  if (value instanceof DuckDBDecimalValue) return value.toDouble();
  if (typeof value === 'bigint') return Number(value);
  return value === null || typeof value !== 'object' ? value : String(value);
}
