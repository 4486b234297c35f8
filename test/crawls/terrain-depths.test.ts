/**
 * Depths of maps against a plain search: random webs of a few domains, crawled in random orders of completion, must come
 * out with the depths that relaxing the finished graph's links to the end gives. The web is in memory: what is crawled is
 * the engine whole, but for the sockets.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { startCrawl } from '../../src/crawl/start-crawl.ts';
import type { Fetcher, FetchRequest, Outcome, ResponseHead } from '../../src/fetch/fetcher.ts';
import { emptyHead } from '../../src/fetch/response-head.ts';
import { type Ask, askStore } from '../contracts/project-facts.ts';
import { type SeededRandom, seededRandom } from '../seeded-random.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';

interface Web {
  maxDepth: number;
  quality: string[];
  /** By URL: links, or where it redirects to. */
  pages: Map<string, { links: string[] } | { redirect: string }>;
}

/** Each database has hosts of its own, so that projects of one PostgreSQL do not share clocks. */
function makeWeb(random: SeededRandom, name: string): Web {
  const domains = Array.from({ length: 3 + random.below(5) }, (_, i) => `d${i}.${name}.test`);
  const quality = domains.slice(0, 1 + random.below(3));
  const urls = domains.flatMap((domain) =>
    Array.from({ length: 1 + random.below(6) }, (_, i) => `https://${domain}/${i === 0 ? '' : i}`),
  );
  const pages: Web['pages'] = new Map();
  for (const url of urls) {
    if (!url.endsWith('/') && random.below(7) === 0) pages.set(url, { redirect: random.pick(urls) });
    else pages.set(url, { links: Array.from({ length: random.below(5) }, () => random.pick(urls)) });
  }
  return { maxDepth: 1 + random.below(3), quality, pages };
}

const HEAD: ResponseHead = { ...emptyHead(200), contentType: 'text/html' };

/** Answers come in an order of chance. */
function fetcherOf(web: Web, random: SeededRandom, asked: string[]): Fetcher {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
  return {
    async fetch({ url, onSend }: FetchRequest): Promise<Outcome> {
      const isSent = onSend?.() !== false;
      asked.push(url);
      for (let turns = random.below(12); turns > 0; turns--) await turn();
      const page = web.pages.get(url);
      const redirect = page !== undefined && 'redirect' in page ? page.redirect : null;
      const links = page !== undefined && 'links' in page ? page.links : [];
      const html = links.map((href) => `<a href="${href}">x</a>`).join('');
      const bytes = new TextEncoder().encode(`${html}\0`);
      const now = Date.now();
      return {
        head: redirect === null ? HEAD : { ...HEAD, status: 302, location: redirect },
        body: redirect === null ? { bytes, length: bytes.length - 1, release() {} } : null,
        bodyRefused: false,
        failure: isSent ? null : 'not-sent',
        message: null,
        sentAt: now,
        responseMs: 1,
        wireBytes: bytes.length,
      };
    },
    abortAll() {},
    forgetHost() {},
    async close() {},
  };
}

