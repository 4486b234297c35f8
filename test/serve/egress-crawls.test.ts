// A crawl with an egress guard, judged from outside: the log of the fake web has no request to an address that was refused.
import { createServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { createEgressGuard, type EgressOptions } from '../../src/fetch/egress.ts';
import { explainUrl } from '../../src/project/explain-page.ts';
import { listSiteEntries } from '../../src/project/list-site-entries.ts';
import { openReading } from '../../src/project/reading.ts';
import { asked, page, useBench } from '../crawls/crawl-site.ts';
import { crawlInto, eachStore } from '../crawls/each-store.ts';
import type { FakeWeb } from '../web/fake-web.ts';

const bench = useBench();
const places = eachStore(bench);
const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0)) await step();
});

const guard = (allow: string[] = ['127.0.0.1'], more: Partial<EgressOptions> = {}) => ({
  egress: createEgressGuard({ allow, ownPort: null, ...more }),
});

/** Names that lead to the fake web; any other is unknown. */
const answering =
  (names: Record<string, string[]>): EgressOptions['lookup'] =>
  (name, _, callback) => {
    const found = names[name];
    if (found === undefined)
      return callback(Object.assign(new Error(`getaddrinfo ENOTFOUND ${name}`), { code: 'ENOTFOUND' }), []);
    callback(
      null,
      found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    );
  };

const ANY = { allowedHosts: ['any'] };
const pathsTo = (web: FakeWeb, host: number) => web.log.filter((entry) => entry.host === host);

describe('a start URL that the guard refuses', () => {
  it.each([
    ['http://127.0.0.1', '127.0.0.1 is no public address'],
    ['http://2130706433', '127.0.0.1 is no public address'],
    ['http://0x7f.1', '127.0.0.1 is no public address'],
    ['http://[::ffff:127.0.0.1]', '::ffff:7f00:1 is no public address'],
    ['http://localhost', 'localhost is refused by name'],
    ['http://intranet', 'intranet is refused by name'],
    ['http://db.internal', 'db.internal is refused by name'],
  ])('%s ends the run at once, says why, and connects to nothing', async (start, why) => {
    const web = await bench.web({ pages: { '/': page('Home') } });
    const file = bench.file();
    const url = `${start}:${web.port}/`;
    const { summary } = await bench.crawl(file, url, {}, guard([]));
    expect(web.log).toEqual([]);
    expect(file.pages()).toMatchObject([{ state: 'Skipped', reason: `egress: ${why}`, retry_count: 0 }]);
    expect(summary).toMatchObject({ status: 'failed', requests: 0, skipped: 1 });
    expect(summary.refused_starts).toMatchObject([{ state: 'Skipped', reason: `egress: ${why}` }]);
    expect(summary.refused_starts[0].message).toContain(why);
    expect(summary.refused_starts[0].advice).toContain('--egress-allow');
  });

  it('is explained by `sumi why`', async () => {
    const file = bench.file();
    await bench.crawl(file, 'http://10.0.0.5/', {}, guard([]));
    const reading = await openReading(file.path);
    clean.push(() => reading.close());
    const question = { now: Date.now(), kind: 'value' as const, visitsPerDay: 1 };
    const [explained] = await explainUrl(reading, 'http://10.0.0.5/', question);
    expect(explained).toMatchObject({ state: 'Skipped', reason: 'egress: 10.0.0.5 is no public address' });
  });

  it('is refused though its sitemaps are wanted, too, and nobody waits for them', async () => {
    const web = await bench.web({ pages: { '/': page('Home') } });
    const lookup = answering({ 'shop.example': ['127.0.0.1'] });
    for (const start of ['http://127.0.0.1', 'http://shop.example']) {
      const file = bench.file();
      const discover = ['links', 'sitemap'];
      const { summary } = await bench.crawl(
        file,
        `${start}:${web.port}/`,
        { discover },
        guard([], { lookup }),
      );
      expect(web.log).toEqual([]);
      expect(summary).toMatchObject({ status: 'failed', requests: 0, skipped: 1 });
    }
  });

  it('without a scheme is refused by both', async () => {
    const web = await bench.web({ pages: { '/': page('Home') } });
    const file = bench.file();
    await bench.crawl(file, `127.0.0.1:${web.port}`, {}, guard([]));
    expect(web.log).toEqual([]);
    expect(file.pages()).toMatchObject([{ reason: 'egress: 127.0.0.1 is no public address' }]);
  });

  it('is refused by its address where only a lookup shows that, with and without robots.txt', async () => {
    const web = await bench.web({ pages: { '/': page('Home') } });
    const url = `http://shop.example:${web.port}/`;
    const inner = guard([], { lookup: answering({ 'shop.example': ['127.0.0.1'] }) });
    for (const robots of [true, false]) {
      const file = bench.file();
      const { summary } = await bench.crawl(file, url, { robots }, inner);
      expect(web.log).toEqual([]);
      expect(file.pages()).toMatchObject([
        { state: 'Skipped', reason: 'egress: shop.example is 127.0.0.1, no public address' },
      ]);
      expect(summary).toMatchObject({ status: 'failed', requests: 0 });
    }
  });
});

