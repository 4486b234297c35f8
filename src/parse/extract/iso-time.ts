/** Dates and times as ISO 8601 writes them: `2024-05-31`, `2024-05-31T10:00`, `2024-05-31 10:00:00.5+02:00`. */

const DATE = /^(\d{4})-(\d\d)-(\d\d)/;
const TIME = /^[T ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(?: ?(Z|[+-]\d\d(?::?\d\d)?))?$/i;

const DAY_MS = 86_400_000;

/** Days since 1970-01-01; null for what is no date. Of a time, the date as written. */
export function dayOf(text: string): number | null {
  const parts = DATE.exec(text);
  if (parts === null) return null;
  const rest = text.slice(parts[0].length);
  if (rest !== '' && timeOf(rest) === null) return null;
  const [year, month, day] = parts.slice(1).map(Number);
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  const isReal = year > 0 && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? Math.floor(date.getTime() / DAY_MS) : null;
}

/** Microseconds since 1970-01-01, UTC. A time without an offset counts as UTC, a date as its first moment. */
export function microsecondsOf(text: string): bigint | null {
  const day = dayOf(text);
  if (day === null) return null;
  const time = text.length > 10 ? timeOf(text.slice(10)) : 0;
  return time === null ? null : BigInt(day) * 86_400_000_000n + BigInt(time);
}

/** Microseconds since midnight, the offset applied. */
function timeOf(text: string): number | null {
  const parts = TIME.exec(text);
  if (parts === null) return null;
  const [, hours, minutes, seconds = '0', fraction = '', zone = 'Z'] = parts;
  if (Number(hours) > 23 || Number(minutes) > 59 || Number(seconds) > 59) return null;
  const [, sign, zoneHours, zoneMinutes = '0'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? ['', '+', '0', '0'];
  if (Number(zoneHours) > 23 || Number(zoneMinutes) > 59) return null;
  const offset = (sign === '-' ? -1 : 1) * (Number(zoneHours) * 60 + Number(zoneMinutes));
  const whole = (Number(hours) * 60 + Number(minutes) - offset) * 60 + Number(seconds);
  return whole * 1_000_000 + Number(fraction.slice(0, 6).padEnd(6, '0'));
}