const folder = mkdtempSync(join(tmpdir(), 'sumi-depths-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function crawlWeb(web: Web, random: SeededRandom, name: string, store: string): Promise<string[]> {
  const file = join(folder, `${name}.toml`);
  const lists = web.quality.map(
    (domain) => `[[quality]]\ndomain = "${domain}"\nseeds = ["https://${domain}/"]\n`,
  );
  writeFileSync(file, lists.join('\n'));
  const config = await loadConfig({
    env: {},
    options: {
      config: file,
      project: name,
      discover: ['links'],
      ...(store.startsWith('postgres:') ? { store } : { db: store }),
      allowedHosts: ['any'],
      maxDepth: web.maxDepth,
      maxRedirects: 50,
      delay: 0,
      robots: false,
      concurrency: 1 + random.below(6),
      perHost: 1 + random.below(3),
    },
  });
  const asked: string[] = [];
  const handle = await startCrawl({
    config,
    startUrls: config.terrain.quality.flatMap(({ seeds }) => seeds),
    extensions: { fetcher: fetcherOf(web, random, asked) },
  });
  expect((await handle.finished).status).toBe('completed');
  return asked;
}

interface Finished {
  pages: Map<number, { url: string; host: string; state: string; depth: number | null }>;
  edges: { from: number; to: number; cost: number }[];
  /** `origin url` → depth. */
  depths: Map<string, number>;
}

async function readFinished(ask: Ask, name: string): Promise<Finished> {
  const rows = await ask(
    `SELECT id, url, host, state, depth FROM pages WHERE project_id = (SELECT id FROM project WHERE name = '${name}')`,
  );
  const pages: Finished['pages'] = new Map();
  for (const { id, ...row } of rows) pages.set(Number(id), row as never);
  const of = (list: string, from: string) =>
    ask(`SELECT * FROM ${list} WHERE ${from} IN (${[...pages.keys()]})`);
  const links = await of('links', 'from_page_id');
  const redirects = await of('fetched', 'redirect_to IS NOT NULL AND page_id');
  const depths = new Map<string, number>();
  for (const row of await of('page_depths', 'page_id'))
    depths.set(`${row.quality_origin} ${pages.get(Number(row.page_id))!.url}`, Number(row.depth));
  return {
    pages,
    edges: [
      ...links.map((row) => ({ from: Number(row.from_page_id), to: Number(row.to_page_id), cost: 1 })),
      ...redirects.map((row) => ({ from: Number(row.page_id), to: Number(row.redirect_to), cost: 0 })),
    ],
    depths,
  };
}

/** The plainest search there is: every edge, again and again, until nothing gets any nearer. */
function relax({ pages, edges }: Finished, isSource: (host: string) => boolean): Map<number, number> {
  const depths = new Map<number, number>();
  for (const [id, { host }] of pages) if (isSource(host)) depths.set(id, 0);
  for (let isNearer = true; isNearer; ) {
    isNearer = false;
    for (const { from, to, cost } of edges) {
      const depth = (depths.get(from) ?? Number.POSITIVE_INFINITY) + cost;
      if (depth >= (depths.get(to) ?? Number.POSITIVE_INFINITY)) continue;
      depths.set(to, depth);
      isNearer = true;
    }
  }
  return depths;
}

/** Which pages a crawl must ask for, from the web's plan alone. */
function reachable({ pages, quality, maxDepth }: Web): Set<string> {
  const depths = new Map<string, number>();
  const isOrigin = (url: string) => quality.includes(new URL(url).hostname);
  const offer = (url: string, depth: number): boolean => {
    const at = isOrigin(url) ? 0 : depth;
    if (at >= (depths.get(url) ?? Number.POSITIVE_INFINITY)) return false;
    depths.set(url, at);
    return true;
  };
  for (const domain of quality) offer(`https://${domain}/`, 0);
  for (let isNearer = true; isNearer; ) {
    isNearer = false;
    for (const [url, depth] of [...depths]) {
      if (depth > maxDepth) continue;
      const page = pages.get(url)!;
      const steps =
        'links' in page ? page.links.map((to) => ({ to, cost: 1 })) : [{ to: page.redirect, cost: 0 }];
      for (const { to, cost } of steps) isNearer = offer(to, depth + cost) || isNearer;
    }
  }
  return new Set([...depths].filter(([, depth]) => depth <= maxDepth).map(([url]) => url));
}

async function compare(seed: number, name: string, store: string): Promise<void> {
  const random = seededRandom(seed);
  const web = makeWeb(random, name);
  const asked = await crawlWeb(web, random, name, store);
  const place = `seed ${seed}`;
  expect([...asked].sort(), `${place}: pages asked, none twice`).toEqual([...reachable(web)].sort());
  const finished = await askStore(store, (ask) => readFinished(ask, name));
  const expected = new Map<string, number>();
  for (const origin of web.quality)
    for (const [id, depth] of relax(finished, (host) => host === origin))
      expected.set(`${origin} ${finished.pages.get(id)!.url}`, depth);
  expect(Object.fromEntries([...finished.depths].sort()), `${place}: depths by origin`).toEqual(
    Object.fromEntries([...expected].sort()),
  );
  const least = relax(finished, (host) => web.quality.includes(host));
  for (const [id, { url, state, depth }] of finished.pages) {
    expect(depth, `${place}: least depth of ${url}`).toBe(least.get(id));
    expect(state === 'DepthExceeded', `${place}: ${url} is ${state} at ${depth}`).toBe(depth! > web.maxDepth);
    expect(state, `${place}: ${url}`).not.toBe('Queued');
  }
}

describe('depths of a map', () => {
  it('equal those of a plain search, for a hundred webs and orders, in a file', async () => {
    for (let seed = 1; seed <= 100; seed++) await compare(seed, `w${seed}`, join(folder, `${seed % 4}.db`));
  }, 120_000);

  it('equal those of a plain search on PostgreSQL', async () => {
    const server = await sharedPostgres();
    const store = await server.newDatabase();
    for (let seed = 101; seed <= 125; seed++) await compare(seed, `w${seed}`, store);
  }, 120_000);
});