describe('a crawl with a guard', () => {
  it('reaches what is allowed, and no other link, redirect, sitemap or robots.txt', async () => {
    const web = await bench.web({
      hosts: 3,
      robots: ({ response, url }) =>
        void response.end(
          `User-agent: *\nAllow: /\nSitemap: ${url('/map.xml', 1)}\nSitemap: ${url('/map.xml')}\n`,
        ),
      pages: {
        '/': ({ response, url }) =>
          void response
            .writeHead(200, { 'content-type': 'text/html' })
            .end(page('Home', '/here', '/away', url('/secret', 1), 'http://localhost/x', 'http://[::1]/y')),
        '/here': page('Here'),
        '/away': ({ response, url }) => void response.writeHead(302, { location: url('/admin', 2) }).end(),
        '/map.xml': ({ response, url }) =>
          void response
            .writeHead(200, { 'content-type': 'application/xml' })
            .end(
              `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${url('/mapped')}</loc></url></urlset>`,
            ),
        '/mapped': page('Mapped'),
        '*': page('Secret'),
      },
    });
    const file = bench.file();
    const { summary } = await bench.crawl(
      file,
      web.url('/'),
      { ...ANY, discover: ['links', 'sitemap'], sitemapPaths: [] },
      guard(),
    );
    expect(pathsTo(web, 1)).toEqual([]);
    expect(pathsTo(web, 2)).toEqual([]);
    expect(asked(web).sort()).toEqual(['/', '/away', '/here', '/map.xml', '/mapped']);
    const reason = (url: string) => file.page(url).reason;
    expect(reason(web.url('/secret', 1))).toBe('egress: 127.0.0.2 is no public address');
    expect(reason(web.url('/admin', 2))).toBe('egress: 127.0.0.3 is no public address');
    expect(reason('http://localhost/x')).toBe('egress: localhost is refused by name');
    expect(reason('http://[::1]/y')).toBe('egress: ::1 is no public address');
    expect(file.page(web.url('/secret', 1)).state).toBe('Skipped');
    // A redirect that leads to what may not be read has come to nothing, and says to what.
    expect(file.page('/away')).toMatchObject({ state: 'Failed', status_code: 302 });
    expect(summary.status).toBe('completed');
  });

  it('reads no robots.txt that a redirect names at a refused address, and waits for none', async () => {
    const web = await bench.web({
      hosts: 2,
      robots: ({ response, url }) => void response.writeHead(301, { location: url('/robots.txt', 1) }).end(),
      pages: { '/': page('Home') },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), {}, guard());
    expect(pathsTo(web, 1)).toEqual([]);
    expect(web.requestsTo('/robots.txt')).toHaveLength(1);
    expect(file.page('/')).toMatchObject({
      state: 'Skipped',
      reason: 'egress: 127.0.0.2 is no public address (robots.txt leads there)',
    });
  });

  it('asks by HEAD as little as by GET', async () => {
    const web = await bench.web({
      hosts: 2,
      pages: {
        '/': ({ response, url }) =>
          void response
            .writeHead(200, { 'content-type': 'text/html' })
            .end(page('Home', url('/x', 1), `http://shop.example:${new URL(url('/')).port}/`)),
        '/x': page('X'),
      },
    });
    const file = bench.file();
    const lookup = answering({ 'shop.example': ['127.0.0.2'] });
    await bench.crawl(
      file,
      web.url('/'),
      { ...ANY, headFirst: true, robots: false },
      guard(['127.0.0.1'], { lookup }),
    );
    expect(pathsTo(web, 1)).toEqual([]);
    expect(file.page(web.url('/x', 1)).reason).toBe('egress: 127.0.0.2 is no public address');
  });

  it.each(['SQLite', 'PostgreSQL'] as const)(
    'leaves pages as they are that were read before without it, and says why it did (%s)',
    async (name) => {
      const web = await bench.web({ pages: { '/': page('Home', '/a'), '/a': page('A') } });
      const place = await places[name]();
      await (await crawlInto(place, web.url('/'))).handle.finished;
      const before = web.log.length;
      // Robots.txt is known, and would let us.
      const { handle } = await crawlInto(place, web.url('/'), { mode: 'full' }, guard([]));
      const summary = await handle.finished;
      expect(web.log).toHaveLength(before);
      expect(summary.refused_starts).toMatchObject([{ reason: 'egress: 127.0.0.1 is no public address' }]);
      expect(await place.rows('SELECT state, title FROM pages ORDER BY id')).toMatchObject([
        { state: 'Processed', title: 'Home' },
        { state: 'Processed', title: 'A' },
      ]);
    },
  );
});

