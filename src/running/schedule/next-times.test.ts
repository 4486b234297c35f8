import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isTimezone, nextBegin, nextBegins, problemOfPattern, type Timing } from './next-times.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const daily = (time: string, timezone: string): Timing => ({
  ...{ kind: 'daily', time, timezone, day_of_week: null, day_of_month: null, cron: null },
});
const cron = (pattern: string, timezone: string): Timing => ({
  ...{ kind: 'cron', cron: pattern, timezone, day_of_week: null, day_of_month: null, time: null },
});
const iso = (times: readonly number[]) => times.map((at) => new Date(at).toISOString().slice(0, 16));

/** What clocks on the wall show, as Intl writes it: nothing of the code under test is in it. */
function wallOf(timezone: string) {
  const format = new Intl.DateTimeFormat('sv-SE', {
    ...{ timeZone: timezone, hourCycle: 'h23', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit' },
  });
  return (at: number) => format.format(at).replace(' ', 'T');
}

const minutesOf = (wall: string) => Date.parse(`${wall}Z`) / 60_000;

/** Every minute between two moments, with what clocks show: hours without a change are filled in. */
function* minutesBetween(from: number, to: number, timezone: string): Generator<[at: number, wall: number]> {
  const show = wallOf(timezone);
  for (let at = from; at < to; at += HOUR_MS) {
    const [begin, end] = [minutesOf(show(at)), minutesOf(show(at + HOUR_MS))];
    const isPlain = end - begin === 60;
    for (let minute = 0; minute < 60; minute++)
      yield [at + minute * 60_000, isPlain ? begin + minute : minutesOf(show(at + minute * 60_000))];
  }
}

/**
 * The begins by looking at a clock minute by minute: where it shows a wanted time for the first time, and, where it jumps
 * over wanted times, as much later.
 */
function beginsByTheClock(
  from: number,
  to: number,
  timezone: string,
  isWanted: (wallMinutes: number) => boolean,
): number[] {
  const found = new Set<number>();
  const shown = new Set<number>();
  let last: number | null = null;
  for (const [at, wall] of minutesBetween(from - 2 * DAY_MS, to, timezone)) {
    for (let skipped = (last ?? wall - 1) + 1; skipped < wall; skipped++)
      if (isWanted(skipped)) found.add(at + (skipped - last! - 1) * 60_000);
    if (isWanted(wall) && !shown.has(wall)) {
      found.add(at);
      shown.add(wall);
    }
    last = wall;
  }
  return [...found].filter((at) => at > from && at < to).sort((a, b) => a - b);
}

function allBegins(timing: Timing, from: number, to: number): number[] {
  const found: number[] = [];
  for (let at = nextBegin(timing, from); at !== null && at < to; at = nextBegin(timing, at)) found.push(at);
  return found;
}

/** Changes by an hour, by half an hour, at midnight, at odd hours, by a whole day, in both hemispheres. */
const ZONES = [
  ...['UTC', 'Europe/Berlin', 'Europe/Dublin', 'Europe/Lisbon', 'America/New_York', 'America/St_Johns'],
  ...['America/Sao_Paulo', 'America/Santiago', 'America/Havana', 'America/Asuncion', 'Asia/Beirut'],
  ...['Asia/Tehran', 'Asia/Kolkata', 'Asia/Kathmandu', 'Asia/Gaza', 'Africa/Cairo', 'Africa/Casablanca'],
  ...['Australia/Lord_Howe', 'Australia/Adelaide', 'Pacific/Auckland', 'Pacific/Chatham', 'Pacific/Apia'],
  ...['Pacific/Kiritimati', 'Atlantic/Azores', 'America/Godthab', 'Antarctica/Troll'],
];

describe('summer time', () => {
  it('moves a begin in the hour that is skipped, and begins once in the hour that comes twice', () => {
    const from = Date.UTC(2026, 2, 27, 12);
    expect(iso(nextBegins(daily('02:30', 'Europe/Berlin'), from, 4))).toEqual([
      ...['2026-03-28T01:30', '2026-03-29T01:30', '2026-03-30T00:30', '2026-03-31T00:30'],
    ]);
    const autumn = Date.UTC(2026, 9, 24, 12);
    expect(iso(nextBegins(daily('02:30', 'Europe/Berlin'), autumn, 3))).toEqual([
      ...['2026-10-25T00:30', '2026-10-26T01:30', '2026-10-27T01:30'],
    ]);
  });

  it('makes one begin of two that fall on the same instant', () => {
    const from = Date.UTC(2026, 2, 29, 0, 30);
    expect(iso(nextBegins(cron('0,30 1-3 * * *', 'Europe/Berlin'), from, 4))).toEqual([
      ...['2026-03-29T01:00', '2026-03-29T01:30', '2026-03-29T23:00', '2026-03-29T23:30'],
    ]);
  });

  it('loses nothing where a whole day is skipped', () => {
    const from = Date.UTC(2011, 11, 28, 12);
    expect(iso(nextBegins(cron('0 9 30,31 12 *', 'Pacific/Apia'), from, 2))).toEqual([
      ...['2011-12-30T19:00', '2012-12-29T19:00'],
    ]);
  });

  it('agrees with a look at the clock, minute by minute, in any zone and year', { timeout: 120_000 }, () => {
    const property = fc.property(
      fc.constantFrom(...ZONES),
      fc.integer({ min: 2005, max: 2037 }),
      fc.integer({ min: 0, max: 23 }),
      fc.integer({ min: 0, max: 59 }),
      (timezone, year, hour, minute) => {
        const [from, to] = [Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1)];
        const time = [hour, minute].map((n) => String(n).padStart(2, '0')).join(':');
        const isWanted = (wall: number) => wall % 1440 === hour * 60 + minute;
        const expected = beginsByTheClock(from, to, timezone, isWanted);
        expect(expected.length).toBeGreaterThan(363);
        expect(iso(allBegins(daily(time, timezone), from, to))).toEqual(iso(expected));
      },
    );
    fc.assert(property, { seed: 23, numRuns: 40 });
  });

  it('agrees with it around every change of the clocks, for begins of each quarter of an hour', {
    timeout: 120_000,
  }, () => {
    const property = fc.property(
      fc.constantFrom(...ZONES),
      fc.integer({ min: 2005, max: 2037 }),
      fc.integer({ min: 0, max: 3 }),
      (timezone, year, odd) => {
        const show = wallOf(timezone);
        const isWanted = (wall: number) => wall % 15 === odd;
        for (let day = Date.UTC(year, 0, 1); day < Date.UTC(year + 1, 0, 1); day += DAY_MS) {
          if (minutesOf(show(day + DAY_MS)) - minutesOf(show(day)) === 1440) continue;
          const [from, to] = [day - DAY_MS, day + 2 * DAY_MS];
          const pattern = cron(
            [0, 15, 30, 45]
              .map((n) => n + odd)
              .join(',')
              .concat(' * * * *'),
            timezone,
          );
          const expected = beginsByTheClock(from, to, timezone, isWanted);
          expect(iso(allBegins(pattern, from, to))).toEqual(iso(expected));
        }
      },
    );
    fc.assert(property, { seed: 24, numRuns: 40 });
  });

  it('gives the same begins from whatever moment it is asked', () => {
    const timing = cron('*/20 0-3 * * *', 'Australia/Lord_Howe');
    const begins = allBegins(timing, Date.UTC(2026, 3, 3), Date.UTC(2026, 3, 7));
    const property = fc.property(
      fc.integer({ min: Date.UTC(2026, 3, 3), max: Date.UTC(2026, 3, 6) }),
      (at) => {
        expect(nextBegin(timing, at)).toBe(begins.find((begin) => begin > at));
      },
    );
    fc.assert(property, { seed: 25, numRuns: 500 });
  });
});

