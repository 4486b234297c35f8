import { describe, expect, it } from 'vitest';
import { countChanges } from './change-counts.ts';

describe('the counts of a run', () => {
  const counts = countChanges([
    { outcome: 'changed', knownBy: 'content', visits: 3, bytesSaved: 0 },
    { outcome: 'unchanged', knownBy: 'hash', visits: 2, bytesSaved: 0 },
    { outcome: 'unchanged', knownBy: '304', visits: 14, bytesSaved: 9000 },
    { outcome: 'unchanged', knownBy: 'freshness', visits: 5, bytesSaved: 500 },
    { outcome: 'gone', knownBy: 'orphan', visits: 2, bytesSaved: 60 },
    { outcome: 'gone', knownBy: 'status', visits: 1, bytesSaved: 0 },
    { outcome: 'changed', knownBy: 'orphan', visits: 1, bytesSaved: 7 },
  ]);

  it('are those of its visits by outcome', () => {
    expect(counts).toMatchObject({
      new: 0,
      changed: 4,
      unchanged: 21,
      gone: 3,
      failed: 0,
      not_transferred: 19,
    });
  });

  it('have a ledger by level, cheapest first, that adds up to what was saved', () => {
    expect(counts.ledger).toEqual([
      { level: 'freshness', pages: 5, requests_saved: 5, bytes_saved: 500 },
      { level: '304', pages: 14, requests_saved: 0, bytes_saved: 9000 },
      { level: 'hash', pages: 2, requests_saved: 0, bytes_saved: 0 },
      { level: 'orphan', pages: 3, requests_saved: 0, bytes_saved: 67 },
    ]);
    expect(counts.bytes_saved).toBe(9567);
  });
});
