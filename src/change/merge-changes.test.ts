import { describe, expect, it } from 'vitest';
import { comparePages } from './compare-pages.ts';
import { mergeChanges, type PageEnd, pageAfter } from './merge-changes.ts';
import type { ChangePart, ComparedPage, PageChange } from './visit-record.ts';
import { cutPieces, diffWords } from './word-diff.ts';

const changeOf = (values: Partial<PageChange>): PageChange => ({
  parts: [],
  fields: [],
  linksAdded: [],
  linksRemoved: [],
  text: null,
  wordsAdded: 0,
  wordsRemoved: 0,
  ...values,
});
const field = (name: ChangePart, before: string | null, after: string | null) =>
  changeOf({ parts: [name], fields: [{ name, before, after }] });
const title = (before: string, after: string) => field('title', before, after);
const links = (linksAdded: string[], linksRemoved: string[]) =>
  changeOf({ parts: ['links'], linksAdded, linksRemoved });
function text(before: string, after: string): PageChange {
  const { pieces, wordsAdded, wordsRemoved } = diffWords(before, after);
  return changeOf({ parts: ['text'], text: cutPieces(pieces), wordsAdded, wordsRemoved });
}
const end = (values: Partial<PageEnd> = {}): PageEnd => ({
  status: 200,
  contentHash: 'body',
  textHash: 'text',
  ...values,
});
const OTHER = end({ contentHash: 'other body', textHash: 'other text' });
/** The template differs, and what the steps say of it. */
const SAME_TEXT = end({ contentHash: 'other body' });

/** Each change was found by a run of its own, from run 2 on. */
const merge = (changes: PageChange[], before: PageEnd | null = end(), after: PageEnd | null = SAME_TEXT) =>
  mergeChanges(
    changes.map((change, at) => ({ run: at + 2, change })),
    before,
    after,
  );

describe('changes one after the other', () => {
  it('have the first value before and the last one after', () => {
    expect(merge([title('a', 'b'), title('b', 'c')])?.fields).toEqual([
      { name: 'title', before: 'a', after: 'c' },
    ]);
  });

  it('are nothing when all was changed back', () => {
    expect(merge([title('a', 'b'), title('b', 'a')])).toBeNull();
    expect(merge([links(['/x'], ['/y']), links(['/y'], ['/x'])])).toBeNull();
    expect(merge([links(['/x'], ['/y']), links(['/z'], ['/x'])])).toMatchObject({
      linksAdded: ['/z'],
      linksRemoved: ['/y'],
    });
    const canonical = (before: string, after: string) => field('canonical', before, after);
    expect(merge([canonical('/a?sid=1', '/b'), canonical('/b', '/a?sid=2')])).toBeNull();
    expect(merge([links(['/a?sid=1'], []), links([], ['/a?sid=2'])])).toBeNull();
  });

  it('have the statuses of both ends, whatever was in between', () => {
    const back = field('status', '404', '200');
    expect(merge([back])).toBeNull();
    expect(merge([back], end({ status: 203 }))?.fields).toEqual([
      { name: 'status', before: '203', after: '200' },
    ]);
    expect(merge([back], null)?.fields).toEqual(back.fields);
  });

  it('leave out values of structured data that came and went, each by itself', () => {
    const data = (...fields: [before: string | null, after: string | null][]) =>
      changeOf({
        parts: ['structured-data'],
        fields: fields.map(([before, after]) => ({ name: 'structured-data', before, after })),
      });
    const first = data(['price: 1', 'price: 2'], [null, 'color: red']);
    expect(merge([first, data(['price: 2', 'price: 1'], ['color: red', null])])).toBeNull();
    expect(merge([first, data(['price: 2', 'price: 3'])])?.fields).toEqual([
      { name: 'structured-data', before: 'price: 1', after: 'price: 3' },
      { name: 'structured-data', before: null, after: 'color: red' },
    ]);
    const more: [string, string] = ['… 3 more', '… 3 more'];
    expect(merge([data(more), data(more)])?.parts).toEqual(['structured-data']);
    expect(merge([data(more), data(more)], end(), end())).toBeNull();
  });

  it('tell a page that leads elsewhere by its status and target only', () => {
    const moved = changeOf({
      parts: ['status', 'redirect'],
      fields: [
        { name: 'status', before: '200', after: '301' },
        { name: 'redirect', before: null, after: '/b' },
      ],
    });
    const redirect = end({ status: 301, contentHash: null, textHash: null });
    expect(merge([title('a', 'b'), moved], end(), redirect)).toMatchObject({
      parts: ['status', 'redirect'],
      fields: [{ name: 'redirect' }, { name: 'status' }],
    });
    const refresh = end({ contentHash: null, textHash: null });
    const led = field('redirect', null, '/b');
    expect(merge([title('a', 'b'), led], end(), refresh)?.parts).toEqual(['redirect']);
  });
});

