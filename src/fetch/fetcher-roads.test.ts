import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { constants, createSecureServer, type Http2ServerResponse, type ServerHttp2Stream } from 'node:http2';
import { createServer as createHttpsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createNetServer,
  type Server,
  type Socket,
} from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { systemClock } from '../primitives/clock.ts';
import type { Fetcher, Outcome } from './fetcher.ts';
import type { FetcherOptions } from './fetcher-options.ts';
import { createHttpFetcher } from './http-fetcher.ts';

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  clean.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A self-signed certificate for site.test; null where there is no openssl program. */
function makeCertificate(): { key: string; cert: string } | null {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-cert-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const made = spawnSync(process.env.OPENSSL ?? 'openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=site.test', '-addext', 'subjectAltName=DNS:site.test', '-keyout', key, '-out', cert],
  ]);
  const pair =
    made.status === 0 ? { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') } : null;
  rmSync(folder, { recursive: true });
  return pair;
}

const certificate = makeCertificate();
if (certificate === null)
  console.log('TLS and HTTP/2 tests are left out: the openssl program cannot make a certificate');

function makeFetcher(options: Partial<FetcherOptions> = {}): Fetcher {
  const fetcher = createHttpFetcher({
    userAgent: 'test/1',
    compress: false,
    keepAlive: true,
    http2: false,
    perHost: 2,
    connectTimeoutMs: 5000,
    headersTimeoutMs: 5000,
    bodyTimeoutMs: 5000,
    totalTimeoutMs: 10_000,
    resolve: new Map([['site.test', { address: '127.0.0.1' }]]),
    proxy: {},
    clock: systemClock,
    ...options,
  });
  clean.push(() => fetcher.close());
  return fetcher;
}

const get = (fetcher: Fetcher, url: string, onSend?: () => boolean) =>
  fetcher.fetch({ url, method: 'GET', maxBytes: 100_000, onSend });

const fetchLarge = (fetcher: Fetcher, url: string) =>
  fetcher.fetch({ url, method: 'GET', maxBytes: 1_000_000 });

function textOf({ body }: Outcome): string | null {
  return body === null ? null : Buffer.from(body.bytes.subarray(0, body.length)).toString();
}

/** A proxy for absolute requests and CONNECT that asks for me:secret and keeps what it was asked. */
async function startProxy(route: (host: string) => number, isOpen = false) {
  const seen: string[] = [];
  const isAllowed = (request: IncomingMessage) =>
    isOpen ||
    request.headers['proxy-authorization'] === `Basic ${Buffer.from('me:secret').toString('base64')}`;
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} host=${request.headers.host}`);
    if (!isAllowed(request)) return void response.writeHead(407).end('who?');
    const url = new URL(request.url!);
    httpRequest({ port: route(url.host), path: url.pathname, headers: { host: url.host } }, (answer) => {
      response.writeHead(answer.statusCode!);
      answer.pipe(response);
    }).end();
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    seen.push(`CONNECT ${request.url}`);
    if (!isAllowed(request)) return void socket.end('HTTP/1.1 407 Who\r\n\r\n');
    const upstream = connect(route(request.url!), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  });
  return { port: await listen(server), seen };
}

describe('--resolve', () => {
  it('dials the address and port given, and the host header stays the name', async () => {
    let host: string | undefined;
    const port = await listen(
      createServer((request, response) => {
        host = request.headers.host;
        response.end('resolved');
      }),
    );
    const fetcher = makeFetcher({ resolve: new Map([['shop.test', { address: '127.0.0.1', port }]]) });
    expect(textOf(await get(fetcher, 'http://shop.test/'))).toBe('resolved');
    expect(host).toBe('shop.test');
  });
});

describe('a proxy for http', () => {
  it('is asked in absolute form with user and password, and onSend still decides', async () => {
    const site = await listen(createServer((_, response) => response.end('through')));
    const proxy = await startProxy(() => site);
    const fetcher = makeFetcher({
      proxy: { http: `http://me:secret@127.0.0.1:${proxy.port}`, no: 'near.test' },
    });
    let calls = 0;
    expect(textOf(await get(fetcher, 'http://far.test/page', () => ++calls > 0))).toBe('through');
    expect(await get(fetcher, 'http://far.test/never', () => false)).toMatchObject({ failure: 'not-sent' });
    expect(calls).toBe(1);
    expect(proxy.seen).toEqual(['GET http://far.test/page host=far.test']);
  });

  it('is passed by for NO_PROXY', async () => {
    const site = await listen(createServer((_, response) => response.end('direct')));
    const proxy = await startProxy(() => site);
    const fetcher = makeFetcher({ proxy: { http: `127.0.0.1:${proxy.port}`, no: 'site.test' } });
    expect(textOf(await get(fetcher, `http://site.test:${site}/`))).toBe('direct');
    expect(proxy.seen).toEqual([]);
  });

  it('that wants a password or is not there is a proxy failure', async () => {
    const proxy = await startProxy(() => 1);
    const unknown = makeFetcher({ proxy: { http: `http://127.0.0.1:${proxy.port}` } });
    expect(await get(unknown, 'http://far.test/')).toMatchObject({ failure: 'proxy', head: null });
    const server = createServer();
    const port = await listen(server);
    server.close();
    await once(server, 'close');
    const gone = await get(makeFetcher({ proxy: { http: `http://127.0.0.1:${port}` } }), 'http://far.test/');
    expect(gone).toMatchObject({ failure: 'proxy', sentAt: null });
    expect(gone.message).toContain('ECONNREFUSED');
  });
});

