import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, expectTypeOf, it } from 'vitest';
import { sharedPostgres } from '../test/servers/shared-postgres.ts';
import { type LoggedRequest, respondFromGraph, type Site, serveSite } from './demo/serve-site.ts';
import { createSiteGraph } from './demo/site-graph.ts';
import {
  type BodyStore,
  type CrawlEvent,
  type CrawlRequest,
  crawl,
  type OutputSink,
  openResults,
  openStore,
  type Store,
  shareConnections,
  type Verdict,
} from './index.ts';

const PAGES = 40;
const graph = createSiteGraph({ seed: 7, pages: PAGES });
let folder: string;
let site: Site;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-library-'));
  site = await serveSite({
    respond: (site) => {
      const answer = respondFromGraph(graph)(site);
      return (request, response, entry) => {
        if (entry.path === '/notes.csv') {
          response.writeHead(200, { 'content-type': 'text/csv' }).end('name,link\nhome,/\nguide,/guide/\n');
        } else answer(request, response, entry);
      };
    },
  });
});

afterEach(async () => {
  await site.close();
  rmSync(folder, { recursive: true });
});

const database = () => join(folder, 'crawl.db');

function request(more: CrawlRequest = {}): CrawlRequest {
  return { startUrls: [site.url('/')], db: database(), delay: 0, discover: ['links'], env: {}, ...more };
}

function ask<Row>(sql: string): Row[] {
  const db = new Sqlite(database(), { readonly: true });
  try {
    return db.prepare(sql).all() as Row[];
  } finally {
    db.close();
  }
}

const pageRequests = (log: readonly LoggedRequest[]) => log.filter(({ path }) => path !== '/robots.txt');

describe('a crawl from a program', () => {
  it('gives its events to a loop and its summary at the end', async () => {
    const run = await crawl(request());
    const events: CrawlEvent[] = [];
    for await (const event of run.events) events.push(event);
    const summary = await run.finished;
    expect(events[0]).toMatchObject({ type: 'run', run: run.runId, resumed: false });
    expect(events.at(-1)).toEqual(summary);
    expect(events.filter(({ type }) => type === 'page')).toHaveLength(PAGES);
    expect(summary).toMatchObject({ status: 'completed', pages: PAGES });
  });

  it('calls only the handlers that are given, each with its own kind of event', async () => {
    const titles: (string | null)[] = [];
    const statuses: string[] = [];
    const run = await crawl(
      request({
        on: { page: ({ title }) => titles.push(title), summary: ({ status }) => statuses.push(status) },
      }),
    );
    await run.finished;
    expect(titles.sort()).toEqual(Array.from({ length: PAGES }, (_, n) => graph.page(n).title).sort());
    expect(statuses).toEqual(['completed']);
  });

  it('stops when its signal is aborted and goes on when it is started again', async () => {
    const stopping = new AbortController();
    const first = await crawl(
      request({
        concurrency: 1,
        signal: stopping.signal,
        on: { page: () => stopping.abort() },
      }),
    );
    const interrupted = await first.finished;
    expect(interrupted.status).toBe('interrupted');
    expect(interrupted.pages).toBeLessThan(PAGES);
    const second = await crawl(request({ concurrency: 1 }));
    expect(second.runId).toBe(first.runId);
    expect(await second.finished).toMatchObject({ status: 'completed', pages: PAGES });
    expect(pageRequests(site.log)).toHaveLength(PAGES);
  });

  it('takes options from a file, and its own over them', async () => {
    const file = join(folder, 'crawl.toml');
    writeFileSync(file, 'max-pages = 3\nuser-agent = "from-file/1.0"\n');
    const run = await crawl(request({ config: file, maxPages: 5 }));
    expect((await run.finished).pages).toBe(5);
    expect(new Set(site.log.map(({ userAgent }) => userAgent))).toEqual(new Set(['from-file/1.0']));
  });

  it('sends headers, cookies and a password to the origins of its start URLs, and keeps none of them', async () => {
    const seen: Record<string, unknown>[] = [];
    const guarded = await serveSite({
      respond: () => (request, response) => {
        seen.push(request.headers);
        response.writeHead(200, { 'content-type': 'text/html' }).end(`<a href="${site.url('/')}">other</a>`);
      },
    });
    const secrets = { auth: 'me:s3cr3t', headers: { 'X-Token': 't0ken' }, cookies: { a: 'c00k1e', b: '2' } };
    const elsewhere = { allowedHosts: ['any'], maxDepth: 1 };
    await (await crawl(request({ startUrls: [guarded.url('/')], ...secrets, ...elsewhere }))).finished;
    await guarded.close();
    const authorization = `Basic ${Buffer.from('me:s3cr3t').toString('base64')}`;
    expect(seen.length).toBeGreaterThan(0);
    for (const headers of seen)
      expect(headers).toMatchObject({ authorization, cookie: 'a=c00k1e; b=2', 'x-token': 't0ken' });
    const bytes = readFileSync(database(), 'latin1');
    expect(['s3cr3t', 't0ken', 'c00k1e', authorization].filter((text) => bytes.includes(text))).toEqual([]);
  });

  it('refuses a list of URLs in the file, which only the command line reads', async () => {
    const file = join(folder, 'crawl.toml');
    writeFileSync(file, 'urls = "list.txt"\n');
    await expect(crawl(request({ config: file }))).rejects.toThrow(/urls cannot be .*startUrls/);
  });

  it('refuses an unknown option, a bad value and a missing URL before anything is written', async () => {
    await expect(crawl(request({ maxPage: 3 } as CrawlRequest))).rejects.toMatchObject({
      code: 'unknown-option',
      hint: expect.stringContaining('maxPages'),
    });
    await expect(crawl(request({ maxPages: 0 }))).rejects.toMatchObject({ code: 'bad-value' });
    await expect(crawl(request({ startUrls: [] }))).rejects.toMatchObject({ code: 'no-url' });
    expect(() => ask('SELECT 1')).toThrow();
  });
});