/** A page, and what it may be instead; each step is as a visit compares it. */
describe('a page that was something else in between', () => {
  const PAGE: ComparedPage = {
    statusCode: 200,
    title: 'a',
    h1: null,
    description: null,
    canonical: null,
    noindex: false,
    nofollow: false,
    robotsOther: '',
    structuredData: '{"price":1}',
    text: 'words',
    links: ['/x', '/y'],
    redirectTo: null,
    type: 'text/html',
    content: 'text',
  };
  const MOVED = {
    ...PAGE,
    statusCode: 301,
    redirectTo: '/b',
    content: 'none' as const,
    title: null,
    structuredData: null,
    links: [],
  };
  const away = (from: Partial<ComparedPage>) => comparePages({ ...PAGE, ...from }, MOVED)!;
  const back = (to: Partial<ComparedPage>) => comparePages(MOVED, { ...PAGE, ...to })!;

  it('is told by what differs between the content that it lost and what it has', () => {
    const found = { title: 'b', noindex: true, structuredData: '{"price":2}', links: ['/y', '/z'] };
    expect(merge([away({}), back(found)])).toMatchObject({
      parts: ['title', 'robots', 'links', 'structured-data'],
      fields: [
        { name: 'title', before: 'a', after: 'b' },
        { name: 'robots', before: 'index, follow', after: 'noindex, follow' },
        { name: 'structured-data', before: 'price: 1', after: 'price: 2' },
      ],
      linksAdded: ['/z'],
      linksRemoved: ['/x'],
    });
    expect(merge([away({}), back({ links: ['/y', '/x'] })])).toBeNull();
  });

  it('is told with what changed before and after, as often as it went away', () => {
    const once = [title('before', 'a'), away({}), field('redirect', '/b', '/c'), back({ title: 'b' })];
    expect(merge([...once, title('b', 'c')])?.fields).toEqual([
      { name: 'title', before: 'before', after: 'c' },
    ]);
    expect(merge([...once, away({ title: 'b' }), back({ title: 'before' })])).toBeNull();
  });

  it('is told without links where they were too many to be kept', () => {
    const many = Array.from({ length: 2001 }, (_, i) => `/${i}`);
    expect(merge([away({ links: many }), back({ title: 'b' })])?.parts).toEqual(['title']);
  });

  it('is told as one that leads on where it is not known what it was', () => {
    expect(merge([back({})], null)?.parts).toEqual(['status', 'redirect']);
  });

  const EMPTY = {
    ...PAGE,
    content: 'none' as const,
    title: null,
    structuredData: null,
    text: null,
    links: [],
  };
  const PDF: ComparedPage = { ...EMPTY, type: 'application/pdf' };
  const PNG: ComparedPage = { ...EMPTY, type: 'image/png' };
  const KEPT_PDF: ComparedPage = { ...PDF, content: 'document' };
  const endOf = ({ statusCode, content, type }: ComparedPage): PageEnd => ({
    status: statusCode!,
    contentHash: content === 'none' ? null : `body of ${type}`,
    textHash: content === 'text' ? 'text' : null,
  });
  /** What the way from the first to the last comes to. */
  function along(...way: ComparedPage[]) {
    const steps = way.slice(1).map((found, at) => comparePages(way[at], found)!);
    const told = merge(steps, endOf(way[0]), endOf(way.at(-1)!));
    return told?.fields.map(({ name, before, after }) => `${name}: ${before} → ${after}`) ?? null;
  }
  const OTHER_TITLE: ComparedPage = { ...PAGE, title: 'b' };

  it('is told by its type where that is refused at an end, also beside redirects', () => {
    expect(along(PAGE, MOVED, PDF)).toEqual(['type: text/html → application/pdf']);
    expect(along(PDF, MOVED, PAGE)).toEqual(['type: application/pdf → text/html']);
    expect(along(PAGE, MOVED, PDF, PNG)).toEqual(['type: text/html → image/png']);
    expect(along(PDF, MOVED, PNG)).toEqual(['type: application/pdf → image/png']);
    expect(along(PDF, MOVED, PDF)).toBeNull();
    expect(along(PAGE, PDF, MOVED, PNG)).toEqual(['type: text/html → image/png']);
  });

  it('is told by its content where it has some at both ends, whatever types came between', () => {
    for (const way of [
      [PDF, MOVED],
      [MOVED, PDF],
      [PDF, MOVED, PNG],
      [MOVED, PNG, MOVED],
      [PDF, PNG],
    ])
      expect(along(PAGE, ...way, OTHER_TITLE)).toEqual(['title: a → b']);
    expect(along({ ...PAGE, type: null }, KEPT_PDF, PAGE)).toBeNull();
  });

  it('is told by what it lost, once, where the type it became was refused at first and read later', () => {
    const lost = comparePages(PAGE, PDF)!;
    const gained = comparePages(KEPT_PDF, OTHER_TITLE)!;
    expect(merge([lost, gained], endOf(PAGE), endOf({ ...PAGE, type: 'other' }))).toMatchObject({
      parts: ['title'],
      fields: [{ name: 'title', before: 'a', after: 'b' }],
      linksAdded: [],
      linksRemoved: [],
    });
    expect(merge([lost], endOf(PAGE), endOf(KEPT_PDF))).toMatchObject({
      parts: ['title', 'links', 'structured-data', 'text', 'type'],
      linksRemoved: ['/x', '/y'],
    });
  });

  it('is told by status and target alone where it is a redirect at an end', () => {
    const away = ['status: 200 → 301', 'redirect: null → /b'];
    expect(along(PAGE, PDF, MOVED)).toEqual(expect.arrayContaining(away));
    expect(along(PAGE, PDF, MOVED)).toHaveLength(2);
    expect(along(KEPT_PDF, PAGE, MOVED)).toHaveLength(2);
    expect(along(MOVED, PAGE, PDF)).toHaveLength(2);
    expect(along(MOVED, PDF, PNG, MOVED)).toBeNull();
  });

  it('has other words, which nobody can count', () => {
    expect(merge([away({}), back({})], end(), OTHER)).toMatchObject({
      parts: ['text'],
      text: null,
      wordsAdded: null,
      wordsRemoved: null,
    });
  });
});

