/** Times in the words of the report, in UTC, as exact as the columns of a picture are wide. */
import type { TimeBuckets } from '../../store/time-buckets.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const formatOf = (options: Intl.DateTimeFormatOptions) => {
  const format = new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options });
  return (at: number) => format.format(at);
};
const dayAndMonth = formatOf({ day: 'numeric', month: 'short' });
const monthAndYear = formatOf({ month: 'short', year: 'numeric' });
export const showDay = formatOf({ day: 'numeric', month: 'short', year: 'numeric' });
const clock = formatOf({ hour: '2-digit', minute: '2-digit' });
const exactClock = formatOf({ hour: '2-digit', minute: '2-digit', second: '2-digit' });

export const showMoment = (at: number): string => `${showDay(at)}, ${clock(at)}`;

export const startOf = ({ start, stepMs }: TimeBuckets, bucket: number): number => start + bucket * stepMs;

/** The whole time of a column. */
export function showBucket(buckets: TimeBuckets, bucket: number): string {
  const from = startOf(buckets, bucket);
  const to = from + buckets.stepMs;
  if (buckets.stepMs < MINUTE) return `${showDay(from)}, ${exactClock(from)}`;
  if (buckets.stepMs < DAY) return `${showDay(from)}, ${clock(from)} to ${clock(to)}`;
  return buckets.stepMs === DAY ? showDay(from) : `${showDay(from)} to ${showDay(to - 1)}`;
}

/** In a word, for the axis. */
export function showTick(buckets: TimeBuckets, bucket: number): string {
  const from = startOf(buckets, bucket);
  if (buckets.stepMs < MINUTE) return exactClock(from);
  if (buckets.stepMs < DAY)
    return buckets.count * buckets.stepMs <= DAY ? clock(from) : `${dayAndMonth(from)} ${clock(from)}`;
  return buckets.stepMs < 28 * DAY ? dayAndMonth(from) : monthAndYear(from);
}

/** Columns with a word under them: evenly spread, never the last few, which have too little space. */
export function ticksOf(count: number, most: number): number[] {
  const every = Math.ceil(count / most);
  return Array.from({ length: Math.floor(count / every) }, (_, i) => i * every);
}

const UNITS: readonly (readonly [ms: number, one: string])[] = [
  [DAY, 'a day'],
  [HOUR, 'an hour'],
  [MINUTE, 'a minute'],
  [1000, 'a second'],
];

/** How wide a column is: "a day", "2 days", "15 minutes". */
export function oneStep(stepMs: number): string {
  const [ms, one] = UNITS.find(([size]) => stepMs % size === 0) ?? [1, 'a millisecond'];
  const many = stepMs / ms;
  return many === 1 ? one : `${many} ${one.split(' ')[1]}s`;
}
