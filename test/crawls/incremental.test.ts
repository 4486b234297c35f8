import { describe, expect, it } from 'vitest';
import { createChangingPages, type PageLife } from '../web/changing-pages.ts';
import { answer, type FakeWeb } from '../web/fake-web.ts';
import { NOISY_LAYOUTS } from '../web/noisy-layouts.ts';
import { asked, type CrawlOptions, fastClock, useBench } from './crawl-site.ts';
import { changedParts, outcomes, visitsOf } from './history-rows.ts';

const bench = useBench();
const INCREMENTAL: CrawlOptions = { mode: 'incremental', spotCheck: 0 };

/** Requests since the log had this length, by path: which conditions came with them, and the answer. */
function requestsFrom(
  web: FakeWeb,
  from: number,
): Record<string, { tag?: string; since?: string; status: number }> {
  return Object.fromEntries(
    web.log.slice(from).map(({ path, headers, status }) => [
      path,
      {
        tag: headers['if-none-match'] as string | undefined,
        since: headers['if-modified-since'] as string | undefined,
        status,
      },
    ]),
  );
}

const SITE = {
  '/': { validators: 'both', links: ['/tag', '/date', '/both', '/none'] },
  '/tag': { validators: 'etag' },
  '/date': { validators: 'date' },
  '/both': { validators: 'both' },
  '/none': {},
} as const;

describe('a full run', () => {
  it('sends no conditions, and still says what changed', async () => {
    const site = createChangingPages(SITE);
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    const first = await bench.crawl(file, web.url('/'));
    expect(first.summary).toMatchObject({ mode: 'full', new: 5, changed: 0, unchanged: 0, bytes_saved: 0 });
    site.change('/tag', '/none');
    const from = web.log.length;
    const { summary } = await bench.crawl(file, web.url('/'), { mode: 'full' });
    for (const { tag, since, status } of Object.values(requestsFrom(web, from)))
      expect({ tag, since, status }).toEqual({ tag: undefined, since: undefined, status: 200 });
    expect(outcomes(file)).toEqual({
      '/': 'unchanged hash',
      '/tag': 'changed content',
      '/date': 'unchanged hash',
      '/both': 'unchanged hash',
      '/none': 'changed content',
    });
    expect(summary).toMatchObject({
      new: 0,
      changed: 2,
      unchanged: 3,
      gone: 0,
      failed: 0,
      not_transferred: 0,
      bytes_saved: 0,
    });
    expect(changedParts(file)).toEqual({ '/tag': 'text', '/none': 'text' });
  });
});

describe('an answer without a byte', () => {
  it('is an empty page: what it gains or loses is told, words and links', async () => {
    let body = '';
    const pages = {
      '/': '<a href="/hollow">x</a>',
      '/hollow': (exchange: Parameters<typeof answer>[0]) => answer(exchange, { body }),
      '/led': 'There',
    };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const crawlWith = async (text: string) => {
      body = text;
      await bench.crawl(file, web.url('/'), INCREMENTAL);
      return [outcomes(file)['/hollow'], changedParts(file)['/hollow']];
    };
    expect(await crawlWith('Some <a href="/led">words</a>')).toEqual(['changed content', 'links,text']);
    const [{ detail }] = file.rows<{ detail: string }>('SELECT detail FROM page_changes');
    expect(JSON.parse(detail)).toMatchObject({ text: [['+', 'Some words']], wordsAdded: 2, wordsRemoved: 0 });
    expect(await crawlWith('')).toEqual(['changed content', 'links,text']);
    expect(
      file.rows("SELECT 1 FROM links l JOIN pages p ON p.id = l.from_page_id WHERE p.url LIKE '%/hollow'"),
    ).toEqual([]);
    expect(await crawlWith('')).toEqual(['unchanged hash', undefined]);
  });
});