describe('extension points', () => {
  it('a scope rule decides, and its reason is stored', async () => {
    const run = await crawl(
      request({
        scopeRules: [
          ({ fetchUrl }) =>
            fetchUrl.includes('/news/')
              ? { state: 'Skipped', priority: 1, reason: 'scope: no news today' }
              : null,
        ],
      }),
    );
    await run.finished;
    expect(pageRequests(site.log).some(({ path }) => path.startsWith('/news/'))).toBe(false);
    const reasons = ask<{ reason: string }>(
      "SELECT DISTINCT reason FROM pages WHERE fetch_url LIKE '%/news/%'",
    );
    expect(reasons).toEqual([{ reason: 'scope: no news today' }]);
  });

  it('a scope rule that refuses needs no priority, and one that gives nonsense is named', async () => {
    const refuse = (more: object): CrawlRequest['scopeRules'] => [
      ({ fetchUrl }) =>
        fetchUrl.includes('/news/') ? ({ state: 'Skipped', reason: 'scope: no', ...more } as Verdict) : null,
    ];
    await (await crawl(request({ scopeRules: refuse({}) }))).finished;
    expect(ask("SELECT DISTINCT reason FROM pages WHERE fetch_url LIKE '%/news/%'")).toEqual([
      { reason: 'scope: no' },
    ]);
    const run = await crawl(request({ fresh: true, scopeRules: refuse({ priority: 'high' }) }));
    await expect(run.finished).rejects.toMatchObject({ code: 'extension-failed' });
  });

  it('a priority decides the order', async () => {
    const run = await crawl(
      request({
        concurrency: 1,
        maxPages: 10,
        priority: ({ fetchUrl }, otherwise) => (fetchUrl.includes('/recipes/') ? 0 : otherwise + 10),
      }),
    );
    await run.finished;
    const recipes = Array.from({ length: PAGES }, (_, n) => graph.pathOf(n)).filter((path) =>
      path.startsWith('/recipes/'),
    );
    const asked = pageRequests(site.log).map(({ path }) => path);
    expect(asked.slice(1, recipes.length + 1).sort()).toEqual(recipes.sort());
  });

  it('a parser reads its content type, which is then accepted', async () => {
    const run = await crawl(
      request({
        startUrls: [site.url('/notes.csv')],
        maxDepth: 1,
        parsers: {
          'Text/CSV': ({ body }) => {
            const [, ...rows] = Buffer.from(body).toString().trim().split('\n');
            return { title: 'notes', text: rows.join(' '), links: rows.map((row) => row.split(',')[1]) };
          },
        },
      }),
    );
    expect((await run.finished).pages).toBe(3);
    expect(ask("SELECT title, state FROM pages WHERE url LIKE '%notes.csv'")).toEqual([
      { title: 'notes', state: 'Processed' },
    ]);
    expect(ask('SELECT count(*) AS n FROM links WHERE from_page_id = 1')).toEqual([{ n: 2 }]);
  });

  it('a pacing strategy sets the delay between requests', async () => {
    const hosts = new Set<string>();
    const run = await crawl(
      request({
        maxPages: 4,
        pacing: (host) => {
          hosts.add(host);
          return 20;
        },
      }),
    );
    await run.finished;
    expect([...hosts]).toEqual(['127.0.0.1']);
    const [first, ...later] = ask<{ delay_ms: number }>('SELECT delay_ms FROM request ORDER BY id');
    expect(first.delay_ms).toBe(0);
    expect(later.map(({ delay_ms }) => delay_ms)).toEqual(later.map(() => 20));
  });

  it('an output sink hears of every page, link and error, and is awaited at the end', async () => {
    const file = join(folder, 'lists.toml');
    writeFileSync(file, '[[blacklist]]\ndomain = "bad.test"\n[[stub]]\ndomain = "known.test"\n');
    const html =
      '<a href="https://bad.test/x">b</a><a href="https://known.test/">k</a><a href="/missing">m</a><a href="/missing#2">m</a>';
    const small = await serveSite({
      respond:
        () =>
        (_, response, { path }) => {
          if (path === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(html);
          else response.writeHead(404).end();
        },
    });
    const heard: string[] = [];
    let isClosed = false;
    const sink: OutputSink = {
      recordPage: ({ url, statusCode, depth }) => heard.push(`page ${url} ${statusCode} ${depth}`),
      recordLink: (from, to) => heard.push(`link ${from} ${to}`),
      recordBlacklisted: (url, from) => heard.push(`blacklisted ${url} ${from}`),
      recordStubbed: (url, from) => heard.push(`stubbed ${url} ${from}`),
      recordError: (url, { state, reason }) => heard.push(`error ${url} ${state} ${reason}`),
      generateSummary: ({ pages }) => heard.push(`summary ${pages}`),
      finalize: async (status) => {
        await new Promise((resolve) => setImmediate(resolve));
        isClosed = true;
        heard.push(`finalize ${status}`);
      },
    };
    const run = await crawl(request({ startUrls: [small.url('/')], config: file, sinks: [sink] }));
    await run.finished;
    await small.close();
    const home = small.url('/');
    const missing = small.url('/missing');
    expect(isClosed).toBe(true);
    expect(heard).toEqual([
      `link ${home} https://bad.test/x`,
      `blacklisted https://bad.test/x ${home}`,
      `link ${home} https://known.test/`,
      `stubbed https://known.test/ ${home}`,
      `link ${home} ${missing}`,
      `page ${home} 200 0`,
      `error ${missing} DeadLink http: 404`,
      'summary 2',
      'finalize completed',
    ]);
  });

  it('an output sink hears the links that the database keeps', async () => {
    const heard = new Set<string>();
    const run = await crawl(request({ sinks: [{ recordLink: (from, to) => heard.add(`${from} ${to}`) }] }));
    await run.finished;
    const stored = ask<{ link: string }>(
      `SELECT a.url || ' ' || b.url AS link FROM links l
       JOIN pages a ON a.id = l.from_page_id JOIN pages b ON b.id = l.to_page_id`,
    );
    expect(heard).toEqual(new Set(stored.map(({ link }) => link)));
    expect(heard.size).toBeGreaterThan(PAGES);
  });

  it('a body store that takes its time keeps every body, and no text or link is mixed up', async () => {
    const kept = new Map<string, string>();
    const bodies: BodyStore = {
      async put(hash, bytes) {
        const key = `mem/${Buffer.from(hash).toString('hex')}`;
        for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve));
        kept.set(key, Buffer.from(bytes).toString('latin1'));
        return key;
      },
      get: async (key) => Buffer.from(kept.get(key) ?? ''),
      close: async () => void kept.set('closed', ''),
    };
    await (await crawl(request({ bodies, perHost: 10, concurrency: 10 }))).finished;
    expect(kept.has('closed')).toBe(true);
    const rows = ask<{ url: string; body_key: string; text: string; links: number }>(
      `SELECT fetch_url AS url, body_key, t.text, (SELECT count(*) FROM links l WHERE l.from_page_id = p.id) AS links
       FROM pages p JOIN page_text t ON t.page_id = p.id`,
    );
    expect(rows).toHaveLength(PAGES);
    for (const { url, body_key, text, links } of rows) {
      const index = graph.indexOf(0, new URL(url).pathname);
      expect(kept.get(body_key)).toBe(graph.render(index).toString('latin1'));
      expect(text).toContain(graph.page(index).h1);
      expect(links).toBe(graph.linksOf(index).length);
    }
  });

  it('a store adapter of its own serves a whole crawl, however late its answers are', async () => {
    const calls: Record<string, number> = {};
    const inner = await openStore(database(), (error) => {
      throw error;
    });
    const ports = new Set(['projects', 'frontier', 'run', 'hosts', 'sitemaps', 'history']);
    const late = <Part extends object>(part: Part): Part =>
      Object.fromEntries(
        Object.entries(part).map(([name, value]) => [
          name,
          typeof value === 'function' ? lateVerb(name, value) : ports.has(name) ? late(value) : value,
        ]),
      ) as Part;
    const lateVerb =
      (verb: string, call: (...args: never[]) => unknown) =>
      (...args: never[]) => {
        calls[verb] = (calls[verb] ?? 0) + 1;
        const answer = call(...args);
        if (!(answer instanceof Promise)) return answer;
        const after = answer.finally(() => new Promise((resolve) => setImmediate(resolve)));
        return verb === 'begin' ? after.then(late) : after;
      };
    const store = late(inner);
    const run = await crawl(request({ store, db: join(folder, 'unused.db') }));
    expect(await run.finished).toMatchObject({ status: 'completed', pages: PAGES });
    expect(calls).toMatchObject({ begin: 1, settle: PAGES, finish: 1, leave: 1 });
    // Whoever opened it closes it.
    expect(calls.close).toBeUndefined();
    await store.close();
    expect(ask('SELECT count(*) AS n FROM crawled_pages')).toEqual([{ n: PAGES }]);
  });
});

