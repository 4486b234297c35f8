/** What a failed write means: the row is refused, the table is not what it was, or nothing can be written any more. */
import { SumiError, sumiError } from '../../errors.ts';
import { readDuckDbError } from '../thread/duckdb-errors.ts';

/** Thrown inside DuckDB when the table's columns are not those of the plan. */
export const ALTERED = 'sumi: the table was altered';

export type WriteFailure = { isRefusal: true; reason: string } | { isRefusal: false; error: SumiError };

/** Types of exceptions that concern the values of a row. */
const OF_ROWS =
  /^(Constraint|Conversion|Out of Range|Mismatch Type|Invalid Input|Invalid Type|Invalid|Decimal|Sequence)$/;
/** A transaction may also fail because of another one, or because its log could not be written. */
const OF_OTHER_ROWS = /duplicate key|constraint|conflict/i;
const OURS = [TypeError, RangeError, ReferenceError];
const OF_TABLE = /^(Catalog|Binder|Dependency|Schema)$/;

export function readWriteError(table: string, error: unknown): WriteFailure {
  // Neither DuckDB nor the data: a defect, which nobody may mistake for a refused row.
  if (error instanceof SumiError || OURS.some((kind) => error instanceof kind)) throw error;
  const { type, message } = readWithPrefix(error);
  const reason = message.split('\n')[0];
  if (OF_TABLE.test(type)) {
    const what = /does not exist/.test(reason) ? 'was dropped' : `was altered (${reason})`;
    return { isRefusal: false, error: sumiError('sql-target-lost', { table, what }, error) };
  }
  if (message.includes(ALTERED) || /has been (altered|dropped)/.test(reason)) {
    const what = /dropped/.test(reason) ? 'was dropped' : 'was altered';
    return { isRefusal: false, error: sumiError('sql-target-lost', { table, what }, error) };
  }
  const isOfRow = type === 'TransactionContext' ? OF_OTHER_ROWS.test(reason) : OF_ROWS.test(type);
  // Without a type: the Appender or the driver, which looks at values before DuckDB does.
  if (type === '' || isOfRow) return { isRefusal: true, reason };
  // A checkpoint that failed says first what it means for the database.
  const [, original = reason] = /Original error: (.*)/.exec(message) ?? [];
  return { isRefusal: false, error: sumiError('sql-target-unwritable', { table, reason: original }, error) };
}

/** The Appender and pending results put words before what DuckDB says. */
function readWithPrefix(error: unknown): { type: string; message: string } {
  const text = error instanceof Error ? error.message : String(error);
  const start = text.indexOf('{"exception_type"');
  const { type, message } = readDuckDbError(start === -1 ? text : text.slice(start), '');
  if (type !== '') return { type, message };
  const [, named, rest] = /\b([A-Z][\w -]*?) Error: ([\s\S]*)/.exec(text) ?? [];
  return named === undefined ? { type: '', message: text } : { type: named, message: rest };
}
