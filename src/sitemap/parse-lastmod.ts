/**
 * Reads the time of a lastmod: every form of the W3C note on dates (year, month, day, minutes, seconds, fractions, with
 * a zone), common mistakes (a space for the T, a zone without its colon, no zone: UTC), and the dates of RSS (RFC 822).
 * Null for anything else, also for a day that the month does not have.
 */

const MINUTE_MS = 60_000;
const HYPHEN = 0x2d;
const MONTH_DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
const RFC_822 =
  /^(?:[A-Za-z]{3,9},?\s+)?\d{1,2}[\s-][A-Za-z]{3,9}[\s-]\d{2,4}(?:\s+\d{1,2}:\d\d(?::\d\d)?(?:\s*([A-Za-z]{1,5}|[+-]\d\d:?\d\d))?)?$/;
const W3C =
  /^(\d{4})(?:-(\d\d?)(?:-(\d\d?)(?:(?:[Tt]|\s+)(\d\d?):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*([Zz]|UTC|GMT|[+-]\d\d(?::?\d\d)?)?)?)?)?$/;

export function parseLastmod(text: string): number | null {
  const plain = plainTime(text);
  if (plain !== undefined) return plain;
  const parts = W3C.exec(text);
  if (parts === null) return rfc822Time(text);
  const [, year, month = '1', date = '1', hour = '0', minute = '0', second = '0', fraction = '0', zone] =
    parts;
  const dayMs = dayOf(Number(year), Number(month), Number(date));
  if (dayMs === null || Number(hour) > 24 || Number(minute) > 59 || Number(second) > 60) return null;
  const timeMs = ((Number(hour) * 60 + Number(minute)) * 60 + Number(second)) * 1000;
  return dayMs + timeMs + Math.floor(Number(`0.${fraction}`) * 1000) - zoneMs(zone);
}

/**
 * `2024-05-06`, `2024-05-06T07:08:09Z` and `…+02:00`, the forms of nearly all dates, without a regular expression;
 * undefined for others.
 */
function plainTime(text: string): number | null | undefined {
  const { length } = text;
  if (length !== 10 && length !== 20 && length !== 25) return undefined;
  if (text.charCodeAt(4) !== HYPHEN || text.charCodeAt(7) !== HYPHEN) return undefined;
  const [year, month, date] = [digits(text, 0, 4), digits(text, 5, 7), digits(text, 8, 10)];
  if (year < 0 || month < 0 || date < 0) return undefined;
  const dayMs = dayOf(year, month, date);
  if (length === 10 || dayMs === null) return dayMs;
  const [hour, minute, second] = [digits(text, 11, 13), digits(text, 14, 16), digits(text, 17, 19)];
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return undefined;
  if (text[10] !== 'T' || text[13] !== ':' || text[16] !== ':') return undefined;
  const timeMs = dayMs + ((hour * 60 + minute) * 60 + second) * 1000;
  if (length === 20) return text[19] === 'Z' ? timeMs : undefined;
  const [zoneHour, zoneMinute] = [digits(text, 20, 22), digits(text, 23, 25)];
  if (zoneHour < 0 || zoneMinute < 0 || text[22] !== ':') return undefined;
  const offsetMs = (zoneHour * 60 + zoneMinute) * MINUTE_MS;
  if (text[19] === '+') return timeMs - offsetMs;
  return text[19] === '-' ? timeMs + offsetMs : undefined;
}

function digits(text: string, from: number, to: number): number {
  let value = 0;
  for (let i = from; i < to; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) return -1;
    value = value * 10 + digit;
  }
  return value;
}

function dayOf(year: number, month: number, date: number): number | null {
  // No page is that old, and Date.UTC would read the year 31 as 1931.
  if (year < 100 || month < 1 || month > 12 || date < 1) return null;
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  if (date > (month === 2 && isLeap ? 29 : MONTH_DAYS[month - 1])) return null;
  return Date.UTC(year, month - 1, date);
}

function zoneMs(zone: string | undefined): number {
  if (zone === undefined || !/^[+-]/.test(zone)) return 0;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3).replace(':', '') || '0');
  return (zone.startsWith('-') ? -minutes : minutes) * MINUTE_MS;
}

function rfc822Time(text: string): number | null {
  const parts = RFC_822.exec(text);
  if (parts === null) return null;
  // Without a zone the runtime would use that of this machine.
  const moment = Date.parse(parts[1] === undefined ? `${text} UTC` : text);
  return Number.isNaN(moment) ? null : moment;
}
