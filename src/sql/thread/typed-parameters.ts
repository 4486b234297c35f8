/**
 * What a program gives for $1, $name or ?, as DuckDB takes it: each value with its type, which the driver cannot tell of
 * lists, bytes and dates.
 */
import {
  BIGINT,
  BLOB,
  BOOLEAN,
  DOUBLE,
  DuckDBBlobValue,
  DuckDBTimestampValue,
  type DuckDBType,
  type DuckDBValue,
  HUGEINT,
  LIST,
  listValue,
  SQLNULL,
  TIMESTAMP,
  VARCHAR,
} from '@duckdb/node-api';
import type { SqlParameter, SqlParameters } from '../sql-session.ts';

interface Typed {
  value: DuckDBValue;
  type: DuckDBType;
}

/** The second and the third argument of the driver's calls. */
export type TypedParameters = [
  values?: DuckDBValue[] | Record<string, DuckDBValue>,
  types?: DuckDBType[] | Record<string, DuckDBType>,
];

export function typedParameters(parameters: SqlParameters | undefined): TypedParameters {
  if (parameters === undefined) return [];
  if (Array.isArray(parameters)) {
    const typed = parameters.map(typedValue);
    return [typed.map(({ value }) => value), typed.map(({ type }) => type)];
  }
  const entries = Object.entries(parameters).map(([name, given]) => [name, typedValue(given)] as const);
  return [
    Object.fromEntries(entries.map(([name, { value }]) => [name, value])),
    Object.fromEntries(entries.map(([name, { type }]) => [name, type])),
  ];
}

function typedValue(given: SqlParameter): Typed {
  if (given === null) return { value: null, type: SQLNULL };
  switch (typeof given) {
    case 'boolean':
      return { value: given, type: BOOLEAN };
    case 'number':
      return Number.isSafeInteger(given)
        ? { value: BigInt(given), type: BIGINT }
        : { value: given, type: DOUBLE };
    case 'bigint':
      return { value: given, type: given === BigInt.asIntN(64, given) ? BIGINT : HUGEINT };
    case 'string':
      return { value: given, type: VARCHAR };
  }
  if (given instanceof Uint8Array) return { value: new DuckDBBlobValue(given), type: BLOB };
  if (given instanceof Date)
    return { value: new DuckDBTimestampValue(BigInt(given.getTime()) * 1000n), type: TIMESTAMP };
  return typedList(given);
}

/** Of numbers with a fraction among whole ones, all are of the wider type. */
function typedList(given: readonly SqlParameter[]): Typed {
  const items = given.map(typedValue);
  const types = items.map(({ type }) => type).filter((type) => type !== SQLNULL);
  const type = [DOUBLE, HUGEINT].find((wider) => types.includes(wider)) ?? types[0] ?? SQLNULL;
  const values = items.map(({ value }) =>
    type === DOUBLE && typeof value === 'bigint' ? Number(value) : value,
  );
  return { value: listValue(values), type: LIST(type) };
}
