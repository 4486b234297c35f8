/** Times on the command line: what cannot be read is told with the flag it was given to. */
import { lengthOfTime, momentInTime } from '../config/written-time.ts';
import { sumiError } from '../errors.ts';

/** A flag that one command has and no configuration file. */
export interface OwnFlag {
  flag: string;
  /** As in `sumi pages`. */
  command: string;
}

/** Milliseconds. */
export function readLength(text: string, where: OwnFlag): number {
  const length = lengthOfTime(text);
  if (length !== null) return length;
  throw sumiError('bad-flag', { ...where, value: text, expected: 'a time such as 90m, 12h, 7d or 2w' });
}

/** A date, a date with time (UTC unless it says otherwise), or so long ago. Wall milliseconds. */
export function readMoment(text: string, where: OwnFlag, now: number, alternatives = ''): number {
  const moment = momentInTime(text, now);
  if (moment !== null) return moment;
  const expected = `${alternatives}a date such as 2026-02-03 or 2026-02-03T10:00Z, or a time ago such as 7d`;
  throw sumiError('bad-flag', { ...where, value: text, expected });
}
