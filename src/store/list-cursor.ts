/**
 * Cursors of lists: opaque to whoever holds one. Inside are a version, a hash of what was asked (list, filter, sort,
 * order), the direction, and a cut between two rows, given by the key of one of them. A cursor never names a row count:
 * rows that are added or removed meanwhile neither repeat nor hide the others.
 */
import { createHash } from 'node:crypto';
import { sumiError } from '../errors.ts';
import type { ListName, SortOrder } from './list-queries.ts';

const VERSION = 1;

export type KeyValue = number | string;
/** What a list is ordered by; unique in the list. */
export type Key = readonly KeyValue[];

/** Between two rows: just before, or just after the row that has this key (or would have). */
export interface Cut {
  key: Key;
  side: 'before' | 'after';
}

export interface Position {
  cut: Cut;
  /** forward: the rows after the cut; back: those before it. */
  direction: 'forward' | 'back';
}

/** What a cursor belongs to. */
export interface AskedList {
  name: ListName;
  filter: object;
  sort: string;
  order: SortOrder;
}

export function hashOfList({ name, filter, sort, order }: AskedList): string {
  const given = Object.entries(filter)
    .filter(([, value]) => value !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([name, given, sort, order]))
    .digest('base64url')
    .slice(0, 12);
}

export function writeCursor(list: AskedList, { cut, direction }: Position): string {
  const parts = [
    VERSION,
    hashOfList(list),
    direction === 'back' ? 1 : 0,
    cut.side === 'after' ? 1 : 0,
    ...cut.key,
  ];
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

/** `keyLength`: the number of values that the key of this list has. */
export function readCursor(text: string, list: AskedList, keyLength: number): Position {
  const parts = parse(text);
  if (!Array.isArray(parts) || typeof parts[0] !== 'number')
    throw sumiError('cursor-unreadable', { cursor: shown(text) });
  const [version, hash, isBack, isAfter, ...key] = parts as [number, ...unknown[]];
  if (version !== VERSION) throw sumiError('cursor-version', { found: version, known: VERSION });
  if (hash !== hashOfList(list)) throw sumiError('cursor-of-other-list', { list: list.name });
  const isKey =
    key.length === keyLength && key.every((value) => Number.isFinite(value) || typeof value === 'string');
  if (!isKey) throw sumiError('cursor-unreadable', { cursor: shown(text) });
  return {
    cut: { key: key as KeyValue[], side: isAfter === 1 ? 'after' : 'before' },
    direction: isBack === 1 ? 'back' : 'forward',
  };
}

/** It may come from anybody, and be of any length. */
function shown(text: string): string {
  return text.length > 40 ? `${text.slice(0, 40)}…` : text;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch (error) {
    throw sumiError('cursor-unreadable', { cursor: shown(text) }, error);
  }
}
