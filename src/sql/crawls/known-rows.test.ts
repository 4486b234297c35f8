import { describe, expect, it } from 'vitest';
import { KnownRows } from './known-rows.ts';

describe('known rows', () => {
  it('are told from new ones, passing failures from lasting rows, over many growths', () => {
    const rows = new KnownRows();
    const at = Date.UTC(2026, 0, 2, 3, 4);
    for (let i = 0; i < 20_000; i++) rows.set(`http://a.example/${i}`, i % 3 === 0, at + i * 60_000);
    expect(rows.size).toBe(20_000);
    for (let i = 0; i < 20_000; i += 7) {
      expect(rows.standing(`http://a.example/${i}`)).toBe(i % 3 === 0 ? 'passing' : 'known');
      expect(rows.crawledAt(`http://a.example/${i}`)).toBe(at + i * 60_000);
    }
    expect(rows.standing('http://a.example/x')).toBe('new');
    expect(rows.crawledAt('http://a.example/x')).toBe(null);
  });

  it('are written again in place', () => {
    const rows = new KnownRows();
    rows.set('http://a.example/', true, 0);
    rows.set('http://a.example/', false, 120_000);
    expect([rows.size, rows.standing('http://a.example/'), rows.crawledAt('http://a.example/')]).toEqual([
      1,
      'known',
      120_000,
    ]);
  });
});
