/**
 * HTTP-date in the three formats of RFC 9110 section 5.6.7 (IMF-fixdate, RFC 850, asctime), strictly: what is not one
 * of them is null, never a guess. The day's name must be one, but need not fit the date.
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

/** A two-digit year that would lie more than 50 years ahead is of the century before. */
function fullYear(shortYear: number, thisYear: number): number {
  const year = thisYear - (thisYear % 100) + shortYear;
  return year > thisYear + 50 ? year - 100 : year;
}

const IMF_FIXDATE = 'Mon, 05 Jan 2026 12:00:00 GMT'.length;
const DAY_NAMES = 'Mon Tue Wed Thu Fri Sat Sun ';
const MONTH_NAMES = `${MONTHS.join(' ')} `;
const ZERO = 0x30;

/** Two digits, or NaN. */
function twoDigits(text: string, at: number): number {
  const [tens, ones] = [text.charCodeAt(at) - ZERO, text.charCodeAt(at + 1) - ZERO];
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/**
 * The form that nearly all servers send, letter by letter; null for what is not quite that, which the others may be.
 * Every page that is asked whether it changed has one to check.
 */
function parseFixdate(text: string): number | null {
  if (text.length !== IMF_FIXDATE || !text.endsWith(' GMT')) return null;
  if (text[3] !== ',' || text[4] !== ' ' || text[7] !== ' ' || text[11] !== ' ' || text[16] !== ' ')
    return null;
  if (text[19] !== ':' || text[22] !== ':' || DAY_NAMES.indexOf(text.slice(0, 3)) % 4 !== 0) return null;
  const month = MONTH_NAMES.indexOf(text.slice(8, 12)) / 4;
  if (!Number.isInteger(month) || month < 0) return null;
  const day = twoDigits(text, 5);
  const year = twoDigits(text, 12) * 100 + twoDigits(text, 14);
  const time = Date.UTC(year, month, day, twoDigits(text, 17), twoDigits(text, 20), twoDigits(text, 23));
  // A day or an hour that is none shows in the way back; leap seconds and the first century are left to the others.
  return year >= 100 && isSame(new Date(time), text, day) ? time : null;
}

function isSame(date: Date, text: string, day: number): boolean {
  return (
    date.getUTCDate() === day &&
    date.getUTCHours() === twoDigits(text, 17) &&
    date.getUTCSeconds() === twoDigits(text, 23)
  );
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
