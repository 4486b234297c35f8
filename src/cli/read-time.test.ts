import { describe, expect, it } from 'vitest';
import { readLength, readMoment } from './read-time.ts';

const X = { flag: '--x', command: 'sumi y' };
const NOW = Date.UTC(2026, 1, 10, 12);

describe('a length of time', () => {
  it.each([
    ['90m', 90 * 60_000],
    ['12h', 12 * 3_600_000],
    ['7d', 7 * 86_400_000],
    ['2w', 14 * 86_400_000],
    ['0.5 d', 43_200_000],
  ])('is read from %s', (text, length) => {
    expect(readLength(text, X)).toBe(length);
  });

  it.each(['', '7', 'd', '7y', '-7d', '7d 2h', '1e3d', '٧d'])('is not %j', (text) => {
    expect(() => readLength(text, X)).toThrow(/--x cannot be .*expected a time such as 90m/s);
  });
});

describe('a moment', () => {
  it.each([
    ['2026-02-03', Date.UTC(2026, 1, 3)],
    ['2026-02-03T10:30', Date.UTC(2026, 1, 3, 10, 30)],
    ['2026-02-03 10:30:15', Date.UTC(2026, 1, 3, 10, 30, 15)],
    ['2026-02-03T10:30:15.250Z', Date.UTC(2026, 1, 3, 10, 30, 15, 250)],
    ['2026-02-03T10:30+02:00', Date.UTC(2026, 1, 3, 8, 30)],
    ['7d', NOW - 7 * 86_400_000],
  ])('is read from %s', (text, moment) => {
    expect(readMoment(text, X, NOW)).toBe(moment);
  });

  it.each(['2026', '2026-02', '2026-13-01', '2026-02-30', '2026-02-03T25:00', 'yesterday', '03.02.2026'])(
    'is not %s',
    (text) => {
      expect(() => readMoment(text, X, NOW)).toThrow(/expected a date such as/);
    },
  );
});
