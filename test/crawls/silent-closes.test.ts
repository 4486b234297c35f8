// Servers that end their connections unannounced, so that a request over a used one is lost. Written on raw sockets, because
// node:http announces what it does. When the request comes the connection is cut without a byte of answer: to the crawler
// that looks the same as a connection that was closed a moment earlier, and it needs no luck.
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type CrawlFile, type CrawlOptions, page, useBench } from './crawl-site.ts';

const bench = useBench();
const open: (() => void)[] = [];
afterEach(() => {
  for (const close of open.splice(0)) close();
});

interface Seen {
  url: string;
  /** Path by path, of requests that were answered. */
  answered: string[];
  lost: string[];
  connections: number;
}

const PAGES = 40;

function bodyOf(path: string): string | null {
  if (path === '/robots.txt') return 'User-agent: *\nDisallow:\n';
  const links = Array.from({ length: PAGES }, (_, n) => `/${n}`);
  return path === '/' ? page('Home', ...links) : page(`Page ${path}`);
}

/** Answers `most` requests over each connection and cuts the next one; `isLost` cuts others besides. */
async function serve(most: number, isLost = (_path: string, _served: number) => false): Promise<Seen> {
  const seen: Seen = { url: '', answered: [], lost: [], connections: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    seen.connections++;
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
    let served = 0;
    socket.on('data', (chunk) => {
      const [, method, path] = /^(\w+) (\S+)/.exec(chunk.toString('latin1'))!;
      if (served++ === most || isLost(path, served - 1)) {
        seen.lost.push(path);
        socket.resetAndDestroy();
        return;
      }
      seen.answered.push(path);
      const body = bodyOf(path) ?? '';
      const type = path === '/robots.txt' ? 'text/plain' : 'text/html';
      const head = `HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
      socket.write(method === 'HEAD' ? head : head + body);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  open.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  seen.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return seen;
}

const failures = (file: CrawlFile) =>
  file
    .rows<{ failure: string }>('SELECT failure FROM request WHERE failure IS NOT NULL ORDER BY id')
    .map(({ failure }) => failure);

describe('a server that ends used connections unannounced', () => {
  it.each<[string, number, number, CrawlOptions?]>([
    ['after each answer', 1, 1],
    ['after each answer, asked with HEAD first', 1, 1, { headFirst: true }],
    ['after each answer, asked 5 at once', 1, 5],
    ['after 3 answers', 3, 1],
    ['after 10 answers', 10, 1],
  ])(
    'has all pages read, and no try or failure is counted: %s',
    async (_, most, perHost, more: CrawlOptions = {}) => {
      const site = await serve(most);
      const file = bench.file();
      await bench.crawl(file, `${site.url}/`, { perHost, retries: 0, ...more });
      expect(Object.values(file.states())).toEqual(Array(PAGES + 1).fill('Processed'));
      expect(file.pages().every(({ retry_count }) => retry_count === 0)).toBe(true);
      const [host] = file.rows<{ failures: number }>('SELECT failures FROM host');
      expect(host.failures).toBe(0);
      // Every request that was sent is in the log, the lost ones too.
      expect(file.rows('SELECT id FROM request')).toHaveLength(site.answered.length + site.lost.length);
      expect(failures(file)).toEqual(Array(site.lost.length).fill('not-taken'));
      expect(site.lost.length).toBeGreaterThan(0);
      if (most === 1) {
        // Three are enough to learn from; those open at the same time do not know of it yet.
        expect(site.lost.length).toBeLessThan(3 + perHost);
        expect(site.connections).toBeGreaterThan(site.answered.length - 3 - perHost);
      }
    },
  );

  it('seldom keeps its connections: what is lost now and then is only sent again', async () => {
    const site = await serve(10);
    await bench.crawl(bench.file(), `${site.url}/`, { perHost: 1 });
    expect(site.connections).toBe(Math.ceil(site.answered.length / 10));
  });

  it('loses a request once for nothing: a page that a new connection loses, too, is tried and counted', async () => {
    const site = await serve(100, (path) => path === '/7');
    const file = bench.file();
    await bench.crawl(file, `${site.url}/`, { perHost: 1, retries: 1 });
    expect(file.page('/7')).toMatchObject({ state: 'Failed', retry_count: 1 });
    expect(file.page('/7').reason).toMatch(/^network: reset/);
    expect(failures(file)).toEqual([
      ...['not-taken', 'reset'],
      // The retry went over a used connection again, was sent once more, and failed there.
      ...['not-taken', 'reset'],
    ]);
  });

  it('may lose requests for sitemaps, too', async () => {
    const site = await serve(100, (path, served) => path === '/sitemap.xml' && served > 0);
    const file = bench.file();
    await bench.crawl(file, `${site.url}/`, { perHost: 1, discover: ['sitemap', 'links'] });
    expect(site.lost).toEqual(['/sitemap.xml']);
    expect(site.answered).toContain('/sitemap.xml');
    expect(failures(file)).toEqual(['not-taken']);
  });
});