describe('orders', () => {
  it('pause a crawl, change its options, let it go on, and end it for good', async () => {
    const run = await crawl(request({ perHost: 1, concurrency: 1 }));
    const types: string[] = [];
    run.subscribe((event) => types.push(event.type), ['run']);
    const third = new Promise<void>((resolve) => {
      let pages = 0;
      run.subscribe(() => (++pages === 3 ? resolve() : undefined), ['page']);
    });
    await third;
    await run.pause();
    expect(ask('SELECT status FROM runs')).toEqual([{ status: 'paused' }]);
    await expect(run.adjust({ maxDepth: -1 })).rejects.toMatchObject({ code: 'bad-value' });
    for (const fixed of [{ db: 'other.db' }, { project: 'other' }, { fresh: true }] as object[])
      await expect(run.adjust(fixed)).rejects.toMatchObject({ code: 'not-adjustable' });
    expect(() => run.subscribe(() => {}, ['pages' as 'page'])).toThrow(
      expect.objectContaining({ code: 'unknown-topic' }),
    );
    expect(() => run.read({ topics: ['pages' as 'page'] })[Symbol.asyncIterator]()).toThrow(
      expect.objectContaining({ code: 'unknown-topic' }),
    );
    await run.adjust({ maxPages: 5 });
    expect(await run.finished).toMatchObject({ status: 'completed', pages: 5, run: run.runId });
    expect(types).toEqual(['standing', 'run', 'summary']);
    await expect(run.cancel()).rejects.toMatchObject({ code: 'run-not-steerable' });
  });

  it('share one limit of open requests between crawls', async () => {
    const connections = shareConnections(1);
    const run = await crawl(request({ connections }));
    expect(await run.finished).toMatchObject({ pages: PAGES });
    expect(connections.free).toBe(1);
  });
});

