// SQL functions that ask the web, with both threads: DuckDB waits in its own, the crawl runs in this one.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MessageChannel, type Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/primitives/clock.ts';
import { startThread } from '../../src/primitives/start-thread.ts';
import { unpackError } from '../../src/primitives/travelling-error.ts';
import { createFeeds, type Feeds } from '../../src/sql/feeds/create-feeds.ts';
import { serveFeeds } from '../../src/sql/feeds/serve-feeds.ts';
import { SIGNAL } from '../../src/sql/thread/messages.ts';
import { openStore } from '../../src/store/open-store.ts';
import type { Store } from '../../src/store/store-port.ts';
import { page } from '../crawls/crawl-site.ts';
import { type FakeWeb, type FakeWebOptions, startFakeWeb } from '../web/fake-web.ts';

const THREADS = 4;

let folder: string;
let store: Store;
let feeds: Feeds;
let worker: Worker;
let signal: Int32Array;
let serving: { close(): void };
let chunks: number[];
const webs: FakeWeb[] = [];

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-functions-'));
  store = await openStore({
    address: join(folder, 'x.sumi'),
    clock: systemClock,
    onFailure(error) {
      throw error;
    },
  });
  feeds = createFeeds({
    openStore: async () => store,
    settings: async () => ({ threads: THREADS }),
    fixed: { delay: 0, adaptiveDelay: false, retryDelay: 0.01 },
  });
  const shared = new SharedArrayBuffer(SIGNAL.length * Int32Array.BYTES_PER_ELEMENT);
  signal = new Int32Array(shared);
  const channel = new MessageChannel();
  serving = serveFeeds(channel.port1, signal, feeds.makers);
  const file = { from: import.meta.url, source: './function-thread.ts', built: '' };
  worker = startThread(file, { signal: shared, feeds: channel.port2 }, { transferList: [channel.port2] });
  chunks = [];
});

afterEach(async () => {
  const exited = new Promise((resolve) => worker.once('exit', resolve));
  worker.postMessage(null);
  await exited;
  serving.close();
  await feeds.rest();
  await store.close();
  for (const web of webs.splice(0)) await web.close();
  rmSync(folder, { recursive: true, force: true });
});

async function serve(options: FakeWebOptions): Promise<FakeWeb> {
  const web = await startFakeWeb(options);
  webs.push(web);
  return web;
}

function query(sql: string): Promise<unknown[][]> {
  return new Promise((resolve, reject) => {
    worker.on('message', function hear(message) {
      if ('chunk' in message) return void chunks.push(message.chunk);
      worker.off('message', hear);
      if ('rows' in message) resolve(message.rows);
      else reject(unpackError(message.error));
    });
    worker.postMessage(sql);
  });
}

function interrupt(): void {
  Atomics.store(signal, SIGNAL.interrupted, Atomics.load(signal, SIGNAL.statement));
  Atomics.add(signal, SIGNAL.wake, 1);
  Atomics.notify(signal, SIGNAL.wake);
}

const site = (count: number) =>
  Object.fromEntries([
    ['/', page('0', ...Array.from({ length: count }, (_, at) => `/${at + 1}`))],
    ...Array.from({ length: count }, (_, at) => [`/${at + 1}`, page(String(at + 1))]),
  ]);
const pagesAsked = (web: FakeWeb) => web.log.filter(({ path }) => path !== '/robots.txt').length;
const ALL = `options := {follow_links: true, sitemaps: 'never'}`;

