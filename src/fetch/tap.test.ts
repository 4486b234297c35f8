// The bytes that a tap hears against those that a raw server received and sent.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createSecureServer } from 'node:http2';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../primitives/clock.ts';
import type { FetchRequest } from './fetcher.ts';
import type { FetcherOptions } from './fetcher-options.ts';
import { createHttpFetcher } from './http-fetcher.ts';
import type { TappedExchange } from './tap.ts';

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

async function listen(server: Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  clean.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** Sends the given pieces as the answer to each request; keeps what it received. `end`: then it closes the connection. */
function rawServer(answers: { pieces: (string | Buffer)[]; end?: true }[]) {
  const received: string[] = [];
  const serve = (socket: Socket) => {
    socket.setNoDelay(true);
    let open = '';
    socket.on('data', async (chunk: Buffer) => {
      open += chunk.toString('latin1');
      if (!open.endsWith('\r\n\r\n')) return;
      const { pieces, end } = answers[received.push(open) - 1];
      open = '';
      for (const piece of pieces) {
        socket.write(piece as Buffer, 'latin1');
        await new Promise((resolve) => setImmediate(resolve));
      }
      if (end) socket.end();
    });
  };
  return { received, serve };
}

interface Heard extends TappedExchange {
  request: Buffer;
  head: Buffer;
  body: Buffer;
  ends: boolean[];
}

function useTap(options: Partial<FetcherOptions> = {}) {
  const heard: Heard[] = [];
  const fetcher = createHttpFetcher({
    ...{ userAgent: 'test/1', compress: true, keepAlive: true, http2: false, perHost: 1 },
    ...{ connectTimeoutMs: 5000, headersTimeoutMs: 5000, bodyTimeoutMs: 5000, totalTimeoutMs: 9000 },
    ...{ resolve: new Map(), proxy: {}, clock: systemClock },
    tap(exchange) {
      const one: Heard = {
        ...exchange,
        ...{ request: Buffer.alloc(0), head: Buffer.alloc(0), body: Buffer.alloc(0), ends: [] },
      };
      heard.push(one);
      return {
        request(bytes) {
          one.request = Buffer.concat([one.request, bytes]);
        },
        head(bytes) {
          one.head = Buffer.concat([one.head, bytes]);
        },
        body(bytes) {
          expect(one.ends).toEqual([]);
          one.body = Buffer.concat([one.body, bytes]);
        },
        end: (isWhole) => void one.ends.push(isWhole),
      };
    },
    ...options,
  });
  clean.push(() => fetcher.close());
  const fetch = async (url: string, more: Partial<FetchRequest> = {}) => {
    const outcome = await fetcher.fetch({ url, method: 'GET', maxBytes: 1e6, ...more });
    // The client ends an exchange that was given up a moment after its outcome.
    await new Promise((resolve) => setImmediate(resolve));
    const body = outcome.body && Buffer.from(outcome.body.bytes.subarray(0, outcome.body.length)).toString();
    outcome.body?.release();
    return { ...outcome, text: body };
  };
  return { heard, fetch };
}

const text = (bytes: Buffer) => bytes.toString('latin1');

describe('a tap on HTTP/1.1', () => {
  it('hears request, head and body as they are on the connection: fields in their own spelling, and cut anywhere', async () => {
    const head =
      'HTTP/1.1 200 Very  well\r\nContent-type:text/html\r\nX-Own:  \xe9 \r\ncontent-LENGTH: 11\r\n\r\n';
    const server = rawServer([
      { pieces: [head.slice(0, 20), head.slice(20, 60), `${head.slice(60)}hello `, 'world'] },
      { pieces: [`${head}hello again`] },
    ]);
    const port = await listen(createServer(server.serve));
    const { heard, fetch } = useTap();
    const url = `http://127.0.0.1:${port}/a?b=c`;
    expect((await fetch(url, { headers: { 'if-none-match': '"x"' } })).text).toBe('hello world');
    expect((await fetch(url)).text).toBe('hello again');
    expect(heard.map(({ request }) => text(request))).toEqual(server.received);
    expect(server.received[0]).toContain('if-none-match: "x"\r\n');
    expect(heard.map((one) => text(one.head))).toEqual([head, head]);
    expect(heard.map(({ body }) => text(body))).toEqual(['hello world', 'hello again']);
    expect(heard[0]).toMatchObject({ url, method: 'GET', isExact: true, ends: [true] });
    expect(Math.abs(heard[0].sentAt - Date.now())).toBeLessThan(60_000);
  });

  it('hears chunks as chunks, and bodies before they are decoded', async () => {
    const packed = gzipSync('hello '.repeat(100));
    const head =
      'HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n';
    const chunks = Buffer.concat([
      Buffer.from('5;x=y\r\n'),
      packed.subarray(0, 5),
      Buffer.from(`\r\n${(packed.length - 5).toString(16)}\r\n`),
      packed.subarray(5),
      Buffer.from('\r\n0\r\ntrailer: t\r\n\r\n'),
    ]);
    const server = rawServer([
      { pieces: [Buffer.concat([Buffer.from(head), chunks.subarray(0, 9)]), chunks.subarray(9)] },
    ]);
    const port = await listen(createServer(server.serve));
    const { heard, fetch } = useTap();
    expect((await fetch(`http://127.0.0.1:${port}/`)).text).toBe('hello '.repeat(100));
    expect(text(heard[0].head)).toBe(head);
    expect(heard[0].body.equals(chunks)).toBe(true);
    expect(heard[0].ends).toEqual([true]);
  });

  it('hears the final answer only, nothing that follows it, and of HEAD no body', async () => {
    const final = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n';
    const server = rawServer([
      { pieces: [`HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n${final}okHTTP/1.1 200 OK\r\n`] },
      { pieces: [final] },
    ]);
    const port = await listen(createServer(server.serve));
    const { heard, fetch } = useTap();
    await fetch(`http://127.0.0.1:${port}/`);
    await fetch(`http://127.0.0.1:${port}/`, { method: 'HEAD' });
    expect(heard.map((one) => [one.method, text(one.head), text(one.body), one.ends])).toEqual([
      ['GET', final, 'ok', [true]],
      ['HEAD', final, '', [true]],
    ]);
    expect(heard.map(({ request }) => text(request))).toEqual(server.received);
  });

  it('hears a redirect and where it leads as two exchanges', async () => {
    const moved = 'HTTP/1.1 301 Moved\r\nlocation: /b\r\ncontent-length: 5\r\n\r\n';
    const found = 'HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\n';
    const server = rawServer([{ pieces: [`${moved}gone.`] }, { pieces: [`${found}b`] }]);
    const port = await listen(createServer(server.serve));
    const { heard, fetch } = useTap();
    const first = await fetch(`http://127.0.0.1:${port}/a`);
    await fetch(new URL(first.head!.location!, `http://127.0.0.1:${port}/a`).href);
    expect(heard.map(({ url, head, body }) => [new URL(url).pathname, text(head), text(body)])).toEqual([
      ['/a', moved, 'gone.'],
      ['/b', found, 'b'],
    ]);
  });

  it('tells an answer that was cut, refused or never came from a whole one', async () => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n';
    const server = rawServer([
      { pieces: [`${head}half`], end: true },
      { pieces: [`${head}0123456789`] },
      { pieces: [], end: true },
      { pieces: ['HTTP/1.1 200 OK\r\n\r\nup to the end'], end: true },
    ]);
    const port = await listen(createServer(server.serve));
    const { heard, fetch } = useTap();
    expect((await fetch(`http://127.0.0.1:${port}/cut`)).failure).toBe('reset');
    expect((await fetch(`http://127.0.0.1:${port}/unwanted`, { wantsBody: () => false })).bodyRefused).toBe(
      true,
    );
    expect((await fetch(`http://127.0.0.1:${port}/none`)).failure).toBe('reset');
    expect((await fetch(`http://127.0.0.1:${port}/close`)).text).toBe('up to the end');
    expect(heard.map((one) => [text(one.head), text(one.body), one.ends])).toEqual([
      [head, 'half', [false]],
      [head, '', [false]],
      ['', '', [false]],
      ['HTTP/1.1 200 OK\r\n\r\n', 'up to the end', [true]],
    ]);
  });

  it('hears nothing of a request that was not sent, and of what it does not want only that it is there', async () => {
    const server = rawServer([{ pieces: ['HTTP/1.1 204 No\r\n\r\n'] }]);
    const port = await listen(createServer(server.serve));
    const asked: string[] = [];
    const { fetch } = useTap({
      tap({ url }) {
        asked.push(new URL(url).pathname);
        return null;
      },
    });
    expect((await fetch(`http://127.0.0.1:${port}/not`, { onSend: () => false })).failure).toBe('not-sent');
    expect((await fetch(`http://127.0.0.1:${port}/sent`)).head!.status).toBe(204);
    expect(asked).toEqual(['/sent']);
  });
});

