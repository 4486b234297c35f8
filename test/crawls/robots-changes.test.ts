// What a page asks of robots, as a part of it that changes: in its head, in the answer's head, in every mode.
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { answer } from '../web/fake-web.ts';
import { useBench } from './crawl-site.ts';
import { changedParts, outcomes } from './history-rows.ts';

const bench = useBench();

/** A page and a document whose directives are what `now` says, and nothing else of them ever changes. */
async function robotsSite() {
  const now = { meta: '', page: null as string | null, document: null as string | null };
  const tagged = (tag: string | null): Record<string, string> =>
    tag === null ? {} : { 'x-robots-tag': tag };
  const web = await bench.web({
    pages: {
      '/': (exchange) =>
        answer(exchange, {
          headers: tagged(now.page),
          body: `<meta name="robots" content="${now.meta}"><p>The same <a href="/leaflet.pdf">words</a>`,
        }),
      '/leaflet.pdf': (exchange) =>
        answer(exchange, {
          headers: { 'content-type': 'application/pdf', ...tagged(now.document) },
          body: '%PDF the same',
        }),
    },
  });
  const file = bench.file();
  const crawl = (mode: 'full' | 'incremental') =>
    bench.crawl(file, web.url('/'), {
      mode,
      spotCheck: 0,
      skipExtensions: [],
      acceptTypes: ['text/html', 'application/pdf'],
    });
  await crawl('full');
  return { now, file, crawl };
}

describe('a file of a version that kept noindex and nofollow of pages only', () => {
  it.each(['full', 'incremental'] as const)(
    'tells nothing as changed that it did not know: %s',
    async (mode) => {
      const { now, file, crawl } = await robotsSite();
      now.meta = 'noarchive';
      now.page = 'nosnippet';
      now.document = 'noindex';
      await crawl('full');
      const db = new Sqlite(file.path);
      db.exec('UPDATE fetched SET noindex = 0, robots_other = NULL, x_robots_tag = NULL');
      db.close();
      await crawl(mode);
      expect(outcomes(file)).toEqual({ '/': 'unchanged hash', '/leaflet.pdf': 'unchanged hash' });
      expect(file.page('/leaflet.pdf').noindex).toBe(1);
      now.meta = 'noindex';
      await crawl(mode);
      expect(changedParts(file)).toEqual({ '/': 'robots' });
    },
  );
});

describe.each(['full', 'incremental'] as const)('directives for robots, in a run of mode %s', (mode) => {
  it.each([
    ['noarchive', 'index, follow, noarchive'],
    ['max-snippet:20', 'index, follow, max-snippet:20'],
    ['nosnippet, index', 'index, follow, nosnippet'],
    ['none', 'noindex, nofollow'],
  ])('are told as changed in that part, with before and after: %s', async (meta, after) => {
    const { now, file, crawl } = await robotsSite();
    now.meta = meta;
    await crawl(mode);
    expect(changedParts(file)).toEqual({ '/': 'robots' });
    const [{ detail }] = file.rows<{ detail: string }>('SELECT detail FROM page_changes');
    expect(JSON.parse(detail).fields).toEqual([{ name: 'robots', before: 'index, follow', after }]);
  });

  it('are the same in another order, and what holds anyway is no directive', async () => {
    const { now, file, crawl } = await robotsSite();
    now.meta = 'noarchive, max-snippet:20';
    await crawl(mode);
    now.meta = 'max-snippet: 20, index, NOARCHIVE';
    await crawl(mode);
    expect(outcomes(file)['/']).toBe('unchanged text');
  });

  it('come and go with X-Robots-Tag over the same bytes, of pages and of documents', async () => {
    const { now, file, crawl } = await robotsSite();
    now.page = 'noarchive';
    now.document = 'noindex';
    await crawl(mode);
    expect(changedParts(file)).toEqual({ '/': 'robots', '/leaflet.pdf': 'robots' });
    expect(file.rows("SELECT robots_other FROM pages WHERE url NOT LIKE '%pdf'")).toEqual([
      { robots_other: 'noarchive' },
    ]);
    expect(file.page('/leaflet.pdf').noindex).toBe(1);
    await crawl(mode);
    expect(outcomes(file)).toEqual({ '/': 'unchanged hash', '/leaflet.pdf': 'unchanged hash' });
    now.page = now.document = null;
    await crawl(mode);
    expect(changedParts(file)).toEqual({ '/': 'robots', '/leaflet.pdf': 'robots' });
    expect(file.page('/leaflet.pdf').noindex).toBe(0);
  });
});