describe('--resolve', () => {
  it('is judged by the address that it gives, unless the name is allowed', async () => {
    const web = await bench.web({ pages: { '/': page('Home') } });
    const resolve = [`shop.example=127.0.0.1:${web.port}`];
    const refused = bench.file();
    await bench.crawl(refused, 'http://shop.example/', { resolve }, guard([]));
    expect(web.log).toEqual([]);
    expect(refused.pages()).toMatchObject([
      { reason: 'egress: shop.example is 127.0.0.1, no public address' },
    ]);
    const named = bench.file();
    await bench.crawl(named, 'http://shop.example/', { resolve }, guard(['shop.example']));
    expect(asked(web)).toEqual(['/']);
    expect(named.pages()).toMatchObject([{ state: 'Processed' }]);
  });
});

describe("the service's own port", () => {
  it.each(['127.0.0.1', '127.9.9.9', '[::1]', '0.0.0.0', '[::ffff:127.0.0.1]'])(
    'is never reached at %s, even where that is allowed',
    async (host) => {
      const web = await bench.web({ pages: { '/': page('Service') } });
      const file = bench.file();
      const url = `http://${host}:${web.port}/`;
      const allow = ['0.0.0.0/0', '::/0', 'service.example'];
      await bench.crawl(file, url, {}, guard(allow, { ownPort: web.port }));
      expect(web.log).toEqual([]);
      expect(file.pages()[0].reason).toMatch(/^egress: .* is this service itself$/);
    },
  );

  it('is not reached by an allowed name either', async () => {
    const web = await bench.web({ pages: { '/': page('Service') } });
    const file = bench.file();
    const lookup = answering({ 'service.example': ['127.0.0.1'] });
    const url = `http://service.example:${web.port}/`;
    await bench.crawl(file, url, {}, guard(['service.example'], { ownPort: web.port, lookup }));
    expect(web.log).toEqual([]);
    expect(file.pages()[0].reason).toBe(`egress: 127.0.0.1:${web.port} is this service itself`);
  });
});

