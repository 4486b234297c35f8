/**
 * Cuts long values before and after a change. Promises that the place where they begin to differ stays: two equal ends
 * would say nothing. Equal pairs give equal ends in both directions.
 */
import { ELLIPSIS } from './word-diff.ts';

/** So many characters of the common part are shown before the difference, and so many are left for the difference. */
const SHOWN_BEFORE = 60;
const SHOWN_AFTER = 100;

export interface CutValues {
  before: string | null;
  after: string | null;
}

/** `head`: the beginning that both keep in any case; it counts as a part of them. */
export function cutValues(
  before: string | null,
  after: string | null,
  longest: number,
  head = '',
): CutValues {
  if ((before?.length ?? 0) <= longest && (after?.length ?? 0) <= longest) return { before, after };
  const same = before === null || after === null ? 0 : commonStart(before, after);
  const start = same + SHOWN_AFTER > longest ? Math.max(head.length, same - SHOWN_BEFORE) : head.length;
  const shown = (value: string | null) => {
    if (value === null || start === head.length) return cutEnd(value, longest);
    return cutEnd(`${head}${ELLIPSIS}${value.slice(start).replace(/^[\udc00-\udfff]/, '')}`, longest);
  };
  return { before: shown(before), after: shown(after) };
}

function commonStart(one: string, other: string): number {
  const end = Math.min(one.length, other.length);
  let at = 0;
  while (at < end && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}

function cutEnd(value: string | null, longest: number): string | null {
  if (value === null || value.length <= longest) return value;
  return `${value.slice(0, longest).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}`;
}
