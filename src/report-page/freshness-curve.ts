/**
 * What share of the stored copies was current, averaged over each column of time, as far as the visits can tell.
 *
 * In the curve a visit counts as made in the middle of its column; for the present moment, and for how often pages change,
 * visits count with their times: half a column may be days, and two visits of one column are as good as others. A copy that the next visit found unchanged was current all the time.
 * Found changed, or gone: the change is as likely at any moment between the two, so that the copy's chance falls evenly.
 * Not visited since: by the page's own record, c changes in the length d of it, in columns, over a Gamma prior of shape 1 that has the mean rate
 * m of all pages; the chance that nothing happened in t columns is (k / (k + t)) ^ (c + 1) with k = d + 1/m.
 */
import type { ChangeFigures } from '../store/change-figures.ts';

export interface FreshnessPoint {
  /** Pages that had a copy, each for the part of the column in which it had. */
  copies: number;
  /** How many of those were current, as expected. */
  current: number;
}

export interface FreshnessCurve {
  /** One a column. */
  points: FreshnessPoint[];
  /** At the moment asked for. */
  now: FreshnessPoint;
  /** Changes a page and column, over all that was seen. */
  rate: number;
}

const MIDDLE = 0.5;

/** `nowMs`: wall time that `now` is for, however long after the last visit; the end of the last column unless given. */
export function freshnessCurve(
  { buckets, spans, lasts }: Pick<ChangeFigures, 'buckets' | 'spans' | 'lasts'>,
  nowMs: number | null = null,
): FreshnessCurve {
  const count = buckets?.count ?? 0;
  const stepMs = buckets?.stepMs ?? 1;
  const placeOf = (at: number) => (at - (buckets?.start ?? 0)) / stepMs;
  const until = nowMs === null ? count : placeOf(nowMs);
  const points = Array.from({ length: count }, () => ({ copies: 0, current: 0 }));
  /** `currentTime`: how long a copy is expected to be current in so many columns after its visit. */
  const add = (from: number, to: number, pages: number, currentTime: (columns: number) => number) => {
    for (let bucket = Math.floor(from); bucket < to; bucket++) {
      const [start, end] = [Math.max(from, bucket) - from, Math.min(to, bucket + 1) - from];
      points[bucket].copies += pages * (end - start);
      points[bucket].current += pages * (currentTime(end) - currentTime(start));
    }
  };
  let [changes, columns] = [0, 0];
  for (const { from, to, isChanged, pages, elapsedMs } of spans) {
    const length = to - from;
    if (length > 0)
      add(from + MIDDLE, to + MIDDLE, pages, (t) => (isChanged ? t - (t * t) / (2 * length) : t));
    changes += isChanged ? pages : 0;
    columns += elapsedMs / stepMs;
  }
  const rate = columns === 0 ? 0 : changes / columns;
  const now: FreshnessPoint = { copies: 0, current: 0 };
  for (const { last, changes: seen, pages, lastAt, recordMs } of lasts) {
    const known = recordMs / stepMs + 1 / rate;
    add(last + MIDDLE, count, pages, (t) => (rate === 0 ? t : timeUnchanged(known, seen + 1, t)));
    const waited = Math.max(0, until - placeOf(lastAt));
    now.copies += pages;
    now.current += pages * (rate === 0 ? 1 : (known / (known + waited)) ** (seen + 1));
  }
  return { points, now, rate };
}

/** The integral of (known / (known + t)) ^ shape from 0 to t. */
function timeUnchanged(known: number, shape: number, t: number): number {
  if (shape === 1) return known * Math.log1p(t / known);
  return (known / (shape - 1)) * (1 - (known / (known + t)) ** (shape - 1));
}

/** Null before the first copy. */
export const shareOf = ({ copies, current }: FreshnessPoint): number | null =>
  copies === 0 ? null : current / copies;