describe('an incremental run', () => {
  it('asks with the validators each page has, and reads only what changed', async () => {
    const site = createChangingPages(SITE);
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    site.change('/both', '/none');
    const before = file.page('/tag');
    const from = web.log.length;
    const { summary, events } = await bench.crawl(file, web.url('/'), INCREMENTAL);
    const date = 'Mon, 05 Jan 2026 12:00:00 GMT';
    expect(requestsFrom(web, from)).toEqual({
      '/': { tag: '"/-1"', since: date, status: 304 },
      '/tag': { tag: '"/tag-1"', since: undefined, status: 304 },
      '/date': { tag: undefined, since: date, status: 304 },
      '/both': { tag: '"/both-1"', since: date, status: 200 },
      '/none': { tag: undefined, since: undefined, status: 200 },
    });
    expect(outcomes(file)).toEqual({
      '/': 'unchanged 304',
      '/tag': 'unchanged 304',
      '/date': 'unchanged 304',
      '/both': 'changed content',
      '/none': 'changed content',
    });
    expect(events.find((event) => event.type === 'run')).toMatchObject({
      config_changed: false,
      resumed: false,
    });
    expect(summary).toMatchObject({
      mode: 'incremental',
      changed: 2,
      unchanged: 3,
      not_transferred: 3,
      pages: 5,
    });
    const after = file.page('/tag');
    expect(after).toMatchObject({
      state: 'Processed',
      status_code: 200,
      etag: '"/tag-1"',
      change: 'unchanged',
    });
    const { title, h1, content_hash, word_count } = before;
    expect(after).toMatchObject({ title, h1, content_hash, word_count });
    expect(file.text('/tag')).toContain('for the 1. time');
    expect(file.page('/both').etag).toBe('"/both-2"');
  });

  it('counts as saved what the last full answer took, less what this one did', async () => {
    const site = createChangingPages(SITE);
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const sizes = Object.fromEntries(visitsOf(file).map(({ path, wire_bytes: bytes }) => [path, bytes]));
    expect(sizes['/none']).toBe(file.page('/none').content_length);
    const { summary } = await bench.crawl(file, web.url('/'), INCREMENTAL);
    for (const { path, known_by: knownBy, wire_bytes: bytes, bytes_saved: saved } of visitsOf(file)) {
      expect({ path, knownBy, bytes, saved }).toEqual(
        path === '/none'
          ? { path, knownBy: 'hash', bytes: sizes['/none'], saved: 0 }
          : { path, knownBy: '304', bytes: 0, saved: sizes[path] },
      );
    }
    const all = Object.values(sizes).reduce((sum, bytes) => sum + bytes, 0);
    expect(summary.bytes_saved).toBe(all - sizes['/none']);
    expect(summary.ledger).toEqual([
      { level: '304', pages: 4, requests_saved: 0, bytes_saved: summary.bytes_saved },
      { level: 'hash', pages: 1, requests_saved: 0, bytes_saved: 0 },
    ]);
  });

  it('finds new pages, keeps the links of pages it did not read, and tells each page by an event', async () => {
    const site = createChangingPages({
      '/': { validators: 'etag', links: ['/hub', '/old'] },
      '/hub': { validators: 'etag', links: (version) => (version > 1 ? ['/old', '/new'] : ['/old']) },
      '/old': { validators: 'etag', links: ['/'] },
      '/new': { validators: 'etag', links: ['/newer'] },
      '/newer': { validators: 'etag' },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    site.change('/hub');
    const { events } = await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(outcomes(file)).toEqual({
      '/': 'unchanged 304',
      '/hub': 'changed content',
      '/old': 'unchanged 304',
      '/new': 'new content',
      '/newer': 'new content',
    });
    expect(file.links()).toEqual([
      '/ → /hub',
      '/ → /old',
      '/hub → /new',
      '/hub → /old',
      '/new → /newer',
      '/old → /',
    ]);
    const told = Object.fromEntries(
      events.flatMap((event) => (event.type === 'page' ? [[new URL(event.url).pathname, event]] : [])),
    );
    expect(told['/']).toMatchObject({
      outcome: 'unchanged',
      known_by: '304',
      is_modified: false,
      change_detected: false,
      status_code: 304,
    });
    expect(told['/'].bytes_saved).toBeGreaterThan(100);
    expect(told['/hub']).toMatchObject({
      outcome: 'changed',
      is_modified: true,
      change_detected: true,
      bytes_saved: 0,
    });
    expect(told['/new']).toMatchObject({ outcome: 'new', is_modified: true, change_detected: false });
  });

  it('says what changed: title, heading, links, structured data, robots and text apart', async () => {
    const only = (part: 'title' | 'head' | 'links' | 'text', one: string, two: string) => ({
      validators: 'etag' as const,
      text: () => 'The same words as ever.',
      [part]: (version: number) => (part === 'links' ? [version > 1 ? two : one] : version > 1 ? two : one),
    });
    const site = createChangingPages({
      '/': {
        validators: 'etag',
        links: ['/title', '/links', '/data', '/robots', '/canonical', '/description', '/text'],
      },
      '/title': only('title', 'Before', 'After'),
      '/links': only('links', '/title', '/text'),
      '/data': only('head', ld('{"name": "A"}'), ld('{"name": "B"}')),
      '/robots': only('head', '', '<meta name="robots" content="noindex">'),
      '/canonical': only('head', '<link rel="canonical" href="/a">', '<link rel="canonical" href="/b">'),
      '/description': only('head', '', '<meta name="description" content="Now there is one">'),
      '/text': only('text', 'The same words as ever.', 'Not quite the same words.'),
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { followCanonical: false });
    site.change('/title', '/links', '/data', '/robots', '/canonical', '/description', '/text');
    const { summary } = await bench.crawl(file, web.url('/'), { ...INCREMENTAL, followCanonical: false });
    expect(summary).toMatchObject({ changed: 7, unchanged: 1, new: 0 });
    const parts = changedParts(file);
    expect(parts['/title'].split(/[ ,]+/).sort()).toEqual(['h1', 'text', 'title']);
    expect(parts).toMatchObject({
      '/links': 'links',
      '/data': 'structured-data',
      '/robots': 'robots',
      '/canonical': 'canonical',
      '/description': 'description',
      '/text': 'text',
    });
  });

  it('says what only the head of an answer tells: another X-Robots-Tag over the same body', async () => {
    let tag: string | null = null;
    const web = await bench.web({
      pages: {
        '/': (exchange) =>
          answer(exchange, { headers: tag === null ? {} : { 'x-robots-tag': tag }, body: '<p>The same' }),
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    tag = 'noindex';
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(changedParts(file)).toEqual({ '/': 'robots' });
    expect(file.page('/').noindex).toBe(1);
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(outcomes(file)).toEqual({ '/': 'unchanged hash' });
    tag = null;
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(changedParts(file)).toEqual({ '/': 'robots' });
    expect(file.page('/').noindex).toBe(0);
    await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(outcomes(file)).toEqual({ '/': 'unchanged hash' });
  });

  it('reads the same body anew that is of another charset or type now', async () => {
    let type = 'text/html; charset=iso-8859-1';
    const web = await bench.web({
      pages: {
        '/': (exchange) =>
          answer(exchange, {
            headers: { 'content-type': type },
            body: Buffer.from('<title>Café</title><main>The café</main><a href="/café">C</a>'),
          }),
        '/caf%C3%A9': 'right',
        '/caf%C3%83%C2%A9': 'wrong',
      },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(file.page('/')).toMatchObject({ title: 'CafÃ©', charset: 'windows-1252' });
    for (const [next, parts, title] of [
      ['text/html; charset=utf-8', 'title,links,text', 'Café'],
      ['text/plain', 'title,links,text', null],
    ] as const) {
      type = next;
      await bench.crawl(file, web.url('/'), { ...INCREMENTAL, acceptTypes: ['text/*'] });
      expect([outcomes(file)['/'], changedParts(file)['/']]).toEqual(['changed content', parts]);
      expect(file.page('/')).toMatchObject({ title, content_type: type });
    }
    type = 'text/plain; charset=utf-8';
    await bench.crawl(file, web.url('/'), { ...INCREMENTAL, acceptTypes: ['text/*'] });
    expect([outcomes(file)['/'], changedParts(file)]).toEqual(['unchanged hash', {}]);
  });

  it('does not take noise for change, with validators or without', async () => {
    const site = createChangingPages({
      '/': { isNoisy: true, links: ['/noisy', '/lively'] },
      '/noisy': { isNoisy: true, validators: 'etag', etag: 'W/"never-the-same"' },
      '/lively': { isNoisy: true },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    const options = { exclude: ['/logout'] };
    await bench.crawl(file, web.url('/'), options);
    site.alter('/noisy', { etag: 'W/"again-another"' });
    site.change('/lively');
    const { summary } = await bench.crawl(file, web.url('/'), { ...INCREMENTAL, ...options });
    expect(outcomes(file)).toEqual({
      '/': 'unchanged text',
      '/noisy': 'unchanged text',
      '/lively': 'changed content',
    });
    expect(summary).toMatchObject({ changed: 1, unchanged: 2 });
    expect(changedParts(file)).toEqual({ '/lively': 'text' });
    // The copy is the one that was read last, so that the same bytes are known again.
    const hash = file.page('/noisy').content_hash;
    await bench.crawl(file, web.url('/'), { ...INCREMENTAL, ...options });
    expect(file.page('/noisy').content_hash).toBe(hash);
    expect(outcomes(file)['/noisy']).toBe('unchanged 304');
  });

  it('finds every change of pages without validators, and none in what stands around or is hidden', async () => {
    const layouts = Object.values(NOISY_LAYOUTS);
    const steady = layouts.map((_, i) => `/steady-${i}`);
    const lively = layouts.map((_, i) => `/lively-${i}`);
    const lives = layouts.flatMap((layout, i): [string, PageLife][] => [
      [steady[i], { layout }],
      [lively[i], { layout }],
    ]);
    const site = createChangingPages({
      '/': { links: [...steady, ...lively] },
      ...Object.fromEntries(lives),
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    const options = { exclude: ['/imprint', '/pots'] };
    await bench.crawl(file, web.url('/'), options);
    site.change(...lively);
    const { summary } = await bench.crawl(file, web.url('/'), { ...INCREMENTAL, ...options });
    expect(changedParts(file)).toEqual(Object.fromEntries(lively.map((path) => [path, 'text'])));
    expect(summary).toMatchObject({ changed: lively.length, unchanged: steady.length + 1, new: 0, gone: 0 });
    for (const path of steady) expect(outcomes(file)[path]).toBe('unchanged text');
  });

  it('counts changes as specification 003 does', async () => {
    const site = createChangingPages({ '/': { validators: 'etag' } });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const numbers = () =>
      file.rows<{ f: number; n: number }>(
        'SELECT change_frequency AS f, changes_detected AS n FROM crawled_url',
      )[0];
    expect(numbers()).toEqual({ f: 0, n: 0 });
    // A day passes between two visits, on the clocks of both.
    for (const day of [1, 2]) {
      site.change('/');
      const clock = { ...fastClock(1), now: () => Date.now() + day * 86_400_000 };
      const { summary } = await bench.crawl(file, web.url('/'), INCREMENTAL, { clock });
      expect(summary.average_change_frequency).toBeCloseTo(numbers().f, 6);
    }
    // 0.3 of one change a day, then 0.3 of another and 0.7 of what was known.
    expect(numbers().n).toBe(2);
    expect(numbers().f).toBeCloseTo(0.51, 2);
  });
});

describe('freshness', () => {
  const lives = {
    '/': {
      validators: 'etag',
      cacheControl: 'max-age=3600',
      links: ['/no-cache', '/shared', '/old', '/stale', '/long'],
    },
    '/no-cache': { validators: 'etag', cacheControl: 'no-cache, max-age=3600' },
    // What a shared cache may do is nothing to us, and what one has used up is gone.
    '/shared': { validators: 'etag', cacheControl: 'max-age=0, s-maxage=600, must-revalidate' },
    '/old': { validators: 'etag', cacheControl: 'max-age=3600', age: 3600 },
    '/stale': { validators: 'etag', cacheControl: 'max-age=0' },
    '/long': { validators: 'etag', cacheControl: 'public, max-age=31536000' },
  } as const;

  it('lets an incremental run ask for nothing that is fresh, and count it', async () => {
    const site = createChangingPages(lives);
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    const all = visitsOf(file).reduce((sum, { wire_bytes: bytes }) => sum + bytes, 0);
    const visited = file.page('/').visited_at;
    const from = web.log.length;
    const { summary, events } = await bench.crawl(file, web.url('/'), INCREMENTAL);
    expect(Object.keys(requestsFrom(web, from)).sort()).toEqual(['/no-cache', '/old', '/shared', '/stale']);
    expect(outcomes(file)).toMatchObject({ '/': 'unchanged freshness', '/long': 'unchanged freshness' });
    expect(summary).toMatchObject({
      status: 'completed',
      unchanged: 6,
      not_transferred: 6,
      pages: 4,
      requests: 4,
    });
    expect(summary.bytes_saved).toBe(all);
    expect(summary.ledger[0]).toMatchObject({ level: 'freshness', pages: 2, requests_saved: 2 });
    // The window is counted from the answer, not from the visit that was spared.
    expect(file.page('/').visited_at).toBe(visited);
    expect(events.filter((event) => event.type === 'page')).toHaveLength(6);
  });

  it('ends with its time, with the cap, and when it is not obeyed', async () => {
    const site = createChangingPages(lives);
    const web = await bench.web({ pages: site.pages });
    const at = async (options: CrawlOptions, shiftHours: number) => {
      const file = bench.file();
      await bench.crawl(file, web.url('/'));
      const from = web.log.length;
      const clock = { ...fastClock(1), now: () => Date.now() + shiftHours * 3_600_000 };
      // The server's own dates would set the clock right.
      await bench.crawl(file, web.url('/'), { ...INCREMENTAL, ...options }, { clock });
      return Object.keys(requestsFrom(web, from))
        .filter((path) => path !== '/robots.txt')
        .sort();
    };
    expect(await at({}, 0)).toEqual(['/no-cache', '/old', '/shared', '/stale']);
    expect(await at({}, 2)).toEqual(['/', '/no-cache', '/old', '/shared', '/stale']);
    expect(await at({}, 25)).toEqual(['/', '/long', '/no-cache', '/old', '/shared', '/stale']);
    expect(await at({ maxFreshness: 1000 }, 25)).toEqual(['/', '/no-cache', '/old', '/shared', '/stale']);
    expect(await at({ obeyFreshness: false }, 0)).toEqual([
      '/',
      '/long',
      '/no-cache',
      '/old',
      '/shared',
      '/stale',
    ]);
  });

  it('is not believed once the clock was set back in the middle of a run, and nothing is lost by that', async () => {
    const site = createChangingPages({
      '/': { links: ['/long', '/gone', '/other'] },
      '/long': lives['/long'],
      '/gone': {},
      '/other': { validators: 'etag' },
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    site.change('/other');
    site.vanish('/gone', 410);
    const from = web.log.length;
    const isBack = () => web.log.length > from;
    const clock = { ...fastClock(1), now: () => Date.now() - (isBack() ? 5 * 3_600_000 : 0) };
    const options = { ...INCREMENTAL, perHost: 1, concurrency: 1 };
    const { summary } = await bench.crawl(file, web.url('/'), options, { clock });
    expect(asked(web).slice(4)).toEqual(['/', '/long', '/gone', '/other']);
    expect(summary).toMatchObject({ status: 'completed', changed: 1, unchanged: 2, gone: 1 });
    expect(outcomes(file)).toMatchObject({ '/long': 'unchanged 304', '/other': 'changed content' });
    const rows = file.rows<{ f: number; n: number }>(
      'SELECT change_frequency AS f, changes_detected AS n FROM crawled_url WHERE changes_detected > 0',
    );
    // A change in less than no time says nothing of a rate.
    expect(rows).toEqual([{ f: 0, n: 1 }]);
    await bench.crawl(file, web.url('/'), options);
    expect(outcomes(file)).toMatchObject({ '/': 'unchanged hash', '/other': 'unchanged 304' });
  });

  it('and every wait is counted anew when the clock was set back between two runs', async () => {
    const site = createChangingPages({ '/': { links: ['/long'] }, '/long': lives['/long'] });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    const ahead = { ...fastClock(1), now: () => Date.now() + 10 * 86_400_000 };
    await bench.crawl(file, web.url('/'), { delay: 0.05 }, { clock: ahead });
    site.change('/long');
    const { summary } = await bench.crawl(file, web.url('/'), { ...INCREMENTAL, delay: 0.05 });
    expect(summary).toMatchObject({ status: 'completed', changed: 1, unchanged: 1 });
  });

  it('holds in no full run', async () => {
    const site = createChangingPages(lives);
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    await bench.crawl(file, web.url('/'), { mode: 'full' });
    expect(asked(web)).toHaveLength(12);
  });
});

function ld(json: string): string {
  return `<script type="application/ld+json">${json}</script>`;
}
