/** What DuckDB says of a condition, with the place in the condition itself. */
import { SumiError } from '../../errors.ts';
import { toSqlError } from '../thread/duckdb-errors.ts';

/** A statement that holds the condition. */
export interface Carrier {
  text: string;
  /** Where the condition begins in it. */
  start: number;
  condition: string;
}

/** On a line of its own end: a comment in the condition must not reach the bracket. */
export function carry(before: string, condition: string, after: string): Carrier {
  return { text: `${before}(${condition}\n)${after}`, start: before.length + 1, condition };
}

export function toConditionError(error: unknown, { text, start, condition }: Carrier): Error {
  const found = toSqlError(error, text);
  if (!(found instanceof SumiError) || typeof found.details.offset !== 'number') return found;
  const place = parserPlace(error, text) ?? found.details.offset;
  const offset = Math.min(Math.max(0, place - start), condition.length);
  return new SumiError(found.code, { ...found.details, offset }, error);
}

/** The parser counts characters, all others bytes. */
function parserPlace(error: unknown, text: string): number | null {
  const { message } = error as Error;
  const found = /"exception_type":"Parser".*"position":"(\d+)"/.exec(message);
  return found === null ? null : [...text].slice(0, Number(found[1])).join('').length;
}