/** A self-signed certificate for localhost. */
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

describe.skipIf(certificate === null)('a tap on undici’s clients', () => {
  const options = (port: number): Partial<FetcherOptions> => ({
    ...{ http2: true, ca: certificate!.cert },
    resolve: new Map([['site.test', { address: '127.0.0.1', port }]]),
  });

  it('hears the fields that were sent and received over HTTP/2, and the body before it is decoded', async () => {
    const packed = gzipSync('hello');
    const sent: Record<string, unknown>[] = [];
    const server = createSecureServer(certificate!, (request, response) => {
      sent.push({ ...request.headers });
      response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': 'gzip', 'x-own': 'Value' });
      response.write(packed.subarray(0, 4));
      response.end(packed.subarray(4));
    });
    const port = await listen(server as unknown as Server);
    const { heard, fetch } = useTap(options(port));
    expect((await fetch('https://site.test/a')).text).toBe('hello');
    expect(heard).toHaveLength(1);
    expect(heard[0]).toMatchObject({ isExact: false, ends: [true] });
    expect(heard[0].body.equals(packed)).toBe(true);
    const [line, ...fields] = text(heard[0].request).trimEnd().split('\r\n');
    expect(line).toBe('GET /a HTTP/1.1');
    const own = fields.filter((field) => !field.startsWith('host:')).map((field) => field.split(': '));
    for (const [name, value] of own) expect(sent[0][name], name).toBe(value);
    expect(fields).toContain('host: site.test');
    expect(text(heard[0].head)).toMatch(/^HTTP\/1\.1 200 \r\n(?:[a-z-]+: .*\r\n)+\r\n$/);
    expect(text(heard[0].head)).toContain('x-own: Value\r\n');
  });

  it('hears the very bytes of heads where the server speaks HTTP/1.1', async () => {
    const head = 'HTTP/1.1 200 Fine\r\nContent-Type: text/html\r\nX-Own: a\r\nContent-Length: 5\r\n\r\n';
    const server = rawServer([{ pieces: [`${head}hello`] }]);
    const tls = createTlsServer({ ...certificate!, ALPNProtocols: ['http/1.1'] }, server.serve);
    const port = await listen(tls);
    const { heard, fetch } = useTap(options(port));
    expect((await fetch('https://site.test/')).text).toBe('hello');
    expect(text(heard[0].head)).toBe(head);
    expect(text(heard[0].body)).toBe('hello');
    const fieldsOf = (request: string) => request.trimEnd().split('\r\n').sort();
    // undici adds the field of the connection itself.
    expect(fieldsOf(server.received[0]).filter((field) => !field.startsWith('connection:'))).toEqual(
      fieldsOf(text(heard[0].request)),
    );
  });
});
