/**
 * Gives the functions their names, on one connection: temporary macros, which exist beside any database and are written
 * to none. duckdb_functions() tells their parameters and what they do.
 */
import type { DuckDBConnection } from '@duckdb/node-api';
import { FUNCTIONS, type ListedFunction } from './function-list.ts';

const STATEMENTS = FUNCTIONS.flatMap(statementsOf).join(';\n');

export async function publishMacros(connection: DuckDBConnection): Promise<void> {
  await connection.run(STATEMENTS);
}

function statementsOf({ name, kind, parameters, comment }: ListedFunction): string[] {
  const names = parameters.map((parameter) => parameter.split(' ')[0]);
  const quoted = `"${name}"`;
  const [first, ...others] = names;
  // Table functions take all but the first by name.
  const given = kind === 'table' ? [first, ...others.map((other) => `${other} := ${other}`)] : names;
  const call = `sumi_${name}(${given.join(', ')})`;
  const body = kind === 'table' ? `TABLE FROM ${call}` : call;
  return [
    `CREATE OR REPLACE TEMP MACRO ${quoted}(${parameters.join(', ')}) AS ${body}`,
    `COMMENT ON MACRO ${kind === 'table' ? 'TABLE ' : ''}temp.${quoted} IS '${comment.replaceAll("'", "''")}'`,
  ];
}
