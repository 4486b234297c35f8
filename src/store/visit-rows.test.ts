import { describe, expect, it } from 'vitest';
import { CHANGE_PARTS, KNOWN_BY, VISIT_OUTCOMES } from '../change/visit-record.ts';
import { partsNumber, partsOf } from './change-parts.ts';
import { changeRowOf, ledgerOf, redirectBefore, type StoredChange } from './visit-rows.ts';

const VISIT: StoredChange = {
  run_id: 3,
  visited_at: 0,
  outcome: VISIT_OUTCOMES.indexOf('changed'),
  known_by: KNOWN_BY.indexOf('content'),
  status_code: 200,
  etag: null,
  last_modified: null,
  content_hash: Uint8Array.of(0, 255),
  text_hash: null,
  simhash_distance: 4,
  wire_bytes: 10,
  bytes_saved: 0,
  duration_ms: 2,
  page_id: 7,
  url: 'https://a.test/',
  title: 'T',
  parts: null,
  detail: null,
};

describe('the words of history', () => {
  it('stand where files have them: new ones go to the end', () => {
    expect(VISIT_OUTCOMES.slice(0, 5)).toEqual(['new', 'changed', 'unchanged', 'gone', 'failed']);
    expect(KNOWN_BY.slice(0, 9).join(' ')).toBe(
      'freshness lastmod 304 hash text content status network orphan',
    );
    expect(CHANGE_PARTS.slice(0, 12).join(' ')).toBe(
      'status title h1 description canonical robots links structured-data text redirect template type',
    );
  });

  it('of what changed are one number, whatever their order', () => {
    expect(partsNumber([])).toBe(0);
    expect(partsNumber(['text', 'status'])).toBe(partsNumber(['status', 'text']));
    expect(partsOf(partsNumber(['text', 'status']))).toEqual(['status', 'text']);
    expect(partsOf(partsNumber(CHANGE_PARTS))).toEqual([...CHANGE_PARTS]);
  });
});

describe('rows of history', () => {
  it('show words, ISO times and hex, and no change where none is kept', () => {
    expect(changeRowOf(VISIT)).toEqual({
      run: 3,
      visited_at: '1970-01-01T00:00:00.000Z',
      outcome: 'changed',
      known_by: 'content',
      status_code: 200,
      etag: null,
      last_modified: null,
      content_hash: '00ff',
      text_hash: null,
      simhash_distance: 4,
      bytes: 10,
      bytes_saved: 0,
      duration_ms: 2,
      page_id: 7,
      url: 'https://a.test/',
      title: 'T',
      parts: [],
      change: null,
    });
    const row = changeRowOf({ ...VISIT, parts: partsNumber(['title']), detail: '{"parts":["title"]}' });
    expect(row).toMatchObject({ parts: ['title'], change: { parts: ['title'] } });
  });

  it('add up in the order of the words', () => {
    const row = (outcome: number, known_by: number) => ({ outcome, known_by, visits: 1, bytes_saved: 2 });
    expect(ledgerOf([row(2, 3), row(2, 0), row(0, 5)])).toEqual([
      { outcome: 'new', knownBy: 'content', visits: 1, bytesSaved: 2 },
      { outcome: 'unchanged', knownBy: 'freshness', visits: 1, bytesSaved: 2 },
      { outcome: 'unchanged', knownBy: 'hash', visits: 1, bytesSaved: 2 },
    ]);
  });

  it('tell where a page led before it led elsewhere', () => {
    const change = (name: string) =>
      JSON.stringify({ fields: [{ name, before: 'https://a.test/x', after: null }] });
    expect(redirectBefore(change('redirect'))).toBe('https://a.test/x');
    expect(redirectBefore(change('title'))).toBeNull();
  });
});
