import { describe, expect, it } from 'vitest';
import { type CrawlShape, simulateCrawl, zipfPages } from '../bench/scale-model.ts';

const shape: CrawlShape = {
  pages: 20_000,
  hosts: 1000,
  exponent: 0,
  mostPagesPerHost: 20,
  delaySeconds: 1,
  workers: 4,
  pagesPerSecond: 1000,
  leases: 250,
  order: 'as-found',
};

describe('the model of a big crawl', () => {
  it('gives equal hosts the ideal time when the delay is the limit', () => {
    const { pages, seconds, hostBoundSeconds } = simulateCrawl(shape);
    expect(pages).toBe(20_000);
    expect(seconds).toBeCloseTo(20, 6);
    expect(hostBoundSeconds).toBe(20);
  });

  it('gives the work bound when the workers are the limit', () => {
    const { seconds, workBoundSeconds } = simulateCrawl({ ...shape, pagesPerSecond: 50 });
    expect(workBoundSeconds).toBe(100);
    expect(seconds).toBeCloseTo(100, 6);
  });

  it('takes as many rounds as leases are too few', () => {
    const { seconds } = simulateCrawl({ ...shape, leases: 125 });
    expect(seconds).toBeCloseTo(40, 6);
  });

  it('ends with the biggest host alone, and sooner when that one is leased first', () => {
    const uneven = { ...shape, exponent: 1, mostPagesPerHost: 5000, leases: 5 };
    const found = simulateCrawl(uneven);
    const longest = simulateCrawl({ ...uneven, order: 'longest-first' });
    expect(longest.seconds).toBeCloseTo(longest.hostBoundSeconds, 6);
    expect(found.seconds).toBeGreaterThan(longest.seconds);
    expect(longest.tailHosts).toBeGreaterThan(0);
    expect(found.tailSeconds).toBeLessThan(found.seconds);
  });

  it('is never faster than either bound', () => {
    for (const exponent of [0, 0.5, 1, 1.2]) {
      for (const leases of [1, 10, 1000]) {
        for (const pagesPerSecond of [10, 1000]) {
          const answer = simulateCrawl({
            ...shape,
            mostPagesPerHost: 10_000,
            exponent,
            leases,
            pagesPerSecond,
          });
          const bound = Math.max(answer.hostBoundSeconds, answer.workBoundSeconds);
          expect(answer.seconds).toBeGreaterThanOrEqual(bound - 1e-6);
        }
      }
    }
  });
});

describe('the pages of hosts', () => {
  it('add up, fall with the rank and keep to the cap', () => {
    const counts = zipfPages({ pages: 1_000_000, hosts: 10_000, exponent: 1, mostPagesPerHost: 20_000 });
    const sum = counts.reduce((all, count) => all + count, 0);
    expect(Math.abs(sum - 1_000_000)).toBeLessThan(1000);
    expect(counts[0]).toBe(20_000);
    expect(counts.every((count, rank) => rank === 0 || count <= counts[rank - 1])).toBe(true);
    expect(counts.at(-1)).toBeGreaterThanOrEqual(1);
  });

  it('are refused when so few hosts cannot have so many', () => {
    expect(() => zipfPages({ pages: 11, hosts: 2, exponent: 1, mostPagesPerHost: 5 })).toThrow(RangeError);
  });
});
