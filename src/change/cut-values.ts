/**
 * Long values before and after a change, cut to what is kept of them. Promises that the place where they begin to differ
 * is in what is left: two ends that look the same tell nothing. Equal pairs give equal ends, whichever way round they come.
 */
import { ELLIPSIS } from './word-diff.ts';

/** So much of what is the same is shown before the difference, and so much room is left for that itself. */
const SHOWN_BEFORE = 60;
const SHOWN_AFTER = 100;

export interface CutValues {
  before: string | null;
  after: string | null;
}

/** `head`: how both begin, to be kept in any case; it counts as a part of them. */
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
