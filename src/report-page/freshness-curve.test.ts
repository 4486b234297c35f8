import { describe, expect, it } from 'vitest';
import { freshnessCurve, shareOf } from './freshness-curve.ts';

const columns = (count: number) => ({ start: 0, stepMs: 1000, count });

describe('the freshness curve', () => {
  it('is whole while nothing is seen to change', () => {
    const { points, now, rate } = freshnessCurve({
      buckets: columns(4),
      spans: [{ from: 0, to: 2, isChanged: false, pages: 10 }],
      lasts: [{ first: 0, last: 2, changes: 0, pages: 10 }],
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
      spans: [{ from: 0, to: 2, isChanged: true, pages: 8 }],
      lasts: [],
    });
    // From 1 in the middle of the first column to 0 in the middle of the third.
    expect(points.map(shareOf)).toEqual([0.875, 0.5, 0.125]);
  });

  it('falls after the last visit by what the page and all pages did so far', () => {
    const { points, now, rate } = freshnessCurve({
      buckets: columns(3),
      spans: [
        { from: 0, to: 1, isChanged: true, pages: 1 },
        { from: 0, to: 1, isChanged: false, pages: 3 },
      ],
      lasts: [
        { first: 0, last: 1, changes: 1, pages: 1 },
        { first: 0, last: 1, changes: 0, pages: 3 },
      ],
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
      spans: [{ from: 0, to: 1, isChanged: true, pages: 1 }],
      lasts: [{ first: 0, last: 1, changes: 1, pages: 1 }],
    };
    // d = 1 column, prior 1 column a change: k = 2, and the last visit was at 1.5 columns of a second.
    expect(freshnessCurve(figures, 9500).now.current).toBeCloseTo((2 / (2 + 8)) ** 2, 12);
    expect(freshnessCurve(figures, 9500).points).toEqual(freshnessCurve(figures).points);
    expect(freshnessCurve(figures, 1200).now.current).toBe(1);
    expect(freshnessCurve(figures, -1).now.current).toBe(1);
  });

  it('agrees with many small steps, whatever happened', () => {
    const input = {
      buckets: columns(6),
      spans: [
        { from: 0, to: 3, isChanged: true, pages: 5 },
        { from: 1, to: 2, isChanged: false, pages: 7 },
        { from: 2, to: 5, isChanged: true, pages: 2 },
      ],
      lasts: [
        { first: 0, last: 3, changes: 1, pages: 5 },
        { first: 1, last: 2, changes: 0, pages: 7 },
        { first: 2, last: 5, changes: 4, pages: 2 },
      ],
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
      lasts: [{ first: 1, last: 1, changes: 0, pages: 1 }],
    });
    expect(early.points.map(shareOf)).toEqual([null, 1, 1]);
    const empty = freshnessCurve({ buckets: null, spans: [], lasts: [] });
    expect([empty.points, shareOf(empty.now)]).toEqual([[], null]);
  });
});
