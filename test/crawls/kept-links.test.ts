import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import type { Extensions } from '../../src/crawl/wire.ts';
import { createChangingPages, type PageLife } from '../web/changing-pages.ts';
import { answer } from '../web/fake-web.ts';
import { type CrawlFile, type CrawlOptions, useBench } from './crawl-site.ts';
import { changedParts, outcomes } from './history-rows.ts';

const bench = useBench();

/** Nobody listens to pages, as with --quiet: links that did not change are not judged again. */
async function crawlUnheard(
  file: CrawlFile,
  url: string,
  options: CrawlOptions = {},
  extensions: Extensions = {},
): Promise<void> {
  const quick: CrawlOptions = { delay: 0, adaptiveDelay: false, discover: ['links'], mode: 'incremental' };
  const config = await loadConfig({ env: {}, options: { ...quick, db: file.path, ...options } });
  await (await startCrawl({ config, startUrls: [url], extensions, listeners: [] })).finished;
}

/** A page that leads to two others, and what it is before and after it changed. */
async function changedSite(life: PageLife) {
  const site = createChangingPages({ '/': life, '/a': {}, '/b': {} });
  const web = await bench.web({ pages: site.pages });
  return { site, web, file: bench.file(), url: web.url('/') };
}

/** Its links as they are stored: where to, whether they are followed, and their words. */
const linksOf = (file: CrawlFile) =>
  file
    .rows<{ url: string; nofollow: number; anchor: string | null }>(
      `SELECT t.fetch_url AS url, l.nofollow, l.anchor FROM links l JOIN pages p ON p.id = l.from_page_id
       JOIN pages t ON t.id = l.to_page_id WHERE p.depth = 0 ORDER BY t.id`,
    )
    .map(({ url, nofollow, anchor }) => [new URL(url).pathname, nofollow, anchor]);

describe('a page that changed and kept its links', () => {
  it('has them still, and they are not judged again unless somebody is told of them', async () => {
    const { site, file, url } = await changedSite({ links: ['/a', '/b'] });
    let judged = 0;
    const extensions: Extensions = {
      priority(_, priority) {
        judged++;
        return priority;
      },
    };
    const judgedBy = async (crawl: () => Promise<unknown>) => {
      site.change('/');
      judged = 0;
      await crawl();
      expect([outcomes(file)['/'], changedParts(file)['/']]).toEqual(['changed content', 'text']);
      return judged;
    };
    await crawlUnheard(file, url);
    const links = linksOf(file);
    expect(links.map(([path]) => path)).toEqual(['/a', '/b']);
    const unheard = await judgedBy(() => crawlUnheard(file, url, {}, extensions));
    expect(linksOf(file)).toEqual(links);
    const heard = await judgedBy(() => bench.crawl(file, url, { mode: 'incremental' }, extensions));
    const full = await judgedBy(() => crawlUnheard(file, url, { mode: 'full' }, extensions));
    expect([heard - unheard, full - unheard]).toEqual([2, 2]);
    expect(linksOf(file)).toEqual(links);
  });
});

describe('a known page to which a shorter path is found', () => {
  it.each([
    ['changed and kept its links', true],
    ['did not change', false],
  ])('leads as far as its new depth allows, where it %s', async (_, changes) => {
    const site = createChangingPages({
      '/': { text: (n) => `${n} <a href="/a">A</a>${n > 1 ? ' <a href="/c">C</a>' : ''}` },
      '/a': { links: ['/b'] },
      '/b': { links: ['/c'] },
      '/c': { links: ['/d'] },
      '/d': { links: ['/e'] },
      '/e': {},
    });
    const web = await bench.web({ pages: site.pages });
    const file = bench.file();
    await crawlUnheard(file, web.url('/'), { maxDepth: 3 });
    expect(file.states()).toMatchObject({ '/c': 'Processed', '/d': 'DepthExceeded' });
    site.change('/', ...(changes ? ['/c'] : []));
    await crawlUnheard(file, web.url('/'), { maxDepth: 3 });
    expect(file.states()).toMatchObject({ '/d': 'Processed', '/e': 'Processed' });
  });
});