describe('word diffs one after the other', () => {
  it('are none where the text is the same again, by its hash', () => {
    expect(merge([text('the old way', 'the new way'), text('the new way', 'the old way')])).toBeNull();
  });

  it('are one diff where the steps tell both texts whole', () => {
    const merged = merge(
      [text('v1 is out', 'v2 is out'), title('x', 'y'), text('v2 is out', 'v3 is out')],
      end(),
      OTHER,
    );
    expect(merged).toMatchObject({
      parts: ['title', 'text'],
      text: [
        ['-', 'v1'],
        ['+', 'v3'],
        ['=', 'is out'],
      ],
      wordsAdded: 1,
      wordsRemoved: 1,
      textSteps: [],
    });
    const characters = merge([text('今日は晴れ', '今日は雨'), text('今日は雨', '明日は雨')], end(), OTHER);
    expect(characters).toMatchObject({ wordsAdded: 2, wordsRemoved: 3 });
  });

  it('stay steps, each with its run and its count, where the texts are not known whole', () => {
    const words = Array.from({ length: 60 }, (_, i) => `word${i}`);
    const [one, two, three] = ['red', 'green', 'blue'].map((colour) =>
      [...words, colour, ...words].join(' '),
    );
    expect(merge([text(one, two), text(two, three)], end(), OTHER)).toMatchObject({
      parts: ['text'],
      text: null,
      wordsAdded: null,
      wordsRemoved: null,
      textSteps: [
        { run: 2, words_added: 1, words_removed: 1, text: text(one, two).text },
        { run: 3, words_added: 1, words_removed: 1, text: text(two, three).text },
      ],
    });
    // Something was not told between the two.
    expect(merge([text('a b', 'a c'), text('x y', 'x z')], end(), OTHER)?.textSteps).toHaveLength(2);
  });

  it('are not told where only the hashes know of them', () => {
    expect(merge([title('x', 'y'), title('y', 'x')], end(), OTHER)).toMatchObject({
      parts: ['text'],
      text: null,
      textSteps: [],
    });
  });
});

describe('a page after a run', () => {
  const visit = (run: number, values: Partial<Parameters<typeof pageAfter>[0][number]>) => ({
    run,
    outcome: 'unchanged' as const,
    known_by: 'content' as const,
    status_code: 200,
    content_hash: 'a',
    text_hash: 't',
    ...values,
  });

  it('is what the last visit that read it says', () => {
    const history = [
      visit(1, {}),
      visit(2, { known_by: '304', status_code: 304, content_hash: null, text_hash: null }),
      visit(3, { outcome: 'failed', status_code: 503, content_hash: 'error', text_hash: null }),
      visit(4, { known_by: 'freshness', status_code: null, content_hash: null, text_hash: null }),
      visit(5, { known_by: 'hash', text_hash: null }),
      visit(6, {
        outcome: 'gone',
        known_by: 'status',
        status_code: 404,
        content_hash: null,
        text_hash: null,
      }),
      visit(7, { outcome: 'changed', content_hash: 'b', text_hash: 'u' }),
    ];
    expect(pageAfter(history, 0)).toBeNull();
    for (const run of [1, 2, 3, 4, 5, 6])
      expect(pageAfter(history, run)).toEqual({ status: 200, contentHash: 'a', textHash: 't' });
    expect(pageAfter(history, 7)).toEqual({ status: 200, contentHash: 'b', textHash: 'u' });
  });
});
