import { afterEach, describe, expect, it } from 'vitest';
import { serveGraph } from '../../src/demo/serve-site.ts';
import { createSiteGraph } from '../../src/demo/site-graph.ts';
import { ask } from './ask.ts';
import { type FakeWebOptions, startFakeWeb } from './fake-web.ts';

const open: { close(): Promise<void> }[] = [];
const start = async (options?: FakeWebOptions) => {
  const web = await startFakeWeb(options);
  open.push(web);
  return web;
};
afterEach(async () => {
  for (const web of open.splice(0)) await web.close();
});

describe('the fake web', () => {
  it('serves the graph, single pages in front of it, and 404 for the rest', async () => {
    const web = await start({ graph: { seed: 1, pages: 50 }, pages: { '/guide/': '<title>Mine</title>' } });
    const home = await ask(web.url('/'));
    expect(home.body.equals(web.graph!.render(0))).toBe(true);
    expect(home.headers.etag).toBe(web.graph!.etagOf(0));
    expect(home.headers['last-modified']).toBe(web.graph!.lastModifiedOf(0));
    expect((await ask(web.url('/guide/'))).body.toString()).toBe('<title>Mine</title>');
    expect((await ask(web.url('/nothing'))).status).toBe(404);
    expect((await ask(web.url('/robots.txt'))).status).toBe(404);
  });

  it('answers 304 for a page of the graph that is asked with its ETag, and no body to HEAD', async () => {
    const web = await start({ graph: { seed: 1, pages: 50 } });
    const same = await ask(web.url('/'), { headers: { 'if-none-match': web.graph!.etagOf(0) } });
    expect([same.status, same.body.length]).toEqual([304, 0]);
    const other = await ask(web.url('/'), { headers: { 'if-none-match': '"other"' } });
    expect(other.status).toBe(200);
    const head = await ask(web.url('/'), { method: 'HEAD' });
    expect([head.status, head.body.length, head.headers['content-length']]).toEqual([
      200,
      0,
      `${other.body.length}`,
    ]);
  });

  it('gives each host its own address on one port and its own part of the graph', async () => {
    const web = await start({ graph: { seed: 4, pages: 90, hosts: 3 } });
    expect(web.origins).toEqual([1, 2, 3].map((n) => `http://127.0.0.${n}:${web.port}`));
    for (let host = 0; host < 3; host++) {
      const home = await ask(web.url('/', host));
      expect(home.body.equals(web.graph!.render(host, web.origins))).toBe(true);
    }
    expect(web.log.map((entry) => [entry.host, entry.localAddress])).toEqual([
      [0, '127.0.0.1'],
      [1, '127.0.0.2'],
      [2, '127.0.0.3'],
    ]);
  });

  it('prefers a page of one host, then the exact path, then the longest prefix', async () => {
    const pages = {
      '/a/*': 'wide',
      '/a/b/*': 'narrow',
      '/a/b/c': 'exact',
      '1:/a/b/c': 'own',
      '1:/z/*': 'own-wide',
    };
    const web = await start({ hosts: 2, pages });
    const bodies = async (host: number, ...paths: string[]) =>
      Promise.all(paths.map(async (path) => (await ask(web.url(path, host))).body.toString()));
    expect(await bodies(0, '/a/x', '/a/b/x', '/a/b/c', '/a/b/c?q=1')).toEqual([
      'wide',
      'narrow',
      'exact',
      'exact',
    ]);
    expect(await bodies(1, '/a/b/c', '/z/1')).toEqual(['own', 'own-wide']);
    expect((await ask(web.url('/z/1'))).status).toBe(404);
  });

  it('serves robots.txt as text from a string on every host', async () => {
    const web = await start({ hosts: 2, robots: 'User-agent: *\nDisallow: /x\n' });
    for (const host of [0, 1]) {
      const heard = await ask(web.url('/robots.txt', host));
      expect([heard.status, heard.headers['content-type']]).toEqual([200, 'text/plain']);
      expect(heard.body.toString()).toContain('Disallow: /x');
    }
  });

  it('logs what was asked, by whom, with times that enclose the answer', async () => {
    let insideMs = 0;
    const pages: FakeWebOptions['pages'] = {
      '/timed': ({ response }) => {
        insideMs = performance.now();
        response.writeHead(202).end('ok');
      },
    };
    const web = await start({ pages });
    const beforeMs = performance.now();
    await ask(web.url('/timed?q=1'), { headers: { 'user-agent': 'Probe/1', accept: 'text/html' } });
    await ask(web.url('/timed?q=1'), { method: 'HEAD' });
    const [first, second] = web.requestsTo('/timed?q=1');
    expect(first.atMs).toBeGreaterThanOrEqual(beforeMs);
    expect(second.atMs).toBeLessThanOrEqual(insideMs);
    expect(first.endedMs).toBeGreaterThanOrEqual(first.atMs);
    expect(second.atMs).toBeGreaterThanOrEqual(first.endedMs!);
    expect(first).toMatchObject({ method: 'GET', status: 202, userAgent: 'Probe/1', path: '/timed?q=1' });
    expect(first.headers.accept).toBe('text/html');
    expect(second.method).toBe('HEAD');
    expect(web.gapsMs()).toEqual([second.atMs - first.atMs]);
    expect(web.requestsTo('/timed')).toEqual([]);
  });

  it('tells the handler how often its path was asked on its host, and the test when it was', async () => {
    const seen: number[] = [];
    const pages: FakeWebOptions['pages'] = {
      '/n': ({ nth, response }) => {
        seen.push(nth);
        response.end();
      },
    };
    const web = await start({ hosts: 2, pages });
    const twice = web.asked('/n', 2);
    await ask(web.url('/n'));
    await ask(web.url('/n'));
    await ask(web.url('/n', 1));
    await twice;
    await web.asked('/n', 3);
    expect(seen).toEqual([1, 2, 1]);
  });

  it('closes with requests still open', async () => {
    const web = await startFakeWeb({ pages: { '/open': () => {} } });
    const heard = ask(web.url('/open'));
    await web.asked('/open');
    await web.close();
    expect((await heard).error).toBe('ECONNRESET');
    expect((await ask(web.url('/open'))).error).toBe('ECONNREFUSED');
  });
});

describe('the served graph', () => {
  it('keeps no log when told so', async () => {
    const site = await serveGraph(createSiteGraph({ seed: 1, pages: 20 }), { keepLog: false });
    open.push(site);
    expect((await ask(site.url('/'))).status).toBe(200);
    expect(site.log).toEqual([]);
  });

  it('says so when the wanted port is taken', async () => {
    const graph = createSiteGraph({ seed: 1, pages: 20 });
    const site = await serveGraph(graph);
    open.push(site);
    await expect(serveGraph(graph, { port: site.port })).rejects.toThrow('EADDRINUSE');
  });
});
