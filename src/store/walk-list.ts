/**
 * Walks along a list's keys from a cut, in either direction, and looks at no more than MOST_LOOKED_AT of them: the rows
 * that fit are counted or cut into a page of results. It never skips a row: where it stops short, the cursor goes on
 * behind the last row that was looked at.
 */
import type { Cut, Key, Position } from './list-cursor.ts';
import { MOST_LOOKED_AT } from './list-queries.ts';

/** A row that was looked at. */
export interface Seen {
  key: Key;
  fits: boolean;
}

/** All rows of a list in one order, whether they fit the filter or not. */
export interface Track {
  /** The number of values that a key has. */
  keyLength: number;
  /** The next rows from a cut (null: from the end that the direction begins with). Fewer than `size`: there are no more. */
  step(from: Cut | null, direction: Position['direction'], size: number): Promise<readonly Seen[]>;
  /** The same where little fits: rows that do not fit stay in the database. */
  leap?(from: Cut | null, direction: Position['direction'], leap: Leap): Promise<Leapt>;
  /** How many of the first rows fit, and how many there are. */
  tally?(size: number): Promise<{ fitting: number; looked: number }>;
}

export interface Leap {
  /** Rows to look at. */
  size: number;
  /** Rows that fit to be told, at most: the first ones. */
  most: number;
}

export interface Leapt {
  fits: readonly Key[];
  /** The last row that was looked at; null: there are no more. */
  end: Key | null;
}

/** Rows of one step while rows that fit are sought. */
const STEP = 2000;
/** Of the leaps after the first step, the last again and again. */
const LEAPS = [2000, 6000, 12_000];

export interface Walked {
  /** Keys that fit, in the order of the list. */
  keys: Key[];
  next: Position | null;
  previous: Position | null;
}

/** `at` null: the list's first rows. */
export async function walkList(track: Track, at: Position | null, limit: number): Promise<Walked> {
  const direction = at?.direction ?? 'forward';
  const start = at?.cut ?? null;
  const farSide = direction === 'forward' ? 'after' : 'before';
  const found: Key[] = [];
  let place = start;
  let hasMore = true;
  let leaps = 0;
  for (let looked = 0; found.length <= limit && looked < MOST_LOOKED_AT; ) {
    if (looked > 0 && track.leap !== undefined) {
      const size = Math.min(LEAPS[Math.min(leaps++, LEAPS.length - 1)], MOST_LOOKED_AT - looked);
      const { fits, end } = await track.leap(place, direction, { size, most: limit + 1 - found.length });
      found.push(...fits);
      looked += size;
      hasMore = end !== null || found.length > limit;
      if (end === null) break;
      place = { key: end, side: farSide };
      continue;
    }
    const size = Math.min(looked === 0 ? limit + 1 : STEP, MOST_LOOKED_AT - looked);
    const seen = await track.step(place, direction, size);
    for (const { key, fits } of seen) {
      if (fits && found.push(key) > limit) break;
      place = { key, side: farSide };
    }
    looked += seen.length;
    if (seen.length < size) {
      hasMore = found.length > limit;
      break;
    }
  }
  if (found.length > limit) {
    found.pop();
    place = { key: found[limit - 1], side: farSide };
  }
  const onward: Position | null = hasMore && place !== null ? { cut: place, direction } : null;
  if (direction === 'forward') {
    const previous: Position | null = start === null ? null : { cut: start, direction: 'back' };
    return { keys: found, next: onward, previous };
  }
  return { keys: found.reverse(), next: start && { cut: start, direction: 'forward' }, previous: onward };
}

/** How many rows fit, as far as one call looks. */
export async function countList(track: Track): Promise<{ count: number; isExact: boolean }> {
  if (track.tally !== undefined) {
    const { fitting, looked } = await track.tally(MOST_LOOKED_AT);
    return { count: fitting, isExact: looked < MOST_LOOKED_AT };
  }
  let count = 0;
  let place: Cut | null = null;
  for (let looked = 0; looked < MOST_LOOKED_AT; ) {
    const size = Math.min(STEP, MOST_LOOKED_AT - looked);
    const seen = await track.step(place, 'forward', size);
    for (const { fits } of seen) if (fits) count++;
    looked += seen.length;
    if (seen.length < size) return { count, isExact: true };
    place = { key: seen[seen.length - 1].key, side: 'after' };
  }
  return { count, isExact: false };
}