describe('a connection that is not made in time', () => {
  it('is timeout-connect', async () => {
    const port = await listen(createNetServer(() => {}));
    const outcome = await get(makeFetcher({ connectTimeoutMs: 40 }), `https://site.test:${port}/`);
    expect(outcome).toMatchObject({ failure: 'timeout-connect', sentAt: null });
  });

  it('is timeout-total when that is shorter, and close does not wait for it', async () => {
    const port = await listen(createNetServer(() => {}));
    const fetcher = makeFetcher({ totalTimeoutMs: 40 });
    expect(await get(fetcher, `https://site.test:${port}/`)).toMatchObject({
      failure: 'timeout-total',
      sentAt: null,
    });
    await fetcher.close();
  });

  it('is timeout-connect through a proxy that never answers CONNECT', async () => {
    const port = await listen(createNetServer(() => {}));
    const fetcher = makeFetcher({ connectTimeoutMs: 40, proxy: { https: `http://127.0.0.1:${port}` } });
    expect(await get(fetcher, 'https://site.test/')).toMatchObject({
      failure: 'timeout-connect',
      sentAt: null,
    });
  });
});

const LONG_BODY = Buffer.alloc(24 * 1024 * 1024, 'x');
const MOST_IN_BUFFERS = 4 * 1024 * 1024;

