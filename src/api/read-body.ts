/**
 * Reads bodies: JSON in UTF-8 and nothing else. Refuses what no field could mean: NUL in a text (PostgreSQL cannot keep it),
 * names that change what objects are, and nesting without end.
 */
import type { FieldProblem } from '../errors.ts';
import { sumiError } from '../errors.ts';
import type { ApiServer } from './api-deps.ts';
import { MOST_BODY_BYTES, MOST_DEPTH } from './limits.ts';
import { invalidFields } from './problems.ts';
import { escapePointer } from './zod-fields.ts';

export function readBodiesOf(app: ApiServer): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(
    'application/json',
    { parseAs: 'buffer', bodyLimit: MOST_BODY_BYTES },
    (_request, body, done) => {
      try {
        done(null, readJson(body as Buffer));
      } catch (error) {
        done(error as Error);
      }
    },
  );
}

/** Undefined where nothing was sent: what needs a body says so itself. */
export function readJson(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    // The parser's own words may quote what was sent.
    const reason =
      error instanceof SyntaxError
        ? 'it breaks off or has a character in the wrong place'
        : 'it is not UTF-8';
    throw sumiError('body-not-json', { reason }, error);
  }
  const problems = findUnusable(value);
  if (problems.length > 0) throw invalidFields(problems);
  return value;
}

const REFUSED_NAMES = ['__proto__', 'constructor', 'prototype'];

function findUnusable(root: unknown): FieldProblem[] {
  const problems: FieldProblem[] = [];
  const waiting: { value: unknown; pointer: string; depth: number }[] = [
    { value: root, pointer: '', depth: 0 },
  ];
  for (let next = waiting.pop(); next !== undefined && problems.length < 50; next = waiting.pop()) {
    const { value, pointer, depth } = next;
    if (typeof value === 'string' && value.includes('\0'))
      problems.push({ pointer, detail: 'A text cannot hold the character NUL.' });
    if (typeof value !== 'object' || value === null) continue;
    if (depth === MOST_DEPTH) {
      problems.push({ pointer, detail: `Arrays and objects can be nested ${MOST_DEPTH} times at most.` });
      continue;
    }
    for (const [key, inner] of Object.entries(value)) {
      const place = `${pointer}/${escapePointer(key)}`;
      if (REFUSED_NAMES.includes(key) || key.includes('\0'))
        problems.push({ pointer: place.replaceAll('\0', ''), detail: 'There is no such field.' });
      else waiting.push({ value: inner, pointer: place, depth: depth + 1 });
    }
  }
  return problems;
}
