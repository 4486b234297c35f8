/**
 * Places in SQL text, as people count them: line and column begin at 1, a column is a character (an emoji is one).
 * Also how mistakes in statements become errors that name their place.
 */
import { SumiError, sumiError } from '../../errors.ts';

export interface Place {
  line: number;
  column: number;
}

/** A piece of a statement as it was written, and where in the statement it begins (UTF-16). */
export interface TextPart {
  text: string;
  start: number;
}

/** The place of an offset (UTF-16). Lines end as DuckDB's do: by \n, \r\n or \r. */
export function placeOf(text: string, offset: number): Place {
  let line = 1;
  let lineStart = 0;
  for (const { index, 0: ending } of text.matchAll(/\r\n|\r|\n/g)) {
    if (index + ending.length > offset) break;
    line++;
    lineStart = index + ending.length;
  }
  return { line, column: [...text.slice(lineStart, offset)].length + 1 };
}

/** A place in a statement as the place in the script, where the statement begins at `start`. */
export function placeInScript(start: Place, place: Place): Place {
  const column = place.line === 1 ? start.column + place.column - 1 : place.column;
  return { line: start.line + place.line - 1, column };
}

/** The same error with its place counted in the script. What has no place stays as it is. */
export function errorInScript(error: unknown, start: Place): unknown {
  if (!(error instanceof SumiError)) return error;
  const { line, column } = error.details;
  if (typeof line !== 'number' || typeof column !== 'number') return error;
  const place = placeInScript(start, { line, column });
  return new SumiError(error.code, { ...error.details, ...place }, error.cause);
}

/** `problem`: what stands there and what was expected. `advice`: what to do next. */
export function syntaxError(place: Place, problem: string, advice: string): SumiError {
  return sumiError('sql-syntax', { problem, advice, line: place.line, column: place.column });
}
