import { describe, expect, it } from 'vitest';
import { retryAfterMs } from './retry-after.ts';

const now = Date.UTC(2024, 0, 1, 0, 0, 0);

describe('retryAfterMs', () => {
  it.each([
    ['0', 0],
    ['120', 120_000],
    [' 5 ', 5000],
    ['1.5', 1500],
    ['31536000', 31_536_000_000],
    ['Mon, 01 Jan 2024 00:01:30 GMT', 90_000],
    ['Sun, 31 Dec 2023 00:00:00 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['', null],
  ])('reads %j as %s', (value, wait) => {
    expect(retryAfterMs(value, now)).toBe(wait);
  });
});
