/**
 * Values as JSON for programs. Numbers keep all digits, whatever their type, because a reader can always round them.
 * There is no JSON for nan and the infinities: they are null. Lists and ARRAYs are arrays, STRUCTs and MAPs objects, a
 * UNION an object with its tag, a row without names an array. All else is a string, the one that DuckDB casts to.
 */
import {
  type DuckDBArrayValue,
  type DuckDBListValue,
  type DuckDBMapValue,
  type DuckDBStructValue,
  type DuckDBType,
  DuckDBTypeId,
  type DuckDBUnionValue,
  type DuckDBVariantValue,
} from '@duckdb/node-api';
import { jsonText } from './json-text.ts';
import { entryKeys, isTuple } from './read-item.ts';
import { type Encode, isJson, textEncoder } from './value-text.ts';
import type { ZonedText } from './zoned-time.ts';

export function jsonEncoder(type: DuckDBType, zoned: ZonedText): Encode {
  const partOf = (part: DuckDBType): Encode => {
    const encode = jsonEncoder(part, zoned);
    return (value) => (value === null ? 'null' : encode(value));
  };
  switch (type.typeId) {
    case DuckDBTypeId.BOOLEAN:
    case DuckDBTypeId.TINYINT:
    case DuckDBTypeId.SMALLINT:
    case DuckDBTypeId.INTEGER:
    case DuckDBTypeId.BIGINT:
    case DuckDBTypeId.UTINYINT:
    case DuckDBTypeId.USMALLINT:
    case DuckDBTypeId.UINTEGER:
    case DuckDBTypeId.UBIGINT:
    case DuckDBTypeId.HUGEINT:
    case DuckDBTypeId.UHUGEINT:
    case DuckDBTypeId.BIGNUM:
    case DuckDBTypeId.DECIMAL:
      return String;
    case DuckDBTypeId.FLOAT:
    case DuckDBTypeId.DOUBLE: {
      const text = textEncoder(type, zoned);
      return (value) => (Number.isFinite(value) ? text(value) : 'null');
    }
    case DuckDBTypeId.VARCHAR:
      return isJson(type) ? (value) => jsonText(value as string) : JSON.stringify;
    case DuckDBTypeId.LIST:
    case DuckDBTypeId.ARRAY: {
      const item = partOf(type.valueType);
      return (value) => `[${(value as DuckDBListValue | DuckDBArrayValue).items.map(item).join()}]`;
    }
    case DuckDBTypeId.STRUCT: {
      const keys = entryKeys(type);
      const parts = type.entryTypes.map(partOf);
      const names = isTuple(type) ? keys.map(() => '') : keys.map((key) => `${JSON.stringify(key)}:`);
      const [open, close] = isTuple(type) ? '[]' : '{}';
      return (value) => {
        const { entries } = value as DuckDBStructValue;
        return `${open}${keys.map((key, i) => names[i] + parts[i](entries[key])).join()}${close}`;
      };
    }
    case DuckDBTypeId.MAP: {
      const key = textEncoder(type.keyType, zoned);
      const item = partOf(type.valueType);
      return (value) => {
        const pairs = (value as DuckDBMapValue).entries;
        return `{${pairs.map((pair) => `${JSON.stringify(key(pair.key))}:${item(pair.value)}`).join()}}`;
      };
    }
    case DuckDBTypeId.UNION: {
      const members = new Map(type.memberTags.map((tag, i) => [tag, partOf(type.memberTypes[i])]));
      return (value) => {
        const { tag, value: inner } = value as DuckDBUnionValue;
        return `{${JSON.stringify(tag)}:${members.get(tag)!(inner)}}`;
      };
    }
    case DuckDBTypeId.VARIANT:
      return (value) => {
        const { type: inner, value: held } = value as DuckDBVariantValue;
        return held === null || inner === undefined ? 'null' : jsonEncoder(inner, zoned)(held);
      };
    default: {
      const text = textEncoder(type, zoned);
      return (value) => JSON.stringify(text(value));
    }
  }
}
