import { describe, expect, it } from 'vitest';
import type { LastGroup, SpanGroup } from '../../store/change-figures.ts';
import { freshnessCurve, shareOf } from './freshness-curve.ts';

const columns = (count: number) => ({ start: 0, stepMs: 1000, count });

/** Pages whose visits were in the middle of their columns. */
const between = (from: number, to: number, isChanged: boolean, pages: number): SpanGroup => ({
  ...{ from, to, isChanged, pages },
  fromAt: from * 1000 + 500,
  toAt: to * 1000 + 500,
});
const since = (first: number, last: number, changes: number, pages: number): LastGroup => ({
  ...{ first, last, changes, pages },
  lastAt: last * 1000 + 500,
  recordMs: (last - first) * 1000,
});

describe('the freshness curve', () => {
  it('is whole while nothing is seen to change', () => {
    const { points, now, rate } = freshnessCurve({
      buckets: columns(4),
      spans: [between(0, 2, false, 10)],
      lasts: [since(0, 2, 0, 10)],
    });
    expect(rate).toBe(0);
    expect(points.map(shareOf)).toEqual([1, 1, 1, 1]);
    // Read in the middle of the first column, there for half of it.
    expect(points.map(({ copies }) => copies)).toEqual([5, 10, 10, 10]);
    expect(now).toEqual({ copies: 10, current: 10 });
  });

  it('falls evenly between two visits of which the second found a change', () => {
    const { points } = freshnessCurve({
      buckets: columns(3),
      spans: [between(0, 2, true, 8)],
      lasts: [],
    });
    // From 1 in the middle of the first column to 0 in the middle of the third.
    expect(points.map(shareOf)).toEqual([0.875, 0.5, 0.125]);
  });

  it('falls after the last visit by what the page and all pages did so far', () => {
    const { points, now, rate } = freshnessCurve({
      buckets: columns(3),
      spans: [between(0, 1, true, 1), between(0, 1, false, 3)],
      lasts: [since(0, 1, 1, 1), since(0, 1, 0, 3)],
    });
    expect(rate).toBe(0.25);
    // d = 1 column, prior 4 columns a change: k = 5, and 1.5 columns have passed.
    const kept = 5 / 6.5;
    expect(now.current).toBeCloseTo(kept ** 2 + 3 * kept, 12);
    // The integrals of (k / (k + t))² and of k / (k + t) from 0.5 to 1.5.
    const last = 25 * (1 / 5.5 - 1 / 6.5) + 3 * 5 * Math.log(6.5 / 5.5);
    expect(points[2].current).toBeCloseTo(last, 12);
    expect(points[2].copies).toBe(4);
  });

  it('goes on falling until now when nothing was visited for long, and falls by nothing before the last visit', () => {
    const figures = {
      buckets: columns(2),
      spans: [between(0, 1, true, 1)],
      lasts: [since(0, 1, 1, 1)],
    };
    // d = 1 column, prior 1 column a change: k = 2, and the last visit was at 1.5 columns of a second.
    expect(freshnessCurve(figures, 9500).now.current).toBeCloseTo((2 / (2 + 8)) ** 2, 12);
    expect(freshnessCurve(figures, 9500).points).toEqual(freshnessCurve(figures).points);
    expect(freshnessCurve(figures, 1200).now.current).toBe(1);
    expect(freshnessCurve(figures, -1).now.current).toBe(1);
  });

  it('counts how long copies were left alone from when they were visited, not from the middle of that column', () => {
    const week = 7 * 86_400_000;
    const days = (n: number) => (n * week) / 7;
    // Crawled on the first day of two weeks, every second page changed, looked at two days later.
    const figures = {
      buckets: { start: 0, stepMs: week, count: 2 },
      spans: [
        { from: 0, to: 1, isChanged: true, pages: 1, fromAt: 0, toAt: week },
        { from: 0, to: 1, isChanged: false, pages: 1, fromAt: 0, toAt: week },
      ],
      lasts: [{ first: 0, last: 1, changes: 1, pages: 2, lastAt: days(7), recordMs: week }],
    };
    expect(freshnessCurve(figures, days(9)).now.current).toBeCloseTo(2 * (3 / (3 + 2 / 7)) ** 2, 12);
  });

  it('knows of changes between two visits of one column', () => {
    const { points, now, rate } = freshnessCurve(
      {
        buckets: columns(3),
        spans: [
          { from: 0, to: 0, isChanged: true, pages: 4, fromAt: 0, toAt: 250 },
          { from: 0, to: 2, isChanged: false, pages: 4, fromAt: 250, toAt: 2000 },
          { from: 2, to: 2, isChanged: true, pages: 1, fromAt: 2000, toAt: 2000 },
        ],
        lasts: [{ first: 0, last: 2, changes: 1, pages: 4, lastAt: 2000, recordMs: 2000 }],
      },
      3000,
    );
    expect(rate).toBe(5 / 8);
    expect(now.current).toBeCloseTo(4 * (3.6 / 4.6) ** 2, 12);
    // Half current in the first quarter of the first column.
    expect(points.slice(0, 2).map(shareOf)).toEqual([0.875, 1]);
  });

  it('is averaged over the part of the last column that has come, not over what is to come', () => {
    const figures = {
      buckets: columns(3),
      spans: [{ from: 0, to: 2, isChanged: true, pages: 2, fromAt: 0, toAt: 2000 }],
      lasts: [{ first: 0, last: 2, changes: 1, pages: 2, lastAt: 2000, recordMs: 2000 }],
    };
    const { points } = freshnessCurve(figures, 2100);
    expect(points[2].copies).toBeCloseTo(2, 12);
    // k = 4: the mean of (k / (k + t))² for t up to 0.1.
    expect(shareOf(points[2])).toBeCloseTo((4 / 0.1) * (1 - 4 / 4.1), 12);
    // No time has come: as it is now.
    expect(freshnessCurve(figures, 2000).points[2]).toEqual({ copies: 2, current: 2 });
    // A clock that is behind changes nothing.
    expect(freshnessCurve(figures, 100)).toEqual(freshnessCurve(figures, 2000));
  });

  it('agrees with many small steps, whatever happened', () => {
    const input = {
      buckets: columns(6),
      spans: [between(0, 3, true, 5), between(1, 2, false, 7), between(2, 5, true, 2)],
      lasts: [since(0, 3, 1, 5), since(1, 2, 0, 7), since(2, 5, 4, 2)],
    };
    const { points } = freshnessCurve(input);
    const rate = 7 / (15 + 7 + 6);
    const steps = 2000;
    for (const [column, point] of points.entries()) {
      let [copies, current] = [0, 0];
      for (let i = 0; i < steps; i++) {
        const t = column + (i + 0.5) / steps;
        for (const { from, to, isChanged, pages } of input.spans) {
          if (t < from + 0.5 || t >= to + 0.5) continue;
          copies += pages / steps;
          current += (pages * (isChanged ? 1 - (t - from - 0.5) / (to - from) : 1)) / steps;
        }
        for (const { first, last, changes, pages } of input.lasts) {
          if (t < last + 0.5) continue;
          const known = last - first + 1 / rate;
          copies += pages / steps;
          current += (pages * (known / (known + t - last - 0.5)) ** (changes + 1)) / steps;
        }
      }
      expect(point.copies).toBeCloseTo(copies, 2);
      expect(point.current).toBeCloseTo(current, 2);
    }
  });

  it('says nothing before the first copy, and nothing without history', () => {
    const early = freshnessCurve({
      buckets: columns(3),
      spans: [],
      lasts: [since(1, 1, 0, 1)],
    });
    expect(early.points.map(shareOf)).toEqual([null, 1, 1]);
    const empty = freshnessCurve({ buckets: null, spans: [], lasts: [] });
    expect([empty.points, shareOf(empty.now)]).toEqual([[], null]);
  });
});