describe('a proxy', () => {
  /** For absolute requests and CONNECT; it connects to what it is asked for, and to nothing else. */
  async function startProxy() {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      seen.push(`${request.method} ${request.url} host=${request.headers.host}`);
      response.end(page('By the proxy'));
    });
    server.on('connect', (request: IncomingMessage, socket: Socket) => {
      seen.push(`CONNECT ${request.url}`);
      const [host, port] = request.url!.split(':');
      const upstream = connect(Number(port), host, () => {
        socket.write('HTTP/1.1 200 Connected\r\n\r\n');
        upstream.pipe(socket).pipe(upstream);
      });
      upstream.on('error', () => socket.destroy());
      socket.on('error', () => upstream.destroy()).on('close', () => upstream.destroy());
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    clean.push(
      () => server.closeAllConnections(),
      () => void server.close(),
    );
    return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
  }

  it('is asked for the judged address, and the site sees the name', async () => {
    const hosts: unknown[] = [];
    const web = await bench.web({
      pages: {
        '/': (exchange) => {
          hosts.push(exchange.request.headers.host);
          exchange.response.writeHead(200, { 'content-type': 'text/html' }).end(page('Home'));
        },
      },
    });
    const proxy = await startProxy();
    const file = bench.file();
    const lookup = answering({ 'shop.example': ['127.0.0.1'] });
    const start = `http://shop.example:${web.port}/`;
    await bench.crawl(file, start, { proxy: proxy.url }, guard(['127.0.0.1'], { lookup }));
    expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT 127.0.0.1:${web.port}`]));
    expect(hosts).toEqual([`shop.example:${web.port}`]);
    expect(file.pages()).toMatchObject([{ state: 'Processed', title: 'Home' }]);
  });

  it('is asked for nothing that is refused', async () => {
    const proxy = await startProxy();
    const lookup = answering({ 'shop.example': ['10.0.0.7'] });
    const starts = ['http://shop.example/', 'https://shop.example/', 'http://10.0.0.5/', 'https://[::1]/'];
    for (const start of [...starts, 'http://localhost/']) {
      const file = bench.file();
      await bench.crawl(file, start, { proxy: proxy.url }, guard([], { lookup }));
      expect(file.pages()[0].reason).toMatch(/^egress: /);
    }
    expect(proxy.seen).toEqual([]);
  });

  it('is asked in absolute form for an address that is allowed', async () => {
    const proxy = await startProxy();
    const file = bench.file();
    await bench.crawl(file, 'http://10.0.0.5/', { proxy: proxy.url, robots: false }, guard(['10.0.0.5']));
    expect(proxy.seen).toEqual(['GET http://10.0.0.5/ host=10.0.0.5']);
  });
});

describe('the reader of one sitemap', () => {
  it('obeys the guard, for the sitemap, what it names and where it leads', async () => {
    const web = await bench.web({
      hosts: 2,
      pages: {
        '/index.xml': ({ response, url }) =>
          void response.writeHead(200, { 'content-type': 'application/xml' }).end(
            `<sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">
               <sitemap><loc>${url('/inner.xml', 1)}</loc></sitemap><sitemap><loc>${url('/moved.xml')}</loc></sitemap>
               <sitemap><loc>${url('/own.xml')}</loc></sitemap></sitemapindex>`,
          ),
        '/moved.xml': ({ response, url }) =>
          void response.writeHead(302, { location: url('/inner.xml', 1) }).end(),
        '/own.xml': ({ response, url }) =>
          void response
            .writeHead(200, { 'content-type': 'application/xml' })
            .end(
              `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>${url('/a')}</loc></url></urlset>`,
            ),
      },
    });
    const file = bench.file();
    const config = await loadConfig({ env: {}, options: { db: file.path, delay: 0 } });
    const problems: (string | null)[] = [];
    const { rows } = listSiteEntries(config, web.url('/index.xml'), {
      ...guard(),
      listener: {
        onSitemap: ({ problem }) => void problems.push(problem),
        onWait() {},
        onStored() {},
      },
      signal: new AbortController().signal,
      limit: undefined,
    });
    const urls: string[] = [];
    for await (const batch of rows) urls.push(...batch.map(({ url }) => url));
    expect(urls).toEqual([web.url('/a')]);
    expect(pathsTo(web, 1)).toEqual([]);
    expect(problems.filter((problem) => problem?.includes('127.0.0.2 is no public address'))).toHaveLength(2);
  });
});
