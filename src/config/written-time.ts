/** Times as people write them: a length such as 7d, or a moment such as 2026-02-03. Null for what is neither. */

const UNITS_MS: Record<string, number> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const LENGTH = /^(\d{1,6}(?:\.\d{1,3})?)\s?([mhdw])$/;

/** Milliseconds. */
export function lengthOfTime(text: string): number | null {
  const match = LENGTH.exec(text.trim());
  return match === null ? null : Number(match[1]) * UNITS_MS[match[2]];
}

/** A date, a date with time (UTC unless it says otherwise), or so long before `now`. Wall milliseconds. */
export function momentInTime(text: string, now: number): number | null {
  const written = text.trim();
  const ago = lengthOfTime(written);
  if (ago !== null) return now - ago;
  const match = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.exec(written);
  if (match === null) return null;
  const isDay = written.length === 10;
  const moment = Date.parse(`${written.replace(' ', 'T')}${isDay || match[1] !== undefined ? '' : 'Z'}`);
  const isMoment = !Number.isNaN(moment) && (!isDay || new Date(moment).toISOString().startsWith(written));
  return isMoment ? moment : null;
}
