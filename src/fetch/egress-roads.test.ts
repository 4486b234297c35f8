// TLS under the guard: whatever address is connected to, by whichever road, the site hears its own name.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, connect, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../primitives/clock.ts';
import { createEgressGuard } from './egress.ts';
import type { FetcherOptions } from './fetcher-options.ts';
import { createHttpFetcher } from './http-fetcher.ts';

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

/** A self-signed certificate for site.example; null where there is no openssl program. */
function makeCertificate(): { key: string; cert: string } | null {
  const folder = mkdtempSync(join(tmpdir(), 'sumi-cert-'));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const { status } = spawnSync(process.env.OPENSSL ?? 'openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
    ...['-subj', '/CN=site.example', '-addext', 'subjectAltName=DNS:site.example'],
    ...['-keyout', key, '-out', cert],
  ]);
  const pair = status === 0 ? { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') } : null;
  rmSync(folder, { recursive: true });
  return pair;
}

const certificate = makeCertificate();
if (certificate === null) console.log('TLS under the guard is not tested: there is no openssl program');

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => void sockets.add(socket.on('error', () => {})));
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  clean.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Answers by HTTP/2 and HTTP/1.1, and says which name it was called by. */
function startSite({ key, cert }: { key: string; cert: string }): Promise<number> {
  return listen(
    createSecureServer({ key, cert, allowHTTP1: true }, (request, response) => {
      const { servername } = request.socket as TLSSocket & { servername: string };
      response.end(`${servername} ${request.headers[':authority'] ?? request.headers.host}`);
    }) as unknown as Server,
  );
}

async function startProxy() {
  const seen: string[] = [];
  const server = createServer((request, response) => void response.end(void seen.push(request.url!)));
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    seen.push(request.url!);
    const [host, port] = request.url!.split(':');
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    upstream.on('error', () => socket.destroy());
    socket.on('close', () => upstream.destroy());
  });
  return { url: `http://127.0.0.1:${await listen(server)}`, seen };
}

async function ask(url: string, options: Partial<FetcherOptions>): Promise<string> {
  const fetcher = createHttpFetcher({
    ...{ userAgent: 'test/1', compress: false, keepAlive: true, http2: false, perHost: 1 },
    ...{ connectTimeoutMs: 5000, headersTimeoutMs: 5000, bodyTimeoutMs: 5000, totalTimeoutMs: 10_000 },
    ...{ resolve: new Map(), proxy: {}, clock: systemClock },
    ...options,
  });
  clean.push(() => fetcher.close());
  const { body, failure, message } = await fetcher.fetch({ url, method: 'GET', maxBytes: 1000 });
  return body === null
    ? `${failure}: ${message}`
    : Buffer.from(body.bytes.subarray(0, body.length)).toString();
}

/** site.example is 127.0.0.1 by the name server. */
const guard = (allow: string[]) =>
  createEgressGuard({
    ...{ allow, ownPort: null },
    lookup: (_, __, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }]),
  });

describe('http by a proxy under the guard', () => {
  it('is asked of it only for what may be reached', async () => {
    const proxy = await startProxy();
    const options = { proxy: { http: proxy.url } };
    for (const url of ['http://127.0.0.2/', 'http://[::1]/', 'http://site.example/', 'http://localhost/'])
      expect(await ask(url, { ...options, egress: guard([]) })).toMatch(/^egress: /);
    const all = createEgressGuard({ allow: ['0.0.0.0/0'], ownPort: 80 });
    expect(await ask('http://127.0.0.1/', { ...options, egress: all })).toBe(
      'egress: 127.0.0.1:80 is this service itself',
    );
    expect(proxy.seen).toEqual([]);
  });

  it('is asked of one that has an address of its own that is not public', async () => {
    const port = await listen(createServer((request, response) => response.end(request.headers.host)));
    const proxy = await startProxy();
    const url = `http://site.example:${port}/`;
    const options = { proxy: { http: proxy.url.replace('127.0.0.1', 'localhost') } };
    expect(await ask(url, { ...options, egress: guard(['site.example']) })).toBe(`site.example:${port}`);
    expect(proxy.seen).toEqual([`127.0.0.1:${port}`]);
  });
});

describe.skipIf(certificate === null)('https under the guard', () => {
  it.each([false, true])('is certified for the name, directly and by a proxy (http2: %s)', async (http2) => {
    const port = await startSite(certificate!);
    const proxy = await startProxy();
    const url = `https://site.example:${port}/`;
    const parts = { ca: certificate!.cert, http2 };
    const said = `site.example site.example:${port}`;
    expect(await ask(url, { ...parts, egress: guard(['127.0.0.1']) })).toBe(said);
    const proxied = { ...parts, proxy: { https: proxy.url } };
    expect(await ask(url, { ...proxied, egress: guard(['127.0.0.1']) })).toBe(said);
    expect(proxy.seen).toEqual([`127.0.0.1:${port}`]);
    const resolve = new Map([['site.example', { address: '127.0.0.1', port }]]);
    expect(await ask('https://site.example/', { ...proxied, resolve, egress: guard(['site.example']) })).toBe(
      'site.example site.example',
    );
    expect(proxy.seen).toEqual([`127.0.0.1:${port}`, `127.0.0.1:${port}`]);
  });

  it.each([false, true])('is not asked of a proxy where it is refused (http2: %s)', async (http2) => {
    const proxy = await startProxy();
    const refused = 'egress: site.example is 127.0.0.1, no public address';
    expect(
      await ask('https://site.example/', { http2, proxy: { https: proxy.url }, egress: guard([]) }),
    ).toBe(refused);
    expect(proxy.seen).toEqual([]);
  });

  it.each([false, true])('is not connected to where it is refused (http2: %s)', async (http2) => {
    let connections = 0;
    const server = createServer().on('connection', () => connections++);
    const port = await listen(server);
    const resolve = new Map([['site.example', { address: '127.0.0.1' }]]);
    for (const host of ['site.example', '127.0.0.1', '[::ffff:127.0.0.1]', 'localhost'])
      expect(await ask(`https://${host}:${port}/`, { http2, egress: guard([]) })).toMatch(/^egress: /);
    expect(await ask(`https://site.example:${port}/`, { http2, resolve, egress: guard([]) })).toMatch(
      /^egress: /,
    );
    expect(connections).toBe(0);
  });
});