describe('crawl() in a query', () => {
  it('gives every page once', async () => {
    const web = await serve({ pages: site(50) });
    const rows = await query(
      `SELECT count(*)::INT, count(DISTINCT url)::INT, sum(len(body)) > 0 FROM crawl('${web.url('/')}', ${ALL})`,
    );
    expect(rows).toEqual([[51, 51, true]]);
    expect(pagesAsked(web)).toBe(51);
  });

  it('with LIMIT 3 asks for at most 3 pages and what is under way', async () => {
    const web = await serve({ pages: site(200) });
    expect((await query(`SELECT url FROM crawl('${web.url('/')}', ${ALL}) LIMIT 3`)).length).toBe(3);
    await feeds.rest();
    expect(pagesAsked(web)).toBeLessThanOrEqual(3 + THREADS);
  });

  it('shows rows as they come', async () => {
    let letGo = () => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const pages = {
      ...site(2),
      '/2': ({ response }: { response: { end(text: string): void } }) =>
        void held.then(() => response.end('late')),
    };
    const web = await serve({ pages: pages as never });
    const rows = query(`SELECT url FROM crawl('${web.url('/')}', ${ALL})`);
    await new Promise<void>((resolve) => {
      worker.on('message', (message) => 'chunk' in message && resolve());
    });
    letGo();
    expect((await rows).length).toBe(3);
    expect(chunks.length).toBeGreaterThan(1);
  });

  it('ends when it is interrupted, and the thread goes on', async () => {
    const web = await serve({ pages: { '/': () => {} } });
    const answer = query(`FROM crawl('${web.url('/')}', options := {sitemaps: 'never'})`);
    answer.catch(() => {});
    await web.asked('/');
    interrupt();
    await expect(answer).rejects.toMatchObject({ code: 'sql-interrupted' });
    expect(await query('SELECT 42')).toEqual([[42]]);
  });

  it('says what is wrong with its arguments by our own errors', async () => {
    await expect(query(`FROM crawl('http://a.example/', options := {max_page: 1})`)).rejects.toMatchObject({
      code: 'sql-failed',
      message: expect.stringContaining('max_page'),
    });
    await expect(query(`FROM crawl(5)`)).rejects.toMatchObject({ code: 'sql-failed' });
  });

  it('can be joined with itself on one host', async () => {
    const web = await serve({ pages: site(12) });
    const crawl = `crawl('${web.url('/')}', ${ALL})`;
    expect(await query(`SELECT count(*)::INT FROM ${crawl} a JOIN ${crawl} b USING (url)`)).toEqual([[13]]);
    expect(
      await query(`SELECT count(*)::INT FROM (SELECT url FROM ${crawl} UNION ALL SELECT url FROM ${crawl})`),
    ).toEqual([[26]]);
  });
});

describe('fetch() in a query', () => {
  it('fetches the links of crawled pages, on the host that the crawl has', async () => {
    const web = await serve({ pages: site(6) });
    const rows = await query(
      `SELECT c.title, f.title, f.http_status FROM crawl('${web.url('/')}', ${ALL}) c,
         LATERAL (SELECT "fetch"(c.url) AS f) ORDER BY c.title`,
    );
    expect(rows.length).toBe(7);
    expect(rows.every(([a, b, status]) => a === b && status === 200)).toBe(true);
    expect(web.requestsTo('/3').length).toBe(2);
  });

  it('requests a URL once, whatever is taken of it', async () => {
    const web = await serve({ pages: site(3) });
    const sql = `SELECT "fetch"(u).title, "fetch"(u).http_status FROM (SELECT '${web.url('/')}' || (range % 3 + 1) AS u FROM range(9))`;
    expect((await query(sql)).length).toBe(9);
    expect(pagesAsked(web)).toBe(3);
    await query(`SELECT f.* FROM (SELECT "fetch"('${web.url('/1')}') AS f)`);
    expect(pagesAsked(web)).toBe(4);
  });
});

describe('the other functions', () => {
  it('read links, sitemaps and robots.txt', async () => {
    const web = await serve({
      robots: 'User-agent: *\nDisallow: /x\nCrawl-delay: 0.01',
      pages: {
        '/': '<a href="/a" rel=nofollow>A</a><a href="b">B</a>',
        '/sitemap.xml': ({ response, url }) => {
          response.writeHead(200, { 'content-type': 'application/xml' });
          response.end(
            `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${url('/a')}</loc></url></urlset>`,
          );
        },
      },
    });
    const root = web.url('/');
    expect(await query(`SELECT to_url, text, nofollow FROM links('${root}')`)).toEqual([
      [`${root}a`, 'A', true],
      [`${root}b`, 'B', false],
    ]);
    expect(await query(`SELECT url, sitemap FROM sitemap('${root}')`)).toEqual([
      [`${root}a`, `${root}sitemap.xml`],
    ]);
    expect(
      await query(`SELECT allowed, rule, crawl_delay FROM robots_check(['${root}x', '${root}y'])`),
    ).toEqual([
      [false, 'Disallow /x', 0.01],
      [true, null, 0.01],
    ]);
    expect(web.requestsTo('/robots.txt').length).toBe(1);
  });
});
