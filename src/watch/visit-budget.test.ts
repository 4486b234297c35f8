import { describe, expect, it } from 'vitest';
import { readBudget } from '../config/watch-values.ts';
import { isOpen, nextClosed, nextOpen, type SavedBudget, VisitBudget } from './visit-budget.ts';

const HOUR = 3_600_000;
/** Local midnight: hours of the day are the machine's. */
const START = new Date(2026, 2, 4).getTime();
const EMPTY: SavedBudget = { visits: 0, at: START, hosts: {} };
const rate = (perDay: number, atOnce = perDay) => ({ perDay, atOnce, most: Math.max(perDay, 1) });
const ALL_DAY = { all: rate(240), host: null, hours: null };

describe('a budget of visits', () => {
  it('grows with the time, by whole visits', () => {
    const budget = new VisitBudget(ALL_DAY, EMPTY);
    expect(budget.visits(START)).toBe(0);
    expect(budget.visits(START + HOUR / 20)).toBe(0);
    expect(budget.visits(START + HOUR)).toBe(10);
  });

  it('loses nothing to rounding over many small steps', () => {
    const budget = new VisitBudget({ ...ALL_DAY, all: rate(90) }, EMPTY);
    let spent = 0;
    for (let step = 1; step <= 60 * 6; step++) {
      const visits = budget.visits(START + step * 4 * HOUR);
      budget.charge(visits, START + step * 4 * HOUR);
      spent += visits;
    }
    expect(spent).toBe(60 * 90);
  });

  it('carries over a day at most', () => {
    const budget = new VisitBudget(ALL_DAY, EMPTY);
    expect(budget.visits(START + 20 * 24 * HOUR)).toBe(240);
  });

  it('comes to a visit even where a day has less than one', () => {
    const budget = new VisitBudget({ ...ALL_DAY, all: rate(0.5, 1) }, EMPTY);
    expect(budget.visits(START + 47 * HOUR)).toBe(0);
    expect(budget.visits(START + 48 * HOUR)).toBe(1);
    expect(budget.visits(START + 900 * HOUR)).toBe(1);
  });

  it('pays back what was visited beyond it before anything else', () => {
    const budget = new VisitBudget(ALL_DAY, EMPTY);
    budget.charge(25, START + HOUR);
    expect(budget.visits(START + 2 * HOUR)).toBe(0);
    expect(budget.visits(START + 3 * HOUR)).toBe(5);
  });

  it('gives visits back that were not made', () => {
    const budget = new VisitBudget(ALL_DAY, EMPTY);
    budget.charge(10, START + HOUR);
    expect(budget.visits(START + HOUR)).toBe(0);
    budget.charge(-4, START + HOUR);
    expect(budget.visits(START + HOUR)).toBe(4);
  });

  it('counts each host for itself: N at first, no more in its first day, and then as much as comes', () => {
    const budget = new VisitBudget({ ...ALL_DAY, host: rate(24) }, EMPTY);
    expect(budget.hostVisits(7, START)).toBe(24);
    budget.chargeHost(7, 20, START + HOUR);
    expect(budget.hostVisits(7, START + HOUR)).toBe(4);
    expect(budget.hostVisits(8, START + HOUR)).toBe(24);
    expect(budget.hostVisits(7, START + 25 * HOUR)).toBe(4);
    expect(budget.hostVisits(7, START + 27 * HOUR)).toBe(6);
    expect(budget.hostVisits(7, START + 99 * HOUR)).toBe(24);
  });

  it.each([
    ['5/hour', HOUR],
    ['24/day', 24 * HOUR],
  ])(
    'keeps %s for a host over any such time from the first on, whenever it looks and restarts',
    (text, span) => {
      const options = { ...ALL_DAY, host: readBudget(text)! };
      const made: number[] = [];
      let saved: SavedBudget = EMPTY;
      for (let at = START; at < START + 5 * span; at += span / 8) {
        const budget = new VisitBudget(options, saved);
        const visits = budget.hostVisits(7, at);
        budget.chargeHost(7, visits, at);
        for (let n = 0; n < visits; n++) made.push(at);
        saved = JSON.parse(JSON.stringify(budget.save(at))) as SavedBudget;
      }
      const most = Math.max(
        ...made.map((from) => made.filter((at) => at >= from && at < from + span).length),
      );
      expect(most).toBe(Number.parseInt(text, 10));
      expect(made.length).toBeGreaterThanOrEqual(3 * most);
    },
  );

  it('has one advance for a first crawl, whose rest comes bit by bit when that is over', () => {
    const budget = VisitBudget.atStart({ ...ALL_DAY, host: rate(120) }, START);
    expect(budget.visits(START)).toBe(240);
    budget.charge(30, START);
    budget.chargeHost(7, 30, START);
    expect(budget.visits(START + 5 * HOUR)).toBe(210);
    budget.endStart(START + HOUR);
    expect([budget.visits(START + HOUR), budget.hostVisits(7, START + HOUR)]).toEqual([0, 0]);
    // 30 visits are three hours' worth, and six of the host's.
    expect(budget.visits(START + 4 * HOUR)).toBe(10);
    expect([budget.hostVisits(7, START + 6 * HOUR), budget.hostVisits(7, START + 7 * HOUR)]).toEqual([0, 5]);
  });

  const SECOND = 1000;
  it.each([
    ['on time', [0, 0, 0, 0, 0]],
    ['early and late', [0, -40 * SECOND, 20 * SECOND, -60 * SECOND, 0]],
  ])('has N of N/day at each look where one is made a day, %s', (_, off) => {
    for (const { all, host, spent } of [
      { all: rate(10), host: null, spent: 10 },
      { all: rate(1), host: null, spent: 1 },
      // The first crawl was over sooner than its advance.
      { all: rate(10), host: rate(4), spent: 9 },
    ]) {
      const options = { all, host, hours: null };
      let saved: SavedBudget | null = null;
      const made = off.map((offMs, day) => {
        const now = START + day * 24 * HOUR + offMs;
        const budget: VisitBudget =
          saved === null ? VisitBudget.atStart(options, now) : new VisitBudget(options, saved);
        budget.look(now);
        const visits = day === 0 ? spent : budget.visits(now);
        const ofHost = Math.min(visits, budget.hostVisits(7, now));
        budget.charge(visits, now);
        budget.chargeHost(7, ofHost, now);
        if (day === 0) budget.endStart(now + HOUR / 2);
        saved = JSON.parse(JSON.stringify(budget.save(now + HOUR / 2))) as SavedBudget;
        return [visits, ofHost];
      });
      const hostsMost = host?.perDay ?? all.perDay;
      expect(made).toEqual(off.map((_each, day) => [day === 0 ? spent : all.perDay, hostsMost]));
    }
  });

  it('has what came bit by bit and no more where looks are made more often, whoever looks rarely in between', () => {
    const options = { ...ALL_DAY, all: rate(24) };
    const budget = VisitBudget.atStart(options, START);
    const made = [0, 6, 23, 30, 54, 55, 60, 84, 85].map((hour) => {
      const now = START + hour * HOUR;
      budget.look(now);
      const visits = budget.visits(now);
      budget.charge(visits, now);
      return visits;
    });
    // After 24 hours they begin to come; nothing that came is counted twice after a day without a look.
    expect(made).toEqual([24, 0, 0, 6, 24, 1, 5, 24, 1]);
  });

  it('has its part of a day of 23 hours, and comes as often as is written from now on', () => {
    const options = { ...ALL_DAY, all: rate(24) };
    const budget = VisitBudget.atStart(options, START);
    const made = [0, 24, 47, 71].map((hour) => {
      const now = START + hour * HOUR;
      budget.look(now);
      const visits = budget.visits(now);
      budget.charge(visits, now);
      return visits;
    });
    expect(made).toEqual([24, 24, 23, 24]);
    const daily = VisitBudget.atStart({ ...ALL_DAY, all: readBudget('10/day')! }, START);
    daily.charge(10, START);
    const saved = JSON.parse(JSON.stringify(daily.save(START))) as SavedBudget;
    const hourly = new VisitBudget({ ...ALL_DAY, all: readBudget('10/hour')! }, saved);
    hourly.look(START + 2 * HOUR);
    expect(hourly.visits(START + 2 * HOUR)).toBe(20);
  });

  it.each([
    ['10/day', '5000/day', 6, 4994],
    ['10/day', '600/hour', 10, 590],
    ['5000/day', '10/day', 4000, 10],
  ])('has the difference at once where %s becomes %s in its first day', (before, after, spent, left) => {
    const optionsOf = (text: string) => ({ all: readBudget(text)!, host: readBudget(text)!, hours: null });
    const budget = VisitBudget.atStart(optionsOf(before), START);
    budget.charge(spent, START);
    budget.chargeHost(7, spent, START);
    const saved = JSON.parse(JSON.stringify(budget.save(START))) as SavedBudget;
    const again = new VisitBudget(optionsOf(after), saved);
    expect([again.visits(START), again.hostVisits(7, START)]).toEqual([left, left]);
    // What comes then comes as for anybody.
    const { perDay, atOnce } = readBudget(after)!;
    again.charge(left, START);
    const spanMs = (atOnce / perDay) * 24 * HOUR;
    expect([again.visits(START + spanMs), again.visits(START + 1.5 * spanMs)]).toEqual([0, atOnce / 2]);
  });

  it.each([
    [7, null, 70],
    [7, { from: 9, to: 17 }, 70],
    [1, null, 10],
  ])('has 70/week where one looks every %d days, in hours %j', (days, hours, expected) => {
    const options = { all: readBudget('70/week')!, host: null, hours };
    const budget = new VisitBudget(options, EMPTY);
    for (let look = 1; look <= 4; look++) {
      const now = START + look * days * 24 * HOUR;
      budget.look(now);
      expect(budget.visits(now)).toBe(expected);
      budget.charge(expected, now);
    }
  });

  it('loses no part of a visit where a day has no whole number of them', () => {
    const budget = new VisitBudget({ ...ALL_DAY, all: readBudget('10/week')! }, EMPTY);
    let made = 0;
    for (let day = 1; day <= 70; day++) {
      const now = START + day * 24 * HOUR;
      budget.look(now);
      made += budget.visits(now);
      budget.charge(budget.visits(now), now);
    }
    expect(made).toBe(100);
  });

  it('goes on after a restart as if nothing had happened', () => {
    const options = { ...ALL_DAY, host: rate(24) };
    const budget = new VisitBudget(options, { ...EMPTY, hosts: { 7: [0, START] } });
    budget.charge(20, START + 3 * HOUR);
    budget.chargeHost(7, 1, START + 3 * HOUR);
    const saved = JSON.parse(JSON.stringify(budget.save(START + 3 * HOUR))) as SavedBudget;
    const again = new VisitBudget(options, saved);
    expect(again.visits(START + 4 * HOUR)).toBe(20);
    expect(again.hostVisits(7, START + 4 * HOUR)).toBe(3);
    expect(again.save(START + 48 * HOUR).hosts).toEqual({ 7: [24, START + 48 * HOUR] });
  });

  it('takes nothing away when the clock goes back', () => {
    const budget = new VisitBudget(ALL_DAY, { ...EMPTY, at: START + HOUR, visits: 5 });
    expect(budget.visits(START)).toBe(5);
  });

  it('does not wait for a clock that was days ahead', () => {
    const budget = new VisitBudget(ALL_DAY, { ...EMPTY, at: START + 900 * HOUR });
    expect(budget.visits(START)).toBe(0);
    expect(budget.visits(START + HOUR)).toBe(10);
  });
});