describe('the store of a crawl', () => {
  it('is an option when it is text: read like one, beside no file', async () => {
    const other = crawl(request({ db: undefined, store: 'mysql://sumi:secret@127.0.0.1/crawl' }));
    await expect(other).rejects.toMatchObject({
      code: 'bad-value',
      message: expect.stringMatching(/^store cannot be "mysql:\/\/sumi:\*\*\*@127\.0\.0\.1\/crawl"/),
    });
    const both = crawl(request({ store: 'postgres://sumi@127.0.0.1:9/crawl' }));
    await expect(both).rejects.toMatchObject({ code: 'two-stores', exitCode: 2 });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is opened at that address, for crawling and for asking', async () => {
    const server = await sharedPostgres();
    const store = await server.newDatabase();
    try {
      const run = await crawl(request({ db: undefined, store }));
      expect(await run.finished).toMatchObject({ status: 'completed', pages: PAGES });
      const results = await openResults(store);
      const urls: string[] = [];
      for await (const { url } of results.pages({ states: ['Processed'] })) urls.push(url);
      await results.close();
      expect(new Set(urls).size).toBe(PAGES);
      expect(readdirSync(folder)).toEqual([]);
    } finally {
      await server.dropDatabase(store);
    }
  });

  it('has the types of both', () => {
    expectTypeOf<CrawlRequest['store']>().toEqualTypeOf<string | Store | undefined>();
    expectTypeOf<CrawlRequest['leaseSeconds']>().toEqualTypeOf<number | undefined>();
  });
});

