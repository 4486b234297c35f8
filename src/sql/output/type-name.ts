/** Types as a table's head shows them: short names in small letters, as in DuckDB's own shell. */
import { type DuckDBType, DuckDBTypeId } from '@duckdb/node-api';

const SHORT: Partial<Record<DuckDBTypeId, string>> = {
  [DuckDBTypeId.TINYINT]: 'int8',
  [DuckDBTypeId.SMALLINT]: 'int16',
  [DuckDBTypeId.INTEGER]: 'int32',
  [DuckDBTypeId.BIGINT]: 'int64',
  [DuckDBTypeId.HUGEINT]: 'int128',
  [DuckDBTypeId.UTINYINT]: 'uint8',
  [DuckDBTypeId.USMALLINT]: 'uint16',
  [DuckDBTypeId.UINTEGER]: 'uint32',
  [DuckDBTypeId.UBIGINT]: 'uint64',
  [DuckDBTypeId.UHUGEINT]: 'uint128',
  [DuckDBTypeId.SQLNULL]: 'null',
};

const NUMBERS: ReadonlySet<DuckDBTypeId> = new Set([
  DuckDBTypeId.TINYINT,
  DuckDBTypeId.SMALLINT,
  DuckDBTypeId.INTEGER,
  DuckDBTypeId.BIGINT,
  DuckDBTypeId.HUGEINT,
  DuckDBTypeId.UTINYINT,
  DuckDBTypeId.USMALLINT,
  DuckDBTypeId.UINTEGER,
  DuckDBTypeId.UBIGINT,
  DuckDBTypeId.UHUGEINT,
  DuckDBTypeId.BIGNUM,
  DuckDBTypeId.FLOAT,
  DuckDBTypeId.DOUBLE,
  DuckDBTypeId.DECIMAL,
]);

export function isNumeric(type: DuckDBType): boolean {
  return NUMBERS.has(type.typeId);
}

export function typeName(type: DuckDBType): string {
  return SHORT[type.typeId] ?? (type.alias ?? String(type)).toLowerCase();
}
