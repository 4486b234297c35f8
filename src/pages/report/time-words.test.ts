import { describe, expect, it } from 'vitest';
import { oneStep, showBucket, showTick, ticksOf } from './time-words.ts';

const DAY = 86_400_000;
const start = Date.parse('2025-03-03T00:00:00Z');

describe('words for times', () => {
  it('say what a column stands for, as exactly as it is wide', () => {
    const at = (stepMs: number) => showBucket({ start, stepMs, count: 9 }, 1);
    expect(at(DAY)).toBe('4 Mar 2025');
    expect(at(7 * DAY)).toBe('10 Mar 2025 to 16 Mar 2025');
    expect(at(3_600_000)).toBe('3 Mar 2025, 01:00 to 02:00');
    expect(at(5000)).toBe('3 Mar 2025, 00:00:05');
  });

  it('are short under the axis', () => {
    const at = (stepMs: number, count: number) => showTick({ start, stepMs, count }, 1);
    expect([at(DAY, 9), at(28 * DAY, 9), at(3_600_000, 20), at(3_600_000, 40), at(1000, 9)]).toEqual([
      '4 Mar',
      'Mar 2025',
      '01:00',
      '3 Mar 01:00',
      '00:00:01',
    ]);
  });

  it('name the width of a column', () => {
    expect([1000, 60_000, 900_000, 3_600_000, DAY, 7 * DAY, 1234].map(oneStep)).toEqual([
      'a second',
      'a minute',
      '15 minutes',
      'an hour',
      'a day',
      '7 days',
      '1234 milliseconds',
    ]);
  });

  it('never stand under more columns than have room', () => {
    for (let count = 1; count <= 53; count++) {
      const ticks = ticksOf(count, 6);
      expect(ticks.length).toBeLessThanOrEqual(6);
      expect(ticks[0]).toBe(0);
      // The last word has as much room as the others.
      expect(count - ticks.at(-1)!).toBeGreaterThanOrEqual(ticks[1] ?? 1);
    }
  });
});
