/**
 * Cursors of lists over several runs: the store's own cursor, and the runs that the first answer was about. A run that begins
 * meanwhile neither repeats a page nor hides one. Opaque; whoever changes the question is told that the cursor is of another.
 */
import { createHash } from 'node:crypto';
import { sumiError } from '../errors.ts';

export interface RunWindow {
  fromRun: number;
  toRun: number;
}

export interface WindowCursor {
  window: RunWindow;
  /** Null: the first rows. */
  inner: string | undefined;
}

const VERSION = 1;
/** For messages. */
const LIST = 'changes';

const hashOf = (question: unknown) =>
  createHash('sha256').update(JSON.stringify(question)).digest('base64url').slice(0, 12);

export function writeWindowCursor(
  question: unknown,
  { fromRun, toRun }: RunWindow,
  inner: string | null,
): string | null {
  if (inner === null) return null;
  return Buffer.from(JSON.stringify([VERSION, hashOf(question), fromRun, toRun, inner])).toString(
    'base64url',
  );
}

export function readWindowCursor(text: string, question: unknown): WindowCursor {
  const parts = parse(text);
  const isRun = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  if (!Array.isArray(parts) || parts.length !== 5 || parts[0] !== VERSION) throw unreadable(text);
  const [, hash, fromRun, toRun, inner] = parts as [number, unknown, number, number, unknown];
  if (!isRun(fromRun) || !isRun(toRun) || typeof inner !== 'string') throw unreadable(text);
  if (hash !== hashOf(question))
    throw sumiError('cursor-of-other-list', {
      list: LIST,
      errors: pointed('It belongs to another question.'),
    });
  return { window: { fromRun, toRun }, inner };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch {
    return null;
  }
}

const pointed = (detail: string) => [{ pointer: '/cursor', detail }];

function unreadable(text: string): Error {
  const cursor = text.length > 40 ? `${text.slice(0, 40)}…` : text;
  return sumiError('cursor-unreadable', { cursor, errors: pointed('It is no cursor of this list.') });
}
