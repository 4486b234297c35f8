/** Times as people write them on the command line: a length such as 7d, or a moment such as 2026-02-03. */
import { sumiError } from '../errors.ts';

const UNITS_MS: Record<string, number> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const LENGTH = /^(\d{1,6}(?:\.\d{1,3})?)\s?([mhdw])$/;

/** A flag that one command has and no configuration file. */
export interface OwnFlag {
  flag: string;
  /** As in `sumi pages`. */
  command: string;
}

/** Milliseconds. */
export function readLength(text: string, where: OwnFlag): number {
  const match = LENGTH.exec(text.trim());
  if (match !== null) return Number(match[1]) * UNITS_MS[match[2]];
  throw sumiError('bad-flag', { ...where, value: text, expected: 'a time such as 90m, 12h, 7d or 2w' });
}

/** A date, a date with time (UTC unless it says otherwise), or so long ago. Wall milliseconds. */
export function readMoment(text: string, where: OwnFlag, now: number, alternatives = ''): number {
  const written = text.trim();
  if (LENGTH.test(written)) return now - readLength(written, where);
  const match = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(written);
  if (match !== null) {
    const isDay = written.length === 10;
    const moment = Date.parse(`${written.replace(' ', 'T')}${isDay || match[1] !== undefined ? '' : 'Z'}`);
    if (!Number.isNaN(moment) && (!isDay || new Date(moment).toISOString().startsWith(written)))
      return moment;
  }
  const expected = `${alternatives}a date such as 2026-02-03 or 2026-02-03T10:00Z, or a time ago such as 7d`;
  throw sumiError('bad-flag', { ...where, value: text, expected });
}
