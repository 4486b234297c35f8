/** Cursors of what is answered in parts by counting: how far it was, and of what. Opaque; another question refuses them. */
import { createHash } from 'node:crypto';
import { sumiError } from '../errors.ts';

const VERSION = 1;
const hashOf = (about: unknown) =>
  createHash('sha256').update(JSON.stringify(about)).digest('base64url').slice(0, 12);

export function writeOffset(offset: number, about: unknown): string {
  return Buffer.from(JSON.stringify([VERSION, offset, hashOf(about)])).toString('base64url');
}

export function readOffset(cursor: string, about: unknown): number {
  const [version, offset, hash] = parse(cursor);
  if (version !== VERSION || !Number.isSafeInteger(offset) || (offset as number) < 0)
    throw sumiError('cursor-unreadable', {
      cursor: cursor.length > 40 ? `${cursor.slice(0, 40)}…` : cursor,
      errors: [{ pointer: '/cursor', detail: 'It is no cursor of this tool.' }],
    });
  if (hash !== hashOf(about))
    throw sumiError('cursor-of-other-list', {
      list: 'parts',
      errors: [{ pointer: '/cursor', detail: 'It belongs to another question, or the page has changed.' }],
    });
  return offset as number;
}

function parse(cursor: string): unknown[] {
  try {
    const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown;
    return Array.isArray(parts) ? parts : [];
  } catch {
    return [];
  }
}
