/**
 * Splits a script into its statements, at semicolons outside of quotes and comments. DuckDB's own splitting refuses a
 * script that has a CRAWL in it. Never fails: what never ends is the last statement, and its reader says so.
 */
import { tokensOf } from './lex.ts';
import type { Place } from './place.ts';

export interface ScriptStatement extends Place {
  /** From its first token to its last; without the semicolon and comments around it. */
  text: string;
  /** Where it begins in the script (UTF-16). */
  start: number;
}

export function splitScript(text: string): ScriptStatement[] {
  const statements: ScriptStatement[] = [];
  const placeOf = createPlaceCounter(text);
  let start = -1;
  let end = -1;
  const close = () => {
    if (start !== -1) statements.push({ text: text.slice(start, end), start, ...placeOf(start) });
    start = -1;
  };
  for (const token of tokensOf(text)) {
    if (token.text === ';') close();
    else {
      if (start === -1) start = token.start;
      end = token.end;
    }
  }
  close();
  return statements;
}

/** True when the text needs no more lines: it ends with a semicolon outside of quotes, or has no statement. */
export function isComplete(text: string): boolean {
  let isDone = true;
  for (const token of tokensOf(text)) isDone = token.text === ';';
  return isDone;
}

/** Places in growing order, each counted from the one before. */
function createPlaceCounter(text: string): (offset: number) => Place {
  let line = 1;
  let column = 1;
  let seen = 0;
  return (offset) => {
    for (; seen < offset; seen++) {
      const sign = text[seen];
      if (sign === '\n' || (sign === '\r' && text[seen + 1] !== '\n')) {
        line++;
        column = 1;
      } else if (!isSecondHalf(text, seen)) column++;
    }
    return { line, column };
  };
}

/** Of a character that takes two units of UTF-16, such as an emoji. */
function isSecondHalf(text: string, index: number): boolean {
  return index > 0 && text.codePointAt(index - 1)! > 0xffff;
}
