/**
 * The share of the stored copies that was current, averaged over each column of time up to now, as far as visits can
 * tell. Pages come in groups; each group counts with the mean times of its visits.
 *
 * A copy that the next visit found unchanged was current all the time. If the next visit found it changed or gone, the
 * change is equally likely at any moment between the two visits. Without a later visit, the page's own record decides:
 * c changes in the time d, in columns, over a Gamma prior of shape 1 with the mean rate m of all pages. The chance that
 * nothing happened in t columns is (k / (k + t)) ^ (c + 1) with k = d + 1/m.
 */
import type { ChangeFigures } from '../../store/change-figures.ts';

export interface FreshnessPoint {
  /** Pages with a copy, each for the part of the column in which it had one. */
  copies: number;
  /** The expected number of current ones. */
  current: number;
}

export interface FreshnessCurve {
  /** One a column. */
  points: FreshnessPoint[];
  /** At the given moment. */
  now: FreshnessPoint;
  /** Changes a page and column, over all that was seen. */
  rate: number;
}

/** `nowMs`: wall time of `now`, however long after the last visit (default: the end of the last column). */
export function freshnessCurve(
  { buckets, spans, lasts }: Pick<ChangeFigures, 'buckets' | 'spans' | 'lasts'>,
  nowMs: number | null = null,
): FreshnessCurve {
  const count = buckets?.count ?? 0;
  const stepMs = buckets?.stepMs ?? 1;
  const placeOf = (at: number) => (at - (buckets?.start ?? 0)) / stepMs;
  // The dates of visits come from servers' clocks, which may be ahead of ours.
  let latest = Number.NEGATIVE_INFINITY;
  for (const { toAt } of spans) latest = Math.max(latest, toAt);
  for (const { lastAt } of lasts) latest = Math.max(latest, lastAt);
  const until = nowMs === null ? count : placeOf(Math.max(nowMs, latest));
  const points = Array.from({ length: count }, () => ({ copies: 0, current: 0 }));
  /** `currentTime`: how long a copy is expected to be current in so many columns after its visit. */
  const add = (from: number, to: number, pages: number, currentTime: (columns: number) => number) => {
    for (let bucket = Math.floor(from); bucket < Math.min(to, count); bucket++) {
      const [start, end] = [Math.max(from, bucket) - from, Math.min(to, bucket + 1) - from];
      points[bucket].copies += pages * (end - start);
      points[bucket].current += pages * (currentTime(end) - currentTime(start));
    }
  };
  let [changes, columns] = [0, 0];
  for (const { isChanged, pages, fromAt, toAt } of spans) {
    const length = placeOf(toAt) - placeOf(fromAt);
    changes += isChanged ? pages : 0;
    columns += pages * length;
    if (length > 0)
      add(placeOf(fromAt), placeOf(toAt), pages, (t) => (isChanged ? t - (t * t) / (2 * length) : t));
  }
  const rate = columns === 0 ? 0 : changes / columns;
  const now: FreshnessPoint = { copies: 0, current: 0 };
  for (const { changes: seen, pages, lastAt, recordMs } of lasts) {
    const known = recordMs / stepMs + 1 / rate;
    add(placeOf(lastAt), until, pages, (t) => (rate === 0 ? t : timeUnchanged(known, seen + 1, t)));
    const waited = until - placeOf(lastAt);
    now.copies += pages;
    now.current += pages * (rate === 0 ? 1 : (known / (known + waited)) ** (seen + 1));
  }
  if (count > 0) endWith(points, until - count + 1, now);
  return { points, now, rate };
}

/** The last column is averaged over its part until now. If that part has no length, it is the current value. */
function endWith(points: FreshnessPoint[], part: number, now: FreshnessPoint): void {
  const { copies, current } = points[points.length - 1];
  if (copies === 0) points[points.length - 1] = { ...now };
  else if (part > 0 && part < 1)
    points[points.length - 1] = { copies: copies / part, current: current / part };
}

/** The integral of (known / (known + t)) ^ shape from 0 to t. */
function timeUnchanged(known: number, shape: number, t: number): number {
  if (shape === 1) return known * Math.log1p(t / known);
  return (known / (shape - 1)) * (1 - (known / (known + t)) ** (shape - 1));
}

/** Null before the first copy. */
export const shareOf = ({ copies, current }: FreshnessPoint): number | null =>
  copies === 0 ? null : current / copies;