describe('a page that turned into a document', () => {
  it.each(['full', 'incremental'] as const)('has no links any more, in a run that is %s', async (mode) => {
    let isPage = true;
    const web = await bench.web({
      pages: {
        '/': (exchange) => answer(exchange, { body: '<a href="/a">A</a>' }),
        '/a': (exchange) => {
          if (isPage) answer(exchange, { body: 'A <a href="/b">B</a>' });
          else answer(exchange, { headers: { 'content-type': 'application/pdf' }, body: '%PDF-1.7' });
        },
        '/b': (exchange) => answer(exchange, { body: 'B' }),
      },
    });
    const file = bench.file();
    await crawlUnheard(file, web.url('/'), { acceptTypes: ['*/*'] });
    isPage = false;
    await crawlUnheard(file, web.url('/'), { acceptTypes: ['*/*'], mode });
    expect(file.rows('SELECT from_page_id, to_page_id FROM links')).toEqual([
      { from_page_id: 1, to_page_id: 2 },
    ]);
    expect(outcomes(file)).toMatchObject({ '/a': 'changed content', '/b': 'gone orphan' });
  });
});

describe('a full run by other rules', () => {
  it.each([{ followCanonical: false }, { dropQuery: ['x'] }])(
    'tells no page as changed whose bytes are the same: %o',
    async (rules) => {
      const { file, url } = await changedSite({
        links: ['/a?x=1'],
        head: () => '<link rel="canonical" href="/b">',
      });
      await crawlUnheard(file, url, { mode: 'full' });
      await crawlUnheard(file, url, { mode: 'full', ...rules });
      expect([outcomes(file)['/']?.split(' ')[0], changedParts(file)]).toEqual(['unchanged', {}]);
    },
  );
});

describe('a page that changed and has the same addresses', () => {
  const A = '<a href="/a">A</a>';

  it('has its links judged again where one is followed no more', async () => {
    const rel = (version: number) => (version > 1 ? ' rel="nofollow"' : '');
    const { site, file, url } = await changedSite({ text: (n) => `${n} ${A} <a href="/b"${rel(n)}>B</a>` });
    await crawlUnheard(file, url);
    site.change('/');
    await crawlUnheard(file, url);
    expect(linksOf(file)).toEqual([
      ['/a', 0, null],
      ['/b', 1, null],
    ]);
  });

  it('has its links judged again where the page itself says that they are not to be followed', async () => {
    const { site, file, url } = await changedSite({
      links: ['/a'],
      head: (version) => (version > 1 ? '<meta name="robots" content="nofollow">' : ''),
    });
    await crawlUnheard(file, url);
    site.change('/');
    await crawlUnheard(file, url);
    expect(linksOf(file)).toEqual([['/a', 1, null]]);
  });

  it('has its links judged again by other rules', async () => {
    const { site, file, url } = await changedSite({
      links: ['/a'],
      head: () => '<link rel="canonical" href="/b">',
    });
    await crawlUnheard(file, url);
    expect(linksOf(file).map(([path]) => path)).toEqual(['/b', '/a']);
    site.change('/');
    await crawlUnheard(file, url, { followCanonical: false });
    expect(linksOf(file).map(([path]) => path)).toEqual(['/a']);
  });

  it('has the words of its links kept anew where they are kept', async () => {
    const { site, file, url } = await changedSite({ text: (n) => `${n} <a href="/a">Word ${n}</a>` });
    await crawlUnheard(file, url, { anchorText: true });
    site.change('/');
    await crawlUnheard(file, url, { anchorText: true });
    expect(linksOf(file)).toEqual([['/a', 0, 'Word 2']]);
  });
});