describe('hours of the day', () => {
  const NIGHT = { from: 22, to: 6 };

  it('may go over midnight', () => {
    const open = [0, 5, 6, 12, 21, 22, 23].filter((hour) => isOpen(START + hour * HOUR, NIGHT));
    expect(open).toEqual([0, 5, 22, 23]);
    expect(isOpen(START + 12 * HOUR, { from: 9, to: 17 })).toBe(true);
    expect(isOpen(START + 17 * HOUR, { from: 9, to: 17 })).toBe(false);
  });

  it('have all of the day’s visits', () => {
    const budget = new VisitBudget({ ...ALL_DAY, hours: NIGHT }, { ...EMPTY, at: START + 6 * HOUR });
    expect(budget.visits(START + 22 * HOUR)).toBe(0);
    expect(budget.visits(START + 23 * HOUR)).toBe(30);
    expect(budget.visits(START + 30 * HOUR)).toBe(240);
  });

  it('tell when they begin', () => {
    expect(nextOpen(START + 12.5 * HOUR, NIGHT)).toBe(START + 22 * HOUR);
    expect(nextOpen(START + 23 * HOUR, NIGHT)).toBe(START + 23 * HOUR);
    expect(nextOpen(START, null)).toBe(START);
  });

  it('tell when they end', () => {
    expect(nextClosed(START + 23.5 * HOUR, NIGHT)).toBe(START + 30 * HOUR);
    expect(nextClosed(START + 12 * HOUR, NIGHT)).toBe(START + 12 * HOUR);
    expect(nextClosed(START, null)).toBeNull();
  });
});