describe('a function of the program that throws', () => {
  const bang = (): never => {
    throw new RangeError('bang');
  };
  const notABody: BodyStore = { put: bang, get: bang, close: async () => {} };
  const cases: [part: string, more: CrawlRequest][] = [
    ['scope rule', { scopeRules: [({ isStart }) => (isStart ? null : bang())] }],
    ['priority', { priority: ({ isStart }) => (isStart ? 0 : bang()) }],
    ['parser for text/html', { parsers: { 'text/html': bang } }],
    ['pacing strategy', { pacing: bang }],
    ['output sink', { sinks: [{ recordPage: bang }] }],
    ['output sink', { sinks: [{ recordLink: bang }] }],
    ['event listener', { on: { page: bang } }],
    ['body store', { bodies: notABody }],
    ['body store', { bodies: { ...notABody, put: () => Promise.reject(new RangeError('bang')) } }],
  ];
  for (const [part, more] of cases) {
    it(`as the ${part} ends the run with an error that says so (${Object.keys(more)})`, async () => {
      const run = await crawl(request(more));
      await expect(run.finished).rejects.toMatchObject({
        code: 'extension-failed',
        message: expect.stringMatching(new RegExp(`^The ${part} given to crawl\\(\\) failed.*: bang\\.$`)),
        cause: expect.any(RangeError),
      });
      expect(ask('SELECT status FROM runs')).toEqual([{ status: 'interrupted' }]);
      expect(await (await crawl(request())).finished).toMatchObject({ status: 'completed', run: run.runId });
    });
  }

  it('at the very end still is an error', async () => {
    for (const more of [{ on: { summary: bang } }, { sinks: [{ finalize: bang }] }]) {
      const run = await crawl(request({ ...more, fresh: true }));
      await expect(run.finished).rejects.toMatchObject({ code: 'extension-failed' });
    }
  });

  it('is heard by whoever reads the events', async () => {
    const run = await crawl(request({ on: { page: bang } }));
    const read = async () => {
      for await (const event of run.events) expect(event.type).not.toBe('summary');
    };
    await expect(read()).rejects.toMatchObject({ code: 'extension-failed' });
  });

  it('with an answer of the wrong kind is told what was expected', async () => {
    const wrong: [CrawlRequest, RegExp][] = [
      [{ priority: () => 0.5 }, /whole number from 0 to 999999, not 0\.5/],
      [{ pacing: () => Number.NaN }, /delay in milliseconds, not NaN/],
      [
        { scopeRules: [() => ({ state: 'Maybe' as 'Skipped', priority: 0, reason: 'x' })] },
        /verdict with a state/,
      ],
      [{ scopeRules: [() => ({ state: 'Skipped', priority: 0, reason: null })] }, /needs a reason/],
    ];
    for (const [more, message] of wrong) {
      const run = await crawl(request({ ...more, fresh: true }));
      await expect(run.finished).rejects.toThrow(message);
    }
  });
});
