// Changed lists applied to a stored map: what it says then, what it asks for next, and that it asks nobody meanwhile.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import { type Reclassified, reclassify } from '../../src/project/reclassify.ts';
import { askStore } from '../contracts/project-facts.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { answer, type Exchange, type FakeWeb, startFakeWeb } from '../web/fake-web.ts';
import { type CrawlOptions, fastClock, page } from './crawl-site.ts';
import { type Lists, TERRAIN, writeLists } from './terrain-file.ts';

type Row = Record<string, unknown>;

const folders: string[] = [];
const webs: FakeWeb[] = [];
afterEach(async () => {
  for (const web of webs.splice(0)) await web.close();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const linking =
  (...targets: (string | [host: number, path: string])[]) =>
  (at: Exchange) =>
    answer(at, {
      body: page(
        at.path,
        ...targets.map((target) => (typeof target === 'string' ? target : at.url(target[1], target[0]))),
      ),
    });

/** Host 0 leads to 1, that to 2, that to 3; 4 is linked from 0 and leads to 3 too. */
async function startWeb(): Promise<FakeWeb> {
  const web = await startFakeWeb({
    hosts: 5,
    pages: {
      '0:/': linking('/own', [1, '/'], [4, '/']),
      '1:/': linking('/inner', [2, '/']),
      '2:/': linking('/inner', [3, '/']),
      '3:/': linking('/inner'),
      '4:/': linking([3, '/far'], [4, '/missing']),
      '4:/missing': { status: 404 },
      '/*': linking(),
    },
  });
  webs.push(web);
  return web;
}

describe.each(['SQLite', 'PostgreSQL'])('sumi reclassify on %s', (kind) => {
  async function newMap(web: FakeWeb) {
    const folder = mkdtempSync(join(tmpdir(), 'sumi-reclassify-'));
    folders.push(folder);
    const store = kind === 'SQLite' ? join(folder, 'map.db') : await (await sharedPostgres()).newDatabase();
    const configOf = async (lists: Lists, options: CrawlOptions) => {
      const { path, seeds } = writeLists(folder, web, lists);
      const place = kind === 'SQLite' ? { db: store } : { store };
      const config = await loadConfig({
        env: {},
        options: { ...TERRAIN, ...place, ...options, config: path },
      });
      return { config, seeds };
    };
    const rows = (sql: string) => askStore(store, (ask) => ask(sql));
    return {
      rows,
      async crawl(lists: Lists, options: CrawlOptions = {}) {
        const { config, seeds } = await configOf(lists, options);
        const handle = await startCrawl({
          config,
          startUrls: seeds,
          extensions: { clock: fastClock(20) },
        });
        return handle.finished;
      },
      async reclassify(lists: Lists, options: CrawlOptions = {}): Promise<Reclassified> {
        return reclassify((await configOf(lists, options)).config);
      },
      /** State and depth by host and path. */
      async pages(): Promise<Record<string, string>> {
        const found = await rows('SELECT fetch_url, state, depth FROM pages');
        return Object.fromEntries(
          found.map(({ fetch_url, state, depth }) => [nameOf(String(fetch_url)), `${state} ${depth}`]),
        );
      },
      async depths(): Promise<string[]> {
        const found = await rows(
          'SELECT d.quality_origin, p.fetch_url, d.depth FROM page_depths d JOIN pages p ON p.id = d.page_id',
        );
        return found
          .map((row: Row) => `${row.quality_origin} ${nameOf(String(row.fetch_url))} ${row.depth}`)
          .sort();
      },
    };
  }

  function nameOf(url: string): string {
    const { hostname, pathname } = new URL(url);
    return `${Number(hostname.split('.')[3]) - 1}:${pathname}`;
  }

  it('blacklists a domain that was read: nobody is asked, content, links and referrers stay', async () => {
    const web = await startWeb();
    const map = await newMap(web);
    await map.crawl({}, { maxDepth: 2 });
    const before = web.log.length;
    const links = await map.rows('SELECT count(*) AS n FROM links');
    const answer = await map.reclassify({ blacklist: [1] }, { maxDepth: 2 });
    expect(web.log).toHaveLength(before);
    expect(answer.moves).toEqual([{ from: 'Processed', to: 'Blacklisted', pages: 2 }]);
    expect(answer.waiting).toBe(0);
    expect(await map.rows('SELECT count(*) AS n FROM links')).toEqual(links);
    const referrers = await map.rows(
      `SELECT p.fetch_url AS by FROM blacklisted_referrers r JOIN pages p ON p.id = r.referrer_page_id
       JOIN blacklisted_urls u ON u.id = r.blacklisted_url_id WHERE u.url LIKE '%/'`,
    );
    expect(referrers.map((row) => nameOf(String(row.by)))).toEqual(['0:/']);
    expect(await map.rows("SELECT title FROM pages WHERE state = 'Blacklisted' ORDER BY url")).toEqual([
      { title: '/' },
      { title: '/inner' },
    ]);
    // Only the blacklisted domain led there.
    expect((await map.pages())['2:/']).toBe('Processed null');
  });

  it('gives back what was read when the domain leaves the list, without a request', async () => {
    const web = await startWeb();
    const map = await newMap(web);
    await map.crawl({}, { maxDepth: 2 });
    const [pages, depths] = [await map.pages(), await map.depths()];
    await map.reclassify({ stub: [1], blacklist: [2] }, { maxDepth: 2 });
    expect((await map.pages())['1:/']).toBe('Stubbed 1');
    const swapped = await map.reclassify({ blacklist: [1], stub: [2] }, { maxDepth: 2 });
    expect(swapped.moves).toContainEqual({ from: 'Stubbed', to: 'Blacklisted', pages: 2 });
    const before = web.log.length;
    const answer = await map.reclassify({}, { maxDepth: 2 });
    expect(answer.moves).toContainEqual({ from: 'Blacklisted', to: 'Processed', pages: 2 });
    expect(await map.pages()).toEqual(pages);
    expect(await map.depths()).toEqual(depths);
    expect(web.log).toHaveLength(before);
  });

  it('queues what a greater max-depth brings within reach, and the next crawl asks for that alone', async () => {
    const web = await startWeb();
    const map = await newMap(web);
    await map.crawl({}, { maxDepth: 1 });
    const answer = await map.reclassify({}, { maxDepth: 3 });
    // The inner page of 1, the missing one of 4, and what 1 and 4 lead to.
    expect(answer).toMatchObject({
      moves: [{ from: 'DepthExceeded', to: 'Queued', pages: 4 }],
      waiting: 4,
    });
    const before = web.log.length;
    expect((await map.crawl({}, { maxDepth: 3 })).status).toBe('completed');
    const asked = web.log.slice(before).filter(({ path }) => path !== '/robots.txt');
    const names = [...new Set(asked.map(({ host, path }) => `${host}:${path}`))].sort();
    expect(names).toEqual(['1:/inner', '2:/', '2:/inner', '3:/', '3:/far', '4:/missing']);
    expect(await map.rows('SELECT count(*) AS n FROM runs')).toEqual([{ n: 1 }]);
  });

  it('asks for nothing that a smaller run left out: what is known of it stays, and the next run finds it due', async () => {
    const web = await startWeb();
    const map = await newMap(web);
    await map.crawl({}, { maxDepth: 3 });
    const before = await map.pages();
    expect(await map.crawl({}, { maxDepth: 3, maxPages: 1 })).toMatchObject({ pages: 1, left_out: 9 });
    expect(await map.pages()).toEqual(before);
    expect(await map.reclassify({}, { maxDepth: 3 })).toMatchObject({ moves: [], waiting: 0 });
    expect(await map.pages()).toEqual(before);
    const asked = web.log.length;
    expect(await map.crawl({}, { maxDepth: 3 })).toMatchObject({ run: 3, left_out: 0, gone: 0 });
    const names = new Set(web.log.slice(asked).map(({ host, path }) => `${host}:${path}`));
    expect([...names].filter((name) => !name.endsWith('/robots.txt'))).toHaveLength(10);
    expect(await map.pages()).toEqual(before);
  });

  it('shuts out what a smaller max-depth puts beyond reach, and keeps what was read', async () => {
    const web = await startWeb();
    const map = await newMap(web);
    await map.crawl({}, { maxDepth: 3, maxPages: 3 });
    const answer = await map.reclassify({}, { maxDepth: 0 });
    expect(answer.waiting).toBe(0);
    const pages = await map.pages();
    for (const [name, state] of Object.entries(pages))
      if (!name.startsWith('0:')) expect(state, name).toMatch(/^(DepthExceeded|Processed) [1-9]/);
  });

  it('counts depth from a domain that became a quality domain, as a map made with these lists would', async () => {
    const web = await startWeb();
    const map = await newMap(web);
    await map.crawl({}, { maxDepth: 1 });
    await map.reclassify({ quality: [0, 2], blacklist: [4] }, { maxDepth: 1 });
    await map.crawl({ quality: [0, 2], blacklist: [4] }, { maxDepth: 1 });
    const fresh = await newMap(web);
    await fresh.crawl({ quality: [0, 2], blacklist: [4] }, { maxDepth: 1 });
    const expected = await fresh.pages();
    const found = await map.pages();
    for (const [name, state] of Object.entries(expected)) expect(found[name], name).toBe(state);
    // Known from the time before, and out of reach now.
    for (const name of Object.keys(found).filter((each) => !(each in expected)))
      expect(found[name], name).toMatch(/null$|^Blacklisted/);
    expect((await map.depths()).filter((line) => !line.includes(' 4:') && !line.includes('/far'))).toEqual(
      (await fresh.depths()).filter((line) => !line.includes(' 4:') && !line.includes('/far')),
    );
  });

  it('says the same when it is repeated, and the next crawl does by itself what it would have done', async () => {
    const web = await startWeb();
    const map = await newMap(web);
    await map.crawl({}, { maxDepth: 1 });
    await map.reclassify({ stub: [1] }, { maxDepth: 2 });
    const pages = await map.pages();
    expect((await map.reclassify({ stub: [1] }, { maxDepth: 2 })).moves).toEqual([]);
    expect(await map.pages()).toEqual(pages);
    const before = web.log.length;
    await map.crawl({ stub: [1, 3] }, { maxDepth: 2 });
    expect((await map.pages())['3:/far']).toBe('Stubbed 2');
    expect(web.log.slice(before).filter(({ host }) => host === 1 || host === 3)).toEqual([]);
  });

  it('refuses a map that is not there', async () => {
    const web = await startWeb();
    const map = await newMap(web);
    await expect(map.reclassify({})).rejects.toMatchObject({
      code: kind === 'SQLite' ? 'db-missing' : 'store-empty',
    });
    await map.crawl({}, { maxDepth: 0, project: 'another' });
    await expect(map.reclassify({})).rejects.toMatchObject({ code: 'unknown-project' });
  });
});
