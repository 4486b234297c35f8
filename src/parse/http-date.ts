/**
 * HTTP-date in the three formats of RFC 9110 section 5.6.7 (IMF-fixdate, RFC 850, asctime), strictly: any other text
 * gives null, never a guess. The day's name must be valid, but need not fit the date.
 */

const DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)';
const LONG_DAY = '(?:Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday)';
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';

const FORMATS = [
  new RegExp(`^${DAY}, (?<day>\\d\\d) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^${LONG_DAY}, (?<day>\\d\\d)-${MONTH}-(?<shortYear>\\d\\d) ${TIME} GMT$`),
  new RegExp(`^${DAY} ${MONTH} (?<day>\\d\\d| \\d) ${TIME} (?<year>\\d{4})$`),
];

/** A two-digit year more than 50 years in the future belongs to the century before. */
function fullYear(shortYear: number, thisYear: number): number {
  const year = thisYear - (thisYear % 100) + shortYear;
  return year > thisYear + 50 ? year - 100 : year;
}

/** The form that nearly all servers send, without leap seconds. The runtime's own parser reads it. */
const FIXDATE = new RegExp(
  `^${DAY}, \\d\\d (?:${MONTHS.join('|')}) [1-9]\\d{3} (?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d GMT$`,
);

/** Every conditional request has such a date to check. Null for everything that is not exactly this form. */
function parseFixdate(text: string): number | null {
  if (!FIXDATE.test(text)) return null;
  const time = Date.parse(text);
  // The runtime's parser accepts the 31st of February as a day in March.
  return new Date(time).getUTCDate() === Number(text.slice(5, 7)) ? time : null;
}

/** Milliseconds since 1970, or null. `nowMs` is needed for two-digit years only. */
export function parseHttpDate(value: string, nowMs: number): number | null {
  const time = parseFixdate(value);
  if (time !== null) return time;
  for (const format of FORMATS) {
    const parts = format.exec(value)?.groups;
    if (parts === undefined) continue;
    const year = parts.year
      ? Number(parts.year)
      : fullYear(Number(parts.shortYear), new Date(nowMs).getUTCFullYear());
    const month = MONTHS.indexOf(parts.month);
    const day = Number(parts.day);
    const date = new Date(0);
    date.setUTCFullYear(year, month, day);
    if (date.getUTCMonth() !== month || date.getUTCDate() !== day) return null;
    return date.setUTCHours(Number(parts.hour), Number(parts.minute), Number(parts.second));
  }
  return null;
}
