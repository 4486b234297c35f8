import { describe, expect, it } from 'vitest';
import {
  cut,
  cutInside,
  pad,
  painterFor,
  printable,
  showBytes,
  showCount,
  showMany,
  showSeconds,
  type TextStream,
  widthOf,
} from './terminal-text.ts';

const stream = (isTTY: boolean): TextStream => ({ isTTY, write: () => {} });

describe('text for terminals', () => {
  it('is painted on a terminal only, and not where NO_COLOR is set', () => {
    expect(painterFor(stream(true), {})('red', 'x')).toBe('\u001b[31mx\u001b[0m');
    expect(painterFor(stream(false), {})('red', 'x')).toBe('x');
    expect(painterFor(stream(true), { NO_COLOR: '1' })('red', 'x')).toBe('x');
    expect(painterFor(stream(true), { TERM: 'dumb' })('red', 'x')).toBe('x');
  });

  it('loses whatever could steer a terminal', () => {
    expect(printable('a\u001b[31mb\u0007\r\nc\u009bd\u202ee')).toBe('a [31mb c d e');
  });

  it('keeps words whole: hyphens and breaks that are not shown are left out, joiners kept', () => {
    expect(printable('Donau\u00addampf\u200bschiff \ufeffx')).toBe('Donaudampfschiff x');
    expect(printable('می\u200cخواهم 👩\u200d👧')).toBe('می\u200cخواهم 👩\u200d👧');
    expect(widthOf('می\u200cخواهم')).toBe(7);
  });

  it('is as wide as a terminal shows it', () => {
    expect(widthOf('abc')).toBe(3);
    expect(widthOf('日本')).toBe(4);
    expect(widthOf('e\u0301')).toBe(1);
  });

  it('is cut by columns, with a mark', () => {
    expect(cut('abcdef', 6)).toBe('abcdef');
    expect(cut('abcdefg', 6)).toBe('abcde…');
    expect(cut('日本語', 5)).toBe('日本…');
    expect(cut('日本語', 4)).toBe('日…');
  });

  it('keeps its end where that tells more, as of URLs', () => {
    const url = 'https://example.com/docs/1';
    expect(cutInside(url, 26)).toBe(url);
    expect(cutInside(url, 22)).toBe('https:/…ple.com/docs/1');
    expect(cutInside('日本語文書一覧', 8)).toBe('日…一覧');
    for (let width = 1; width < 26; width++) expect(widthOf(cutInside(url, width))).toBe(width);
  });

  it('is padded by columns', () => {
    expect(pad('日', 4)).toBe('日  ');
    expect(pad('7', 3, 'right')).toBe('  7');
  });

  it('shows quantities as people read them', () => {
    expect([0, 999, 1000, 1234567].map(showCount)).toEqual(['0', '999', '1,000', '1,234,567']);
    expect([0, 999, 1500, 123_456, 5_000_000_000].map(showBytes)).toEqual([
      '0 B',
      '999 B',
      '1.5 KB',
      '123 KB',
      '5.0 GB',
    ]);
    expect([0.44, 12.4, 61, 3600, 90_061].map(showSeconds)).toEqual([
      '0.4 s',
      '12 s',
      '1 min 1 s',
      '1 h 0 min',
      '1 d 1 h',
    ]);
    expect([showMany(1, 'page'), showMany(2000, 'page')]).toEqual(['1 page', '2,000 pages']);
  });
});