/** The body is left alone after its first piece, for longer than any time-out, then taken. */
async function takeWithPause(options: Partial<FetcherOptions>, url: string): Promise<void> {
  const clock = new FakeClock();
  const fetcher = makeFetcher({ ...options, clock });
  let length = 0;
  let [begin, goOn] = [() => {}, () => {}];
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const held = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const outcome = fetcher.fetch({
    url,
    method: 'GET',
    maxBytes: LONG_BODY.length,
    onPiece(bytes) {
      length += bytes.length;
      begin();
      return held;
    },
  });
  await begun;
  for (let turn = 0; turn < 1000; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(length).toBeLessThan(MOST_IN_BUFFERS);
  clock.advance(100_000);
  goOn();
  expect(await outcome).toMatchObject({ failure: null, wireBytes: LONG_BODY.length });
  expect(length).toBe(LONG_BODY.length);
}

describe('a body that nobody can take for now', () => {
  it('stays where it is, and no time is counted', async () => {
    const port = await listen(createServer((_, response) => response.end(LONG_BODY)));
    await takeWithPause({}, `http://site.test:${port}/`);
  });
});

if (certificate === null) it('TLS is not tested here: no openssl', () => expect(certificate).toBeNull());
else {
  const { key, cert } = certificate;
  const startHttps = () =>
    listen(
      createHttpsServer({ key, cert }, (request, response) => response.end(`secure ${request.headers.host}`)),
    );

  describe('https', () => {
    it('is checked against the name in the URL, wherever it is dialled', async () => {
      const port = await startHttps();
      const resolve = new Map([
        ['site.test', { address: '127.0.0.1', port }],
        ['other.test', { address: '127.0.0.1', port }],
      ]);
      const fetcher = makeFetcher({ ca: cert, resolve });
      expect(textOf(await get(fetcher, 'https://site.test/'))).toBe('secure site.test');
      expect(await get(fetcher, 'https://other.test/')).toMatchObject({ failure: 'tls', sentAt: null });
    });

    it('is a tls failure for a certificate nobody vouches for, and where there is no TLS at all', async () => {
      const port = await startHttps();
      expect(await get(makeFetcher(), `https://site.test:${port}/`)).toMatchObject({
        failure: 'tls',
        sentAt: null,
      });
      const plain = await listen(createNetServer((socket) => socket.end('HTTP/1.1 400 No\r\n\r\n')));
      expect(await get(makeFetcher(), `https://site.test:${plain}/`)).toMatchObject({ failure: 'tls' });
    });

    it('takes up its session again with a new connection, and never one that was not trusted', async () => {
      const reused: boolean[] = [];
      const server = createHttpsServer({ key, cert }, (_, response) => response.end('x'.repeat(200_000)));
      server.on('secureConnection', (socket) => reused.push(socket.isSessionReused()));
      const url = `https://site.test:${await listen(server)}/`;
      const fetcher = makeFetcher({ ca: cert, keepAlive: false });
      for (let n = 0; n < 2; n += 1) expect((await fetchLarge(fetcher, url)).body!.length).toBe(200_000);
      expect(reused).toEqual([false, true]);
      const wary = makeFetcher({ keepAlive: false });
      for (let n = 0; n < 2; n += 1) expect(await get(wary, url)).toMatchObject({ failure: 'tls' });
    });

    it('goes through the tunnel of a proxy with user and password', async () => {
      const site = await startHttps();
      const proxy = await startProxy(() => site);
      const fetcher = makeFetcher({ ca: cert, proxy: { https: `http://me:secret@127.0.0.1:${proxy.port}` } });
      let calls = 0;
      for (let n = 0; n < 2; n += 1) {
        expect(textOf(await get(fetcher, 'https://site.test/', () => ++calls > 0))).toBe('secure site.test');
      }
      expect(proxy.seen).toEqual(['CONNECT site.test:443']);
      expect(calls).toBe(2);
    });

    it.each(['itself', 'through a tunnel'])('leaves a body where it is, %s', async (road) => {
      const site = await listen(createHttpsServer({ key, cert }, (_, response) => response.end(LONG_BODY)));
      const proxy = await startProxy(() => site, true);
      const ways = road === 'itself' ? {} : { https: `http://127.0.0.1:${proxy.port}` };
      await takeWithPause({ ca: cert, proxy: ways }, `https://site.test:${site}/`);
      expect(proxy.seen).toHaveLength(road === 'itself' ? 0 : 1);
    });

    it('is a proxy failure when the tunnel is refused, and a tls failure when the site behind it is wrong', async () => {
      const site = await startHttps();
      const closed = await startProxy(() => site);
      const refused = makeFetcher({ ca: cert, proxy: { https: `http://127.0.0.1:${closed.port}` } });
      const outcome = await get(refused, 'https://site.test/');
      expect(outcome).toMatchObject({ failure: 'proxy', sentAt: null });
      expect(outcome.message).toContain('407');
      const open = await startProxy(() => site, true);
      const wrong = makeFetcher({ ca: cert, proxy: { https: `http://127.0.0.1:${open.port}` } });
      expect(await get(wrong, 'https://other.test/')).toMatchObject({ failure: 'tls' });
    });
  });

  describe('headers of an origin', () => {
    it.each([
      ['HTTP/1.1', { http2: false, isTunnelled: false }],
      ['HTTP/2', { http2: true, isTunnelled: false }],
      ['HTTP/1.1 through a tunnel', { http2: false, isTunnelled: true }],
      ['HTTP/2 through a tunnel', { http2: true, isTunnelled: true }],
    ])('reach it and no other port, name or scheme, and no proxy: %s', async (_, { http2, isTunnelled }) => {
      const seen: string[] = [];
      const server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
        seen.push(`${request.httpVersion} ${request.url} ${request.headers.authorization}`);
        response.end('ok');
      });
      server.on('sessionError', () => {});
      const site = await listen(server as unknown as Server);
      const asked: (string | undefined)[] = [];
      const proxy = createServer();
      proxy.on('connect', (request: IncomingMessage, socket: Socket) => {
        asked.push(request.headers.authorization);
        const upstream = connect(site, '127.0.0.1', () => {
          socket.write('HTTP/1.1 200 Connected\r\n\r\n');
          upstream.pipe(socket).pipe(upstream);
        });
        upstream.on('error', () => socket.destroy());
        socket.on('close', () => upstream.destroy());
      });
      const proxyPort = await listen(proxy);
      const at = { address: '127.0.0.1', port: site };
      const fetcher = makeFetcher({
        ...{ ca: cert, http2, resolve: new Map([['site.test', at]]) },
        proxy: isTunnelled ? { https: `http://127.0.0.1:${proxyPort}` } : {},
        originHeaders: new Map([['https://site.test', ['authorization', 'Basic secret']]]),
      });
      const urls = ['https://site.test/a', 'https://site.test:444/b'];
      for (const url of urls) expect((await get(fetcher, url)).failure).toBe(null);
      const version = http2 ? '2.0' : '1.1';
      expect(seen).toEqual([`${version} /a Basic secret`, `${version} /b undefined`]);
      expect(asked).toEqual(isTunnelled ? [undefined, undefined] : []);
    });
  });

  describe('HTTP/2', () => {
    async function startH2() {
      const versions: string[] = [];
      const server = createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
        versions.push(request.httpVersion);
        if (request.url === '/hang-up') return request.stream.session!.destroy();
        if (request.url === '/long') return response.end(LONG_BODY);
        response.setHeader('content-type', 'text/html');
        response.setHeader('etag', '"2"');
        return response.end(request.method === 'HEAD' ? '' : 'two');
      });
      server.on('sessionError', () => {});
      return { port: await listen(server as unknown as Server), versions };
    }

    it('is spoken only when it is asked for', async () => {
      const { port, versions } = await startH2();
      for (const http2 of [true, false]) {
        const fetcher = makeFetcher({ ca: cert, http2 });
        const outcome = await get(fetcher, `https://site.test:${port}/`);
        expect(outcome).toMatchObject({
          failure: null,
          head: { status: 200, contentType: 'text/html', etag: '"2"' },
        });
        expect(textOf(outcome)).toBe('two');
      }
      expect(versions).toEqual(['2.0', '1.1']);
    });

    it('answers HEAD, refuses what onSend refuses, and goes on', async () => {
      const { port, versions } = await startH2();
      const fetcher = makeFetcher({ ca: cert, http2: true });
      const url = `https://site.test:${port}/`;
      let written = 0;
      const onSent = () => {
        written += 1;
      };
      const head = await fetcher.fetch({ url, method: 'HEAD', maxBytes: 100, onSent });
      expect(written).toBe(1);
      expect(head).toMatchObject({ failure: null, body: null, head: { status: 200 } });
      expect(await get(fetcher, url, () => false)).toMatchObject({ failure: 'not-sent', sentAt: null });
      const refused = await fetcher.fetch({ url, method: 'GET', maxBytes: 100, wantsBody: () => false });
      expect(refused).toMatchObject({ failure: null, bodyRefused: true });
      expect(textOf(await get(fetcher, url))).toBe('two');
      expect(versions.length).toBe(3);
    });

    it.each([true, false])('leaves a body where it is that nobody can take for now (%s)', async (http2) => {
      const { port } = await startH2();
      await takeWithPause({ ca: cert, http2 }, `https://site.test:${port}/long`);
    });

    it.each([
      ['HTTP/2', true, true],
      ['HTTP/1.1 by the same client', true, false],
      ['HTTP/1.1', false, false],
    ])('reads raw bytes of header fields as they were sent (%s)', async (_, http2, server2) => {
      const location = Buffer.concat([Buffer.from('/größe/?q=→'), Buffer.from([0xf6])]).toString('latin1');
      const sent = { location, link: `<${location}>; rel="sitemap"`, 'Set-Cookie': ['a=ö', 'b=1'] };
      const answer = (_: unknown, response: ServerResponse | Http2ServerResponse) =>
        void response.writeHead(302, sent).end();
      const server = server2
        ? createSecureServer({ key, cert }, answer)
        : createHttpsServer({ key, cert }, answer);
      const port = await listen(server as unknown as Server);
      const fetcher = makeFetcher({ ca: cert, http2, keepsFields: true });
      const { head } = await get(fetcher, `https://site.test:${port}/`);
      const wanted = `/gr%C3%B6%C3%9Fe/?q=%E2%86%92%F6`;
      expect(head).toMatchObject({ location: wanted, link: `<${wanted}>; rel="sitemap"` });
      const [first, second, ...others] = head!.fields!;
      expect([first, second]).toEqual(Object.entries(sent).slice(0, 2));
      expect(others.filter(([name]) => /cookie|:/.test(name)).join()).toBe('set-cookie,a=ö,set-cookie,b=1');
    });

    it.each([
      ['GOAWAY', (stream: ServerHttp2Stream) => stream.session!.goaway(0, stream.id! - 2)],
      ['REFUSED_STREAM', (stream: ServerHttp2Stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM)],
    ])('tells by %s that a request was not taken, and sends it over a new connection', async (_, refuse) => {
      const server = createSecureServer({ key, cert });
      let [sessions, streams] = [0, 0];
      server.on('session', () => {
        sessions += 1;
      });
      server.on('sessionError', () => {});
      server.on('stream', (stream) => {
        streams += 1;
        stream.on('error', () => {});
        if (streams === 2 || streams > 3) return void refuse(stream);
        stream.respond({ ':status': 200 });
        stream.end('two');
      });
      const port = await listen(server as unknown as Server);
      const fetcher = makeFetcher({ ca: cert, http2: true, perHost: 1 });
      const ask = (isResent: boolean) =>
        fetcher.fetch({ url: `https://site.test:${port}/`, method: 'GET', maxBytes: 100, isResent });
      expect(textOf(await ask(false))).toBe('two');
      expect(await ask(false)).toMatchObject({ failure: 'not-taken', head: null });
      expect(textOf(await ask(true))).toBe('two');
      expect([sessions, streams]).toEqual([2, 3]);
      // Refused a second time, it failed.
      expect(await ask(false)).toMatchObject({ failure: 'not-taken' });
      expect((await ask(true)).failure).toMatch(/^(?:reset|protocol)$/);
    });

    it.each([
      ['HTTP/1.1', false, false],
      ['HTTP/1.1 by the same client as HTTP/2', true, false],
      ['HTTP/2', true, true],
    ])('tells that a request died over a used connection: %s', async (_, http2, server2) => {
      let answers = 0;
      const server = server2
        ? createSecureServer({ key, cert })
        : createHttpsServer({ key, cert, keepAliveTimeout: 0 });
      server.on('request', (_request: unknown, response: ServerResponse | Http2ServerResponse) => {
        answers += 1;
        // node:http2 keeps the real socket from its callers.
        if (answers === 2) return void sockets.at(-1)!.destroy();
        response.end('one');
      });
      const sockets: Socket[] = [];
      server.on('secureConnection', (socket: Socket) => sockets.push(socket));
      server.on('sessionError', () => {});
      const port = await listen(server as unknown as Server);
      const fetcher = makeFetcher({ ca: cert, http2, perHost: 1 });
      const ask = (isResent: boolean) =>
        fetcher.fetch({ url: `https://site.test:${port}/`, method: 'GET', maxBytes: 100, isResent });
      expect(textOf(await ask(false))).toBe('one');
      expect(await ask(false)).toMatchObject({ failure: 'not-taken', head: null });
      expect(textOf(await ask(true))).toBe('one');
      expect(sockets).toHaveLength(2);
    });

    it('writes a request once, also when the session dies under it', async () => {
      const { port, versions } = await startH2();
      const fetcher = makeFetcher({ ca: cert, http2: true, perHost: 1 });
      let calls = 0;
      const outcome = await get(fetcher, `https://site.test:${port}/hang-up`, () => ++calls > 0);
      expect(outcome).toMatchObject({ failure: 'reset', head: null, body: null });
      expect(textOf(await get(fetcher, `https://site.test:${port}/`))).toBe('two');
      expect([calls, versions.length]).toEqual([1, 2]);
    });
  });
}
