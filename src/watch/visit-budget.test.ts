import { describe, expect, it } from 'vitest';
import { isOpen, nextOpen, type SavedBudget, VisitBudget } from './visit-budget.ts';

const HOUR = 3_600_000;
/** Local midnight: hours of the day are the machine's. */
const START = new Date(2026, 2, 4).getTime();
const EMPTY: SavedBudget = { visits: 0, at: START, hosts: {} };
const ALL_DAY = { visitsPerDay: 240, hostVisitsPerDay: null, hours: null };

describe('a budget of visits', () => {
  it('grows with the time, by whole visits', () => {
    const budget = new VisitBudget(ALL_DAY, EMPTY);
    expect(budget.visits(START)).toBe(0);
    expect(budget.visits(START + HOUR / 20)).toBe(0);
    expect(budget.visits(START + HOUR)).toBe(10);
  });

  it('loses nothing to rounding over many small steps', () => {
    const budget = new VisitBudget({ ...ALL_DAY, visitsPerDay: 90 }, EMPTY);
    let spent = 0;
    for (let step = 1; step <= 60 * 6; step++) {
      const visits = budget.visits(START + step * 4 * HOUR);
      budget.charge(1, visits, START + step * 4 * HOUR);
      spent += visits;
    }
    expect(spent).toBe(60 * 90);
  });

  it('carries over a day at most', () => {
    const budget = new VisitBudget(ALL_DAY, EMPTY);
    expect(budget.visits(START + 20 * 24 * HOUR)).toBe(240);
  });

  it('comes to a visit even where a day has less than one', () => {
    const budget = new VisitBudget({ ...ALL_DAY, visitsPerDay: 0.5 }, EMPTY);
    expect(budget.visits(START + 47 * HOUR)).toBe(0);
    expect(budget.visits(START + 48 * HOUR)).toBe(1);
    expect(budget.visits(START + 900 * HOUR)).toBe(1);
  });

  it('pays back what was visited beyond it before anything else', () => {
    const budget = new VisitBudget(ALL_DAY, EMPTY);
    budget.charge(1, 25, START + HOUR);
    expect(budget.visits(START + 2 * HOUR)).toBe(0);
    expect(budget.visits(START + 3 * HOUR)).toBe(5);
  });

  it('gives visits back that were not made', () => {
    const budget = new VisitBudget(ALL_DAY, EMPTY);
    budget.charge(1, 10, START + HOUR);
    expect(budget.visits(START + HOUR)).toBe(0);
    budget.charge(1, -4, START + HOUR);
    expect(budget.visits(START + HOUR)).toBe(4);
  });

  it('counts each host for itself', () => {
    const budget = new VisitBudget({ ...ALL_DAY, hostVisitsPerDay: 24 }, EMPTY);
    expect(budget.hostVisits(7, START)).toBe(24);
    budget.charge(7, 20, START + HOUR);
    expect(budget.hostVisits(7, START + HOUR)).toBe(4);
    expect(budget.hostVisits(8, START + HOUR)).toBe(24);
    expect(budget.hostVisits(7, START + 3 * HOUR)).toBe(6);
  });

  it('goes on after a restart as if nothing had happened', () => {
    const options = { ...ALL_DAY, hostVisitsPerDay: 24 };
    const budget = new VisitBudget(options, EMPTY);
    budget.charge(7, 20, START + 3 * HOUR);
    const saved = JSON.parse(JSON.stringify(budget.save(START + 3 * HOUR))) as SavedBudget;
    const again = new VisitBudget(options, saved);
    expect(again.visits(START + 4 * HOUR)).toBe(20);
    expect(again.hostVisits(7, START + 4 * HOUR)).toBe(5);
    expect(again.save(START + 48 * HOUR).hosts).toEqual({});
  });

  it('takes nothing away when the clock goes back', () => {
    const budget = new VisitBudget(ALL_DAY, { ...EMPTY, at: START + HOUR, visits: 5 });
    expect(budget.visits(START)).toBe(5);
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
});
