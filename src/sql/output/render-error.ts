/**
 * What went wrong in SQL: for people the message, the line of SQL with a mark under the place, and what to do; for
 * programs one object. Pure text, safe for terminals. Lines and columns count from 1; a column is a character, an
 * emoji one.
 */
import { formatError, SumiError } from '../../errors.ts';
import { printable, widthOf } from '../../render/terminal-text.ts';

export interface ErrorForPrograms {
  code: string;
  message: string;
  hint: string;
  line: number | null;
  column: number | null;
}

/** A line of SQL may be a generated one without end: the part around the place is enough. */
const CHARS_AROUND = 60;

/** `script`: what was run; `source`: the file that it is from. */
export function renderError(error: unknown, script: string, source: string | null = null): string {
  if (!(error instanceof SumiError))
    return `${error instanceof Error ? formatError(error) : String(error)}\n`;
  const place = placeOf(error);
  const message = linesOf(error.message);
  const hint = linesOf(error.hint).map((line) => `      ${line}`);
  const shown = place === null ? [] : renderPlace(script, place, source);
  const lines = [`sumi: ${message[0] ?? ''}`, ...message.slice(1).map((line) => `      ${line}`), ...shown];
  return `${[...lines, ...hint, `      code: ${error.code}`].join('\n')}\n`;
}

export function errorForPrograms(error: unknown): ErrorForPrograms {
  if (!(error instanceof SumiError)) {
    const message = error instanceof Error ? error.message : String(error);
    const hint = 'This is a defect of sumi, not of your command: please report it with this message.';
    return { code: 'unexpected', message, hint, line: null, column: null };
  }
  const place = placeOf(error);
  const { code, message, hint } = error;
  return { code, message, hint, line: place?.line ?? null, column: place?.column ?? null };
}

interface Place {
  line: number;
  column: number;
}

function placeOf({ details }: SumiError): Place | null {
  const { line, column } = details;
  if (typeof line !== 'number') return null;
  return { line, column: typeof column === 'number' ? column : 1 };
}

function linesOf(text: string): string[] {
  return text
    .split(/\r\n|\r|\n/)
    .filter((line) => line !== '')
    .map(printable);
}

function renderPlace(script: string, { line, column }: Place, source: string | null): string[] {
  const text = script.split(/\r\n|\r|\n/)[line - 1];
  if (text === undefined) return [];
  const characters = [...text];
  const at = Math.min(column - 1, characters.length);
  const from = Math.max(0, at - CHARS_AROUND);
  const to = Math.min(characters.length, at + CHARS_AROUND);
  const part = (begin: number, end: number) => printable(characters.slice(begin, end).join(''));
  const lead = `${source === null ? '' : `${printable(source)}, `}line ${line}: ${from > 0 ? '…' : ''}`;
  const before = `${lead}${part(from, at)}`;
  const after = `${part(at, to)}${to < characters.length ? '…' : ''}`;
  return [`      ${before}${after}`, `      ${' '.repeat(widthOf(before))}^`];
}
