/**
 * Values as data that JSON holds without loss: whole numbers up to 2^53 and doubles are numbers, all other numbers text, as
 * are NaN and the infinities. Times are ISO 8601 in UTC, bytes base64. Lists are arrays, STRUCTs and MAPs objects, a UNION an
 * object with its tag. All else is the text that DuckDB casts to.
 */
import {
  type DuckDBArrayValue,
  type DuckDBBlobValue,
  type DuckDBListValue,
  type DuckDBMapValue,
  type DuckDBStructValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBUnionValue,
  type DuckDBValue,
  type DuckDBVariantValue,
} from '@duckdb/node-api';
import { entryKeys, isTuple } from '../output/read-item.ts';
import { isJson, textEncoder } from '../output/value-text.ts';
import { createZonedText } from '../output/zoned-time.ts';

/** Of a value that is not NULL. */
export type ToData = (value: DuckDBValue) => unknown;

const UTC = createZonedText('UTC');

const whole = (value: DuckDBValue): number | string => {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
};

/** `2026-01-02 03:04:05.678`, with or without an offset of zero; what has no such form (infinity, years BC) stays. */
const isoTime = (text: string): string => {
  const [, date, time] = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)(?:\+00)?$/.exec(text) ?? [];
  return date === undefined ? text : `${date}T${time}Z`;
};

const BY_TYPE: Partial<Record<DuckDBTypeId, ToData>> = {
  [DuckDBTypeId.BOOLEAN]: (value) => value,
  [DuckDBTypeId.TINYINT]: whole,
  [DuckDBTypeId.SMALLINT]: whole,
  [DuckDBTypeId.INTEGER]: whole,
  [DuckDBTypeId.BIGINT]: whole,
  [DuckDBTypeId.UTINYINT]: whole,
  [DuckDBTypeId.USMALLINT]: whole,
  [DuckDBTypeId.UINTEGER]: whole,
  [DuckDBTypeId.UBIGINT]: whole,
  [DuckDBTypeId.HUGEINT]: whole,
  [DuckDBTypeId.UHUGEINT]: whole,
  [DuckDBTypeId.BIGNUM]: whole,
  [DuckDBTypeId.BLOB]: (value) => Buffer.from((value as DuckDBBlobValue).bytes).toString('base64'),
};

const DOUBLES: ReadonlySet<DuckDBTypeId> = new Set([DuckDBTypeId.FLOAT, DuckDBTypeId.DOUBLE]);

const TIMES: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TIMESTAMP,
  DuckDBTypeId.TIMESTAMP_S,
  DuckDBTypeId.TIMESTAMP_MS,
  DuckDBTypeId.TIMESTAMP_NS,
  DuckDBTypeId.TIMESTAMP_TZ,
]);

export function dataEncoder(type: DuckDBType): ToData {
  const partOf = (part: DuckDBType): ToData => {
    const encode = dataEncoder(part);
    return (value) => (value === null ? null : encode(value));
  };
  const text = textEncoder(type, UTC);
  if (TIMES.has(type.typeId)) return (value) => isoTime(text(value));
  if (DOUBLES.has(type.typeId)) return (value) => (Number.isFinite(value) ? value : text(value));
  if (isJson(type)) return (value) => readJson(value as string);
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY: {
      const item = partOf(type.valueType);
      return (value) => (value as DuckDBListValue | DuckDBArrayValue).items.map(item);
    }
    case DuckDBTypeId.STRUCT: {
      const keys = entryKeys(type);
      const parts = type.entryTypes.map(partOf);
      return (value) => {
        const { entries } = value as DuckDBStructValue;
        const values = keys.map((key, place) => parts[place](entries[key]));
        return isTuple(type) ? values : Object.fromEntries(keys.map((key, place) => [key, values[place]]));
      };
    }
    case DuckDBTypeId.MAP: {
      const [key, item] = [textEncoder(type.keyType, UTC), partOf(type.valueType)];
      return (value) =>
        Object.fromEntries(
          (value as DuckDBMapValue).entries.map((pair) => [key(pair.key), item(pair.value)]),
        );
    }
    case DuckDBTypeId.UNION: {
      const members = new Map(type.memberTags.map((tag, at) => [tag, partOf(type.memberTypes[at])]));
      return (value) => {
        const { tag, value: inner } = value as DuckDBUnionValue;
        return { [tag]: members.get(tag)!(inner) };
      };
    }
    case DuckDBTypeId.VARIANT:
      return (value) => {
        const { type: inner, value: held } = value as DuckDBVariantValue;
        return held === null || inner === undefined ? null : dataEncoder(inner)(held);
      };
    default:
      return BY_TYPE[type.typeId] ?? text;
  }
}

/** A number of so many digits would lose some: such a text stays as it is, and so does what only DuckDB takes for JSON. */
const MANY_DIGITS = /\d{16}/;

function readJson(text: string): unknown {
  if (MANY_DIGITS.test(text)) return text;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
