/**
 * When a schedule begins next: instants, from what clocks on the wall of its zone show. Croner reads the pattern and knows
 * the calendar; this file alone knows Croner. It reads no clock.
 *
 * It promises that each time of the wall that fits begins once: one that clocks skip begins as much later as they were put
 * forward, one that they show twice begins when they show it first. Two that fall on the same instant are one begin.
 */
import { Cron } from 'croner';
import type { ScheduleSettings } from '../schedule-verbs.ts';

/** What decides when a schedule begins. */
export type Timing = Pick<
  ScheduleSettings,
  'kind' | 'day_of_week' | 'day_of_month' | 'time' | 'cron' | 'timezone'
>;

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** Five fields of a cron pattern; null for a schedule that is continuous. */
export function patternOf({ kind, day_of_week, day_of_month, time, cron }: Timing): string | null {
  if (kind === 'continuous') return null;
  if (kind === 'cron') return cron;
  const [hour, minute] = time!.split(':').map(Number);
  const days =
    kind === 'weekly' ? `* * ${day_of_week}` : kind === 'monthly' ? `${day_of_month} * *` : '* * *';
  return `${minute} ${hour} ${days}`;
}

/** Null for a pattern that can be used; otherwise what is wrong with it. */
export function problemOfPattern(pattern: string): string | null {
  if (/[^\d\s*,/#\-?a-z]/i.test(pattern) || pattern.trim().split(/\s+/).length !== 5)
    return 'expected five fields: minute, hour, day of the month, month, day of the week';
  try {
    return wallTimes(pattern)(0) === null ? 'there is no day on which it fits' : null;
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, '').replace(/\.$/, '');
  }
}

/** A name of the IANA time zone database, which this program's runtime knows. */
export function isTimezone(name: string): boolean {
  // Offsets such as +02:00 are zones for some versions of the runtime, and errors for others.
  if (!/^[a-z][a-z0-9_+\-/]*$/i.test(name)) return false;
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** The first begin after this moment (wall milliseconds); null where none is to come. */
export function nextBegin(timing: Timing, after: number): number | null {
  const pattern = patternOf(timing);
  return pattern === null ? null : firstAfter(wallTimes(pattern), zoneOf(timing.timezone), after);
}

/** The next begins after this moment, at most so many. */
export function nextBegins(timing: Timing, after: number, most: number): number[] {
  const found: number[] = [];
  const pattern = patternOf(timing);
  if (pattern === null) return found;
  const [wallAfter, zone] = [wallTimes(pattern), zoneOf(timing.timezone)];
  for (let next = firstAfter(wallAfter, zone, after); next !== null && found.length < most; ) {
    found.push(next);
    next = firstAfter(wallAfter, zone, next);
  }
  return found;
}

/**
 * What clocks on the wall show is held as if it were UTC, so that Croner sees a calendar in which no hour is missing or
 * comes twice.
 */
type WallAfter = (wall: number) => number | null;

function wallTimes(pattern: string): WallAfter {
  const cron = new Cron(pattern, { mode: '5-part', timezone: 'UTC', paused: true });
  return (wall) => cron.nextRun(new Date(wall))?.getTime() ?? null;
}

/** How far clocks of the zone are ahead of UTC in this moment, in milliseconds. */
type Zone = (at: number) => number;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(name: string): Intl.DateTimeFormat {
  const known = formats.get(name);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat('en-US', {
    ...{ timeZone: name, calendar: 'gregory', numberingSystem: 'latn', hourCycle: 'h23' },
    ...{ year: 'numeric', month: 'numeric', day: 'numeric' },
    ...{ hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  formats.set(name, made);
  return made;
}

function zoneOf(name: string): Zone {
  const format = formatOf(name);
  return (at) => {
    const part: Record<string, number> = {};
    for (const { type, value } of format.formatToParts(at)) part[type] = Number(value);
    const wall = Date.UTC(part.year, part.month - 1, part.day, part.hour, part.minute, part.second);
    return wall - Math.floor(at / 1000) * 1000;
  };
}

function firstAfter(wallAfter: WallAfter, zone: Zone, after: number): number | null {
  const offset = zone(after);
  // Clocks that were put forward within the last day: what they skipped may still be to come.
  const forward = Math.max(0, offset - zone(after - DAY_MS));
  let found: number | null = null;
  for (let wall = wallAfter(after + offset - forward - MINUTE_MS); wall !== null; wall = wallAfter(wall)) {
    if (found !== null && wall >= found + zone(found)) return found;
    const begin = instantOf(wall, zone);
    if (begin <= after) continue;
    if (found === null || begin < found) found = begin;
    // A time that clocks show: no later one begins before it.
    if (begin + zone(begin) === wall) return found;
  }
  return found;
}

/** When clocks show this for the first time; where they skip it, as much later as they are put forward. */
function instantOf(wall: number, zone: Zone): number {
  const [before, behind] = [zone(wall - DAY_MS), zone(wall + DAY_MS)];
  // With the offset from before a change: the first of two, and beyond what is skipped.
  const early = wall - before;
  if (zone(early) === before || before === behind) return early;
  const late = wall - behind;
  return zone(late) === behind ? late : early;
}
