/**
 * Columns for pictures over time: how wide one is, and where the first begins. Chosen so that a reader can take the
 * picture in, and so that a project that is crawled once a week gets a column a week and not six empty ones between two.
 */
export interface TimeBuckets {
  /** Wall time at which the first begins. */
  start: number;
  stepMs: number;
  count: number;
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const STEPS = [
  ...[1, 5, 15].map((n) => n * SECOND),
  ...[1, 5, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28, 91, 364, 3640].map((n) => n * DAY),
];
/** The first day of 1970 was a Thursday: weeks begin on Mondays. */
const FIRST_MONDAY = 4 * DAY;

export const MOST_BUCKETS = 53;

/** For visits from `first` to `last`, both included, made by so many runs. */
export function chooseBuckets(first: number, last: number, runs: number): TimeBuckets {
  const span = last - first;
  // Narrower than runs are apart, most columns would be empty.
  const apart = runs > 1 ? span / runs : 0;
  for (const stepMs of STEPS) {
    const offset = stepMs >= 7 * DAY ? FIRST_MONDAY : 0;
    const start = Math.floor((first - offset) / stepMs) * stepMs + offset;
    const count = Math.floor((last - start) / stepMs) + 1;
    if (stepMs >= apart && count <= MOST_BUCKETS) return { start, stepMs, count };
  }
  // A clock that was centuries off: one column for all.
  return { start: first, stepMs: span + 1, count: 1 };
}
