import { describe, expect, it } from 'vitest';
import { bandInterval, changeFrequencyAfter, scoreParts, sumOfParts } from './change-frequency.ts';

describe('the change frequency of the score', () => {
  it('moves three tenths of the way towards one change in the time since the last visit', () => {
    expect(changeFrequencyAfter(0, true, 1)).toBeCloseTo(0.3, 12);
    expect(changeFrequencyAfter(0, true, 1 / 24)).toBeCloseTo(7.2, 12);
    expect(changeFrequencyAfter(2, true, 4)).toBeCloseTo(0.3 * 0.25 + 0.7 * 2, 12);
  });

  it('counts a change seen minutes after the last visit as at most 24 a day', () => {
    const fiveMinutes = 5 / 1440;
    expect(changeFrequencyAfter(0, true, fiveMinutes)).toBeCloseTo(7.2, 12);
    expect(changeFrequencyAfter(0, true, 0)).toBeCloseTo(7.2, 12);
    let frequency = 0;
    for (let visit = 0; visit < 50; visit++) frequency = changeFrequencyAfter(frequency, true, fiveMinutes);
    expect(frequency).toBeLessThanOrEqual(24);
    expect(frequency).toBeGreaterThan(23.9);
    // Stored by a version that knew no bound.
    expect(changeFrequencyAfter(432, true, 1)).toBeCloseTo(0.3 + 0.7 * 24, 12);
  });

  it('stays where it is when nothing changed, and where the time is not known', () => {
    expect(changeFrequencyAfter(2, false, 4)).toBe(2);
    expect(changeFrequencyAfter(2, true, -1)).toBe(2);
    expect(changeFrequencyAfter(2, true, Number.NaN)).toBe(2);
  });
});

describe('the priority score', () => {
  const priorityScore = (...given: Parameters<typeof scoreParts>) => sumOfParts(scoreParts(...given));

  it('adds up days, frequency, depth and the bonus as its phase 5 does', () => {
    expect(priorityScore(0, 0, 0, false)).toBeCloseTo(0.2, 12);
    expect(priorityScore(0, 3, 10, false)).toBeCloseTo(4 + 0.05, 12);
    expect(priorityScore(1.5, 1, 2, false)).toBeCloseTo(0.8 + 6 + 0.1, 12);
    // Its own value for a page that was never crawled on 1 January 2025: last crawled on day 0.
    expect(priorityScore(0, 0, 20_089, true)).toBeCloseTo(8035.6 + 0.2 + 100, 9);
  });
});

describe('the bands of the score', () => {
  it.each([
    [0, 30, 'monthly'],
    [0.05, 7, 'weekly'],
    [0.0999, 7, 'weekly'],
    [0.1, 7, 'every 2 to 7 days'],
    [0.25, 4, 'every 2 to 7 days'],
    [0.4999, 2.0004, 'every 2 to 7 days'],
    [0.5, 1, 'daily'],
    [1.9999, 1, 'daily'],
    [2, 1 / 2, 'several times a day'],
    [4, 1 / 4, 'several times a day'],
    [9.999, 0.1, 'several times a day'],
    [10, 1 / 24, 'hourly'],
    [500, 1 / 24, 'hourly'],
  ])('visit a page of %d changes a day after %d days: %s', (frequency, days) => {
    expect(bandInterval(frequency)).toBeCloseTo(days, 3);
  });
});
