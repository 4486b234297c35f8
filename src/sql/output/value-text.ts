/**
 * Values as text for people and for CSV: what CAST(value AS VARCHAR) gives in DuckDB, type by type. NULL is for the
 * caller; inside of lists and structs it is the word. Never rounds, never cuts.
 */
import {
  type DuckDBArrayValue,
  type DuckDBBlobValue,
  type DuckDBDateValue,
  type DuckDBGeometryValue,
  type DuckDBListValue,
  type DuckDBMapValue,
  type DuckDBStructValue,
  type DuckDBTimestampTZValue,
  type DuckDBTimestampValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBUnionValue,
  type DuckDBValue,
  type DuckDBVariantValue,
} from '@duckdb/node-api';
import { geometryText } from './geometry-text.ts';
import { doubleText, floatText } from './number-text.ts';
import { entryKeys, isTuple } from './read-item.ts';
import { dateText, otherTimeText, timestampText } from './temporal-text.ts';
import type { ZonedText } from './zoned-time.ts';

/** Of a value that is not NULL. */
export type Encode = (value: DuckDBValue) => string;

export const isJson = (type: DuckDBType) => type.typeId === DuckDBTypeId.VARCHAR && type.alias === 'JSON';

export function textEncoder(type: DuckDBType, zoned: ZonedText): Encode {
  const of = (part: DuckDBType) => textEncoder(part, zoned);
  /** Of a part: text that could be taken for the punctuation around it gets quotes. */
  const partOf = (part: DuckDBType): Encode => {
    const encode = of(part);
    const whole: Encode = holdsParts(part) ? encode : (value) => quoteIfNeeded(encode(value));
    return (value) => (value === null ? 'NULL' : whole(value));
  };
  switch (type.typeId) {
    case DuckDBTypeId.VARCHAR:
    case DuckDBTypeId.ENUM:
      return (value) => value as string;
    case DuckDBTypeId.FLOAT:
      return (value) => floatText(value as number);
    case DuckDBTypeId.DOUBLE:
      return (value) => doubleText(value as number);
    case DuckDBTypeId.DATE:
      return (value) => dateText(value as DuckDBDateValue);
    case DuckDBTypeId.TIMESTAMP:
      return (value) => timestampText(value as DuckDBTimestampValue);
    case DuckDBTypeId.TIMESTAMP_S:
    case DuckDBTypeId.TIMESTAMP_MS:
    case DuckDBTypeId.TIMESTAMP_NS:
      return (value) => otherTimeText(value as object);
    case DuckDBTypeId.BLOB:
      return (value) => blobText((value as DuckDBBlobValue).bytes);
    case DuckDBTypeId.TIMESTAMP_TZ:
      return (value) => zoned(value as DuckDBTimestampTZValue);
    case DuckDBTypeId.GEOMETRY:
      return (value) => geometryText((value as DuckDBGeometryValue).bytes);
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY: {
      // DuckDB leaves JSON as it is in a list, though not in a struct.
      const encode = of(type.valueType);
      const item: Encode = isJson(type.valueType)
        ? (value) => (value === null ? 'NULL' : encode(value))
        : partOf(type.valueType);
      return (value) => `[${(value as DuckDBListValue | DuckDBArrayValue).items.map(item).join(', ')}]`;
    }
    case DuckDBTypeId.STRUCT: {
      const keys = entryKeys(type);
      const parts = type.entryTypes.map(partOf);
      const names = isTuple(type) ? keys.map(() => '') : keys.map((key) => `${quote(key)}: `);
      const [open, close] = isTuple(type) ? '()' : '{}';
      return (value) => {
        const { entries } = value as DuckDBStructValue;
        return `${open}${keys.map((key, i) => names[i] + parts[i](entries[key])).join(', ')}${close}`;
      };
    }
    case DuckDBTypeId.MAP: {
      const [key, item] = [partOf(type.keyType), partOf(type.valueType)];
      return (value) => {
        const pairs = (value as DuckDBMapValue).entries;
        return `{${pairs.map((pair) => `${key(pair.key)}=${item(pair.value)}`).join(', ')}}`;
      };
    }
    case DuckDBTypeId.UNION: {
      const members = new Map(type.memberTags.map((tag, i) => [tag, of(type.memberTypes[i])]));
      return (value) => {
        const { tag, value: inner } = value as DuckDBUnionValue;
        return inner === null ? 'NULL' : members.get(tag)!(inner);
      };
    }
    case DuckDBTypeId.VARIANT:
      return (value) => {
        const { type: inner, value: held } = value as DuckDBVariantValue;
        return held === null || inner === undefined ? String(held ?? 'NULL') : of(inner)(held);
      };
    default:
      return String;
  }
}

/** All but plain letters and signs as \\xFF; the backslash too, or nobody could tell what it begins. */
function blobText({ buffer, byteOffset, length }: Uint8Array): string {
  const letters = Buffer.from(buffer, byteOffset, length).toString('latin1');
  return letters.replace(
    /[^ !#-&(-[\]-~]/g,
    (letter) => `\\x${letter.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}

function holdsParts(type: DuckDBType): boolean {
  switch (type.typeId) {
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY:
    case DuckDBTypeId.STRUCT:
    case DuckDBTypeId.MAP:
    case DuckDBTypeId.UNION:
    case DuckDBTypeId.VARIANT:
      return true;
    default:
      return false;
  }
}

const PUNCTUATION = /["'(),:=[\]{}]/;
const SPACE_AT_END = /^[ \t-\r]|[ \t-\r]$/;

function quoteIfNeeded(text: string): string {
  const isPlain =
    text !== '' && !PUNCTUATION.test(text) && !SPACE_AT_END.test(text) && text.toLowerCase() !== 'null';
  return isPlain ? text : quote(text);
}

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`;
}
