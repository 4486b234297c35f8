import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../test/seeded-random.ts';
import { readBudget } from '../config/watch-values.ts';
import { type BudgetOptions, type SavedBudget, VisitBudget } from './visit-budget.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Local midnight: hours of the day are the machine's. */
const START = new Date(2026, 2, 4).getTime();
const NIGHT = { from: 22, to: 6 };
const EMPTY: SavedBudget = { tickedAt: START, all: [0], hosts: {} };

function optionsOf(
  all: string,
  host: string | null = null,
  hours: BudgetOptions['hours'] = null,
): BudgetOptions {
  return { all: readBudget(all)!, host: host === null ? null : readBudget(host)!, hours };
}

/** Through JSON, as a restart would have it. */
const restarted = (options: BudgetOptions, budget: VisitBudget) =>
  new VisitBudget(options, JSON.parse(JSON.stringify(budget.save())) as SavedBudget);

/** A tick that visits all that it may; answers how much that was, of all and of host 7. */
function spendAll(budget: VisitBudget, now: number, isFirstCrawl = false): [all: number, host: number] {
  budget.refill(now, isFirstCrawl);
  const ofHost = Math.min(budget.visits, budget.hostVisits(7));
  const visits = budget.visits;
  budget.charge({ visits, hosts: { 7: ofHost } }, now);
  return [visits, ofHost];
}

function spentAt(budget: VisitBudget, hours: readonly number[], isFirstCrawl = false): number[] {
  return hours.map((hour, i) => spendAll(budget, START + hour * HOUR, isFirstCrawl && i === 0)[0]);
}

