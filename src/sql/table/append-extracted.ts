/**
 * Values that EXTRACT found, on their way into a column. What does not fit the column's type is NULL, because a page is
 * never a mistake of the statement. DuckDB's own casts are not asked what a text means: they drop the offset of a time,
 * round numbers and take words such as `epoch`. They are given the value in the one way of writing it that they keep.
 */
import { type DuckDBAppender, LIST, listValue, VARCHAR } from '@duckdb/node-api';
import {
  convertValue,
  type TypedValue,
  type ValueType,
  valueTypeOf,
} from '../../parse/extract/typed-value.ts';

const TEXTS = LIST(VARCHAR);
const DAY_MS = 86_400_000;
const MICROSECONDS = 1_000_000n;

/** Each family's way of writing a value. */
const WRITERS: Readonly<Record<ValueType['family'], (value: never, type: never) => string>> = {
  text: String,
  json: String,
  boolean: String,
  integer: String,
  float: String,
  decimal: (value: bigint, { scale }: { scale: number }) => decimalText(value, scale),
  date: (days: number) => new Date(days * DAY_MS).toISOString().slice(0, 10),
  timestamp: (microseconds: bigint) => timestampText(microseconds),
  list: () => '',
};

/** False where the value is none, or none of that type. */
export function appendExtracted(appender: DuckDBAppender, value: unknown, typeName: string): boolean {
  const type = valueTypeOf(typeName);
  if (value === null || value === undefined || type === null) return false;
  const converted = convertValue(value as never, type).value;
  if (converted === null) return false;
  try {
    if (type.family === 'list') {
      const texts = (converted as TypedValue[]).map((one) => (one === null ? null : textOf(one, type.of)));
      appender.appendList(listValue(texts), TEXTS);
    } else appender.appendVarchar(textOf(converted, type));
    return true;
  } catch {
    // A year that the column's type cannot hold.
    return false;
  }
}

function textOf(value: TypedValue, type: ValueType): string {
  return WRITERS[type.family](value as never, type as never);
}

function decimalText(value: bigint, scale: number): string {
  const digits = (value < 0n ? -value : value).toString().padStart(scale + 1, '0');
  const [whole, fraction] = [digits.slice(0, digits.length - scale), digits.slice(digits.length - scale)];
  return `${value < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** In UTC, and says so: a column with a time zone would take it for the session's. */
function timestampText(microseconds: bigint): string {
  const part = ((microseconds % MICROSECONDS) + MICROSECONDS) % MICROSECONDS;
  const second = new Date(Number((microseconds - part) / 1000n)).toISOString().slice(0, 19);
  return `${second.replace('T', ' ')}.${part.toString().padStart(6, '0')}+00`;
}
