/**
 * What DuckDB says when it refuses a statement, as an error with a code and a place. The session has `errors_as_json` on:
 * the place comes in UTF-8 bytes from the start of the statement.
 */
import { SumiError, sumiError } from '../../errors.ts';
import { placeOf } from '../language/place.ts';

interface DuckDbError {
  exception_type?: string;
  exception_message?: string;
  position?: string;
}

/** Who maps it knows the statement; whoever knows the script adds where the statement begins. */
export interface PlacedError {
  type: string;
  message: string;
  /** Characters (UTF-16) from the start of the statement; null where no place is known. */
  offset: number | null;
}

/** `Parser Error: `, or what the API puts before it: `Failed to extract statements: Parser Error: `. */
const PREFIX = /^[A-Z][\w :-]* Error: (?=\{)/;

export function readDuckDbError(error: unknown, statement: string): PlacedError {
  const text = error instanceof Error ? error.message : String(error);
  const json = text.replace(PREFIX, '');
  if (!json.startsWith('{')) return { type: '', message: text, offset: null };
  let read: DuckDbError;
  try {
    read = JSON.parse(json) as DuckDbError;
  } catch {
    return { type: '', message: text, offset: null };
  }
  const { exception_type: type = '', exception_message: message = text, position } = read;
  // The parser counts characters, the others bytes.
  const offsetOf = type === 'Parser' ? offsetOfCharacter : offsetOfByte;
  const offset = position === undefined ? null : offsetOf(statement, Number(position));
  return { type, message, offset };
}

function offsetOfCharacter(text: string, character: number): number {
  return [...text].slice(0, character).join('').length;
}

/** Where the byte is in the text, which may hold characters of several bytes. */
export function offsetOfByte(text: string, byte: number): number {
  return Buffer.from(text).subarray(0, byte).toString().length;
}

const ADVICE: Readonly<Record<string, string>> = {
  Parser: 'Check the spelling at this place. `.help` and docs/sql.md list the statements that CRAWL adds.',
  Catalog: 'Check the name, or make the table first. SHOW ALL TABLES lists what there is.',
  Binder: 'Check the names and types at this place. DESCRIBE TABLE lists the columns of a table.',
};

/** An error of ours passes as it is; one that a function of ours threw inside DuckDB is found by its mark. */
export function toSqlError(
  error: unknown,
  statement: string,
  errorOf: (text: string) => Error | null = () => null,
): Error {
  if (error instanceof SumiError) return error;
  const { type, message, offset } = readDuckDbError(error, statement);
  const thrown = errorOf(message);
  if (thrown !== null) return thrown;
  if (type === 'INTERRUPT') return sumiError('sql-interrupted', {}, error);
  const place: Record<string, number> = offset === null ? {} : { offset };
  const details = {
    problem: type === '' ? message : `${type} Error: ${message}`,
    advice: ADVICE[type] ?? 'Change the statement and run it again; what ran before it stays.',
    ...place,
  };
  return type === 'Parser'
    ? sumiError('sql-syntax', { ...details, problem: message }, error)
    : sumiError('sql-failed', details, error);
}

/** Of an error in text that stands behind other text of ours. */
export function movedBack(error: Error, characters: number): Error {
  if (!(error instanceof SumiError) || typeof error.details.offset !== 'number') return error;
  const offset = Math.max(0, error.details.offset - characters);
  return new SumiError(error.code, { ...error.details, offset }, error.cause);
}

/** With line and column in the statement in place of the offset in what DuckDB was given. */
export function withPlace(
  error: unknown,
  statement: string,
  toStatement: (offset: number) => number,
): unknown {
  if (!(error instanceof SumiError) || typeof error.details.offset !== 'number') return error;
  const { offset, ...details } = error.details;
  const place = placeOf(statement, toStatement(offset));
  return new SumiError(error.code, { ...details, ...place }, error.cause);
}
