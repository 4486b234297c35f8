import { expect, it } from 'vitest';
import { DiscoveryRecord } from './discovery-record.ts';

it('counts a page once, however often it is named, among few pages and among many', () => {
  const record = new DiscoveryRecord(1, null);
  const saved = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, n) => ({
      pageId: from + n,
      isNewer: false,
      namedBy: 'none' as const,
    }));
  record.count(saved(1, 11));
  record.count(saved(6, 16));
  expect(record.entries).toBe(15);
  record.count(saved(1, 10_001));
  expect(record.entries).toBe(10_000);
  record.count(saved(9_000, 10_003));
  expect(record.entries).toBe(10_002);
});