describe('weekly and monthly', () => {
  it('begin on their day, as clocks of the zone show it', () => {
    const weekly: Timing = { ...daily('23:30', 'America/New_York'), kind: 'weekly', day_of_week: 0 };
    expect(iso(nextBegins(weekly, Date.UTC(2026, 10, 1), 2))).toEqual([
      '2026-11-02T04:30',
      '2026-11-09T04:30',
    ]);
    const monthly: Timing = { ...daily('00:00', 'Asia/Tokyo'), kind: 'monthly', day_of_month: 28 };
    expect(iso(nextBegins(monthly, Date.UTC(2026, 0, 30), 2))).toEqual([
      '2026-02-27T15:00',
      '2026-03-27T15:00',
    ]);
  });

  it('continuous ones have no times', () => {
    const timing: Timing = { ...daily('00:00', 'UTC'), kind: 'continuous' };
    expect([nextBegin(timing, 0), nextBegins(timing, 0, 5)]).toEqual([null, []]);
  });
});

describe('a pattern', () => {
  it.each(['0 4 * * *', '*/15 8-18 * * mon-fri', '0 0 1 1,7 *', '0 0 29 2 *', '5 4 * * SUN', '0 0 L * *'])(
    'may be %s',
    (pattern) => {
      expect(problemOfPattern(pattern)).toBeNull();
    },
  );

  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '@daily',
    '0 24 * * *',
    '60 * * * *',
    '0 0 30 2 *',
    'a b c d e',
    '5/5 * * * *',
  ])('cannot be "%s"', (pattern) => {
    expect(problemOfPattern(pattern)).not.toBeNull();
  });
});

it('knows zones by their IANA names alone', () => {
  expect(['UTC', 'Europe/Berlin', 'America/Argentina/Ushuaia', 'Etc/GMT+5'].map(isTimezone)).toEqual(
    Array(4).fill(true),
  );
  expect(['', '+02:00', 'Europe/Nowhere', 'Mars', 'Europe/Berlin ', "UTC';--"].map(isTimezone)).toEqual(
    Array(6).fill(false),
  );
});