describe('a budget of visits', () => {
  it('comes evenly with the time, and what is left goes over, up to N', () => {
    const budget = new VisitBudget(optionsOf('240/day'), EMPTY);
    const inHand = [0, 1, 2, 13, 30, 900].map((hour) => {
      budget.refill(START + hour * HOUR);
      return budget.visits;
    });
    expect(inHand).toEqual([0, 10, 20, 130, 240, 240]);
  });

  it('loses nothing to rounding over many small steps', () => {
    const budget = new VisitBudget(optionsOf('90/day'), EMPTY);
    const steps = Array.from({ length: 60 * 96 }, (_, step) => (step + 1) / 4);
    expect(spentAt(budget, steps).reduce((sum, visits) => sum + visits)).toBe(60 * 90);
    const weekly = new VisitBudget(optionsOf('10/week'), EMPTY);
    const days = Array.from({ length: 70 }, (_, day) => 24 * (day + 1));
    expect(spentAt(weekly, days).reduce((sum, visits) => sum + visits)).toBe(100);
  });

  it('comes to a visit even where a day has less than one', () => {
    const budget = new VisitBudget(optionsOf('0.5/day'), EMPTY);
    expect(spentAt(budget, [0, 23, 25, 47, 70, 72, 74, 121])).toEqual([0, 0, 1, 0, 0, 0, 1, 1]);
  });

  it('gives a first crawl all that is free, each period anew, and what comes evenly from its end on', () => {
    const budget = new VisitBudget(optionsOf('24/day', '20/day'), EMPTY);
    expect(spendAll(budget, START, true)).toEqual([24, 20]);
    expect(spendAll(budget, START + 12 * HOUR, true)).toEqual([0, 0]);
    expect(spendAll(budget, START + 24 * HOUR, true)).toEqual([24, 20]);
    const other = new VisitBudget(optionsOf('24/day', '12/day'), EMPTY);
    other.refill(START, true);
    other.charge({ visits: 6, hosts: { 7: 6 } }, START);
    other.drain();
    expect([other.visits, other.hostVisits(7), other.hostVisits(8)]).toEqual([0, 0, 12]);
    expect(spendAll(other, START + 6 * HOUR)).toEqual([6, 3]);
  });

  it('counts each host for itself; one that was not visited for the whole time has N', () => {
    const budget = new VisitBudget(optionsOf('1000/day', '24/day'), EMPTY);
    budget.refill(START + HOUR);
    expect(budget.hostVisits(7)).toBe(24);
    budget.charge({ visits: 20, hosts: { 7: 20 } }, START + HOUR);
    expect([budget.hostVisits(7), budget.hostVisits(8)]).toEqual([4, 24]);
    budget.refill(START + 3 * HOUR);
    expect(budget.hostVisits(7)).toBe(4);
    budget.refill(START + 25 * HOUR);
    expect([budget.hostVisits(7), budget.save().hosts]).toEqual([24, {}]);
  });

  it.each([
    ['1/day', DAY],
    ['10/day', DAY],
    ['70/week', 7 * DAY],
    ['5/hour', HOUR],
  ])(
    'has N of %s at each tick of a cron that comes as often, some minutes early or late',
    (text, periodMs) => {
      const options = optionsOf(text, text);
      const n = Number.parseInt(text, 10);
      let budget = new VisitBudget(options, EMPTY);
      const made = [0, -0.1, 0.05, -0.05, 0.1, 0].map((percent, tick) => {
        budget = restarted(options, budget);
        return spendAll(budget, START + tick * periodMs + (percent / 100) * periodMs, tick === 0);
      });
      expect(made).toEqual(made.map(() => [n, n]));
    },
  );

  it('has its part of the day on which clocks are put forward', () => {
    const budget = new VisitBudget(optionsOf('24/day'), EMPTY);
    expect(spentAt(budget, [0, 24, 47, 71], true)).toEqual([24, 24, 23, 24]);
  });

  it('has what came since the last tick where that is longer ago than the time it is for, a day’s worth at most', () => {
    const budget = new VisitBudget(optionsOf('10/hour'), EMPTY);
    expect(spentAt(budget, [2, 2.5, 5, 99])).toEqual([20, 0, 25, 240]);
  });

  it.each(['5/hour', '24/day', '70/week', '3.5/day'])(
    'never makes N of %s into more: not by restarts, other budgets on the way, none for hosts for a while, or rare ticks',
    (text) => {
      const { periodMs, visits: n } = readBudget(text)!;
      for (let seed = 1; seed <= 20; seed++) {
        const random = seededRandom(seed).next;
        const made: { at: number; all: number; host: number }[] = [];
        let budget = new VisitBudget(optionsOf(text, text), EMPTY);
        let now = START;
        for (let tick = 0; tick < 300; tick++) {
          const smaller = `${1 + Math.floor(random() * (n - 1))}/${text.split('/')[1]}`;
          const options = optionsOf(random() < 0.2 ? smaller : text, random() < 0.1 ? null : text);
          budget = restarted(options, budget);
          const [all, host] = spendAll(budget, now, random() < 0.1);
          made.push({ at: now, all, host: options.host === null ? 0 : host });
          now += random() * periodMs * (random() < 0.1 ? 0.9 : 0.1);
        }
        for (const { at } of made) {
          // A twentieth of the time since the tick before may be missing.
          const within = made.filter((other) => other.at >= at && other.at < at + 0.95 * periodMs);
          expect(within.reduce((sum, tick) => sum + tick.all, 0)).toBeLessThanOrEqual(n);
          expect(within.reduce((sum, tick) => sum + tick.host, 0)).toBeLessThanOrEqual(n);
        }
      }
    },
  );

  it('keeps to N in any such time where ticks are many, however long each takes', () => {
    const { periodMs } = readBudget('20/minute')!;
    for (let seed = 1; seed <= 20; seed++) {
      const random = seededRandom(seed).next;
      const made: number[] = [];
      const budget = new VisitBudget(optionsOf('20/minute'), EMPTY);
      for (let now = START; now < START + 20 * periodMs; now += periodMs / 25) {
        const took = random() * (periodMs / 25);
        budget.refill(now, random() < 0.5);
        const visits = budget.visits;
        budget.charge({ visits, hosts: {} }, now, now + took);
        for (let n = 0; n < visits; n++) made.push(now + random() * took);
      }
      made.sort((a, b) => a - b);
      const most = Math.max(
        ...made.map((at, i) => made.slice(i).filter((other) => other < at + periodMs).length),
      );
      expect(most).toBeLessThanOrEqual(20);
      expect(made.length).toBeGreaterThan(18 * 20);
    }
  });

  it('has N at each daily tick, though each takes hours', () => {
    const budget = new VisitBudget(optionsOf('24/day'), EMPTY);
    for (let day = 0; day < 4; day++) {
      const now = START + day * DAY;
      budget.refill(now, day === 0);
      expect(budget.visits).toBe(24);
      budget.charge({ visits: 24, hosts: {} }, now, now + (1 + day) * 3 * HOUR);
    }
  });

  it('follows another budget at once: what was visited counts, whatever it was paid from', () => {
    const small = new VisitBudget(optionsOf('10/day'), EMPTY);
    expect(spendAll(small, START, true)[0]).toBe(10);
    const larger = restarted(optionsOf('5000/day'), small);
    expect(spendAll(larger, START, true)[0]).toBe(4990);
    const again = restarted(optionsOf('10/day'), larger);
    expect(spentAt(again, [1, 6, 23])).toEqual([0, 0, 0]);
    expect(spendAll(restarted(optionsOf('5000/day'), again), START + 23 * HOUR, true)[0]).toBe(0);
    expect(spendAll(restarted(optionsOf('10/day'), larger), START + 25 * HOUR, true)[0]).toBe(10);
  });

  it('keeps no line for each second', () => {
    const budget = new VisitBudget(optionsOf('86400/day'), EMPTY);
    for (let second = 1; second <= 20_000; second++) spendAll(budget, START + 1000 * second);
    expect(budget.save().all.length).toBeLessThan(100);
  });

  it('takes visits of times to come as made now when the clock was set back, and takes nothing away', () => {
    const budget = new VisitBudget(optionsOf('24/day'), {
      ...EMPTY,
      tickedAt: START + 900 * HOUR,
      all: [4, START + 900 * HOUR, START + 901 * HOUR, 20],
    });
    expect(spentAt(budget, [0, 1, 12, 22, 24, 25])).toEqual([4, 0, 0, 0, 2, 1]);
  });

  it('has all of a day’s visits in the hours, and of an hour’s those of each open hour', () => {
    const daily = new VisitBudget(optionsOf('240/day', null, NIGHT), {
      ...EMPTY,
      tickedAt: START + 6 * HOUR,
    });
    expect(spentAt(daily, [22, 23, 30, 46, 47])).toEqual([0, 30, 210, 0, 30]);
    const hourly = new VisitBudget(optionsOf('5/hour', null, NIGHT), {
      ...EMPTY,
      tickedAt: START + 6 * HOUR,
    });
    expect(spentAt(hourly, [22, 23, 24, 25])).toEqual([0, 5, 5, 5]);
    const weekly = new VisitBudget(optionsOf('70/week', null, NIGHT), EMPTY);
    expect(spentAt(weekly, [23, 47, 23 + 7 * 24])).toEqual([9, 10, 60]);
  });
});
