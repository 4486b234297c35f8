/**
 * A scalar function inside DuckDB, of plain JavaScript. Rows with NULL reach the function, because DuckDB's own way with
 * NULL does not know which arguments may be left out.
 */
import { ANY, DuckDBScalarFunction, type DuckDBType, type DuckDBValue } from '@duckdb/node-api';
import { readColumn } from './arguments.ts';
import type { FunctionErrors } from './function-errors.ts';

export interface ScalarRequest {
  /** How many arguments. */
  takes: number;
  returns: DuckDBType;
  /** Answers all rows of a vector: `read(argument, row)`. */
  answer: (
    read: (argument: number, row: number) => DuckDBValue,
    rowCount: number,
    connection: number,
  ) => DuckDBValue[];
  /** It has to be asked when the statement runs, and never before. */
  isVolatile?: boolean;
}

export function makeScalar(
  name: string,
  request: ScalarRequest,
  errors: FunctionErrors,
): DuckDBScalarFunction {
  const { takes, returns, answer, isVolatile = false } = request;
  return DuckDBScalarFunction.create({
    name,
    parameterTypes: Array.from({ length: takes }, () => ANY),
    returnType: returns,
    specialHandling: true,
    volatile: isVolatile,
    bindFunction(info) {
      info.setBindData({ connection: info.clientContext.connectionId });
    },
    mainFunction(info, input, output) {
      try {
        const columns = Array.from({ length: takes }, (_, column) => readColumn(input, column));
        const { connection } = info.bindData as { connection: number };
        const values = answer((argument, row) => columns[argument](row), input.rowCount, connection);
        for (let row = 0; row < values.length; row++) output.setItem(row, values[row]);
        output.flush();
      } catch (error) {
        info.setError(errors.textOf(error));
      }
    },
  });
}

/** For a function that looks at one row after another. */
export function rowByRow(
  answer: (read: (argument: number) => DuckDBValue) => DuckDBValue,
): ScalarRequest['answer'] {
  return (read, rowCount) =>
    Array.from({ length: rowCount }, (_, row) => answer((argument) => read(argument, row)));
}
