import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, createServer as createNetServer, type Server, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../primitives/clock.ts';
import type { Fetcher, FetchRequest, Outcome } from './fetcher.ts';
import type { FetcherOptions } from './fetcher-options.ts';
import { createHttpFetcher } from './http-fetcher.ts';

const clean: (() => unknown)[] = [];
afterEach(async () => {
  for (const step of clean.splice(0).reverse()) await step();
});

async function listen(server: Server): Promise<string> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
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
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const serve = (listener: RequestListener) => listen(createServer(listener));

/** A server that answers each request head with given bytes and keeps what it was sent. */
async function serveRaw(answer: (socket: Socket, nth: number) => void) {
  const seen = { bytes: '', connections: 0, requests: 0 };
  const url = await listen(
    createNetServer((socket) => {
      seen.connections += 1;
      socket.on('data', (chunk) => {
        seen.bytes += chunk.toString('latin1');
        seen.requests += 1;
        answer(socket, seen.requests);
      });
    }),
  );
  return { url, seen };
}

function makeFetcher(options: Partial<FetcherOptions> = {}): Fetcher {
  const fetcher = createHttpFetcher({
    userAgent: 'test/1 (+https://example.test)',
    compress: true,
    keepAlive: true,
    http2: false,
    perHost: 2,
    connectTimeoutMs: 5000,
    headersTimeoutMs: 5000,
    bodyTimeoutMs: 5000,
    totalTimeoutMs: 10_000,
    resolve: new Map(),
    proxy: {},
    clock: systemClock,
    ...options,
  });
  clean.push(() => fetcher.close());
  return fetcher;
}

function get(fetcher: Fetcher, url: string, more: Partial<FetchRequest> = {}): Promise<Outcome> {
  return fetcher.fetch({ url, method: 'GET', maxBytes: 1_000_000, ...more });
}

function textOf({ body }: Outcome): string | null {
  return body === null ? null : Buffer.from(body.bytes.subarray(0, body.length)).toString();
}

const hello = 'HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello';

describe('an answer', () => {
  it('comes with head, body, sentinel, times and wire bytes', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html', etag: '"1"' }).end('hello');
    });
    const before = Date.now();
    const outcome = await get(makeFetcher(), `${url}/a?b=c#d`);
    expect(outcome).toMatchObject({ failure: null, message: null, bodyRefused: false, wireBytes: 5 });
    expect(outcome.head).toMatchObject({
      status: 200,
      contentType: 'text/html',
      etag: '"1"',
      location: null,
    });
    expect(textOf(outcome)).toBe('hello');
    expect(outcome.body!.bytes[5]).toBe(0);
    expect(outcome.sentAt).toBeGreaterThanOrEqual(before);
    expect(outcome.responseMs).toBeGreaterThanOrEqual(0);
  });

  it('is asked for with our headers, the host and the extra ones', async () => {
    let sent: unknown;
    const url = await serve((request, response) => {
      sent = { url: request.url, ...request.headers };
      response.end();
    });
    const fetcher = makeFetcher({ acceptLanguage: 'de' });
    await get(fetcher, `${url}/x%20y/../z?q=1`, { headers: { 'if-none-match': '"1"' } });
    expect(sent).toMatchObject({
      url: '/z?q=1',
      host: url.slice(7),
      'user-agent': 'test/1 (+https://example.test)',
      'accept-language': 'de',
      'accept-encoding': expect.stringContaining('gzip, deflate, br'),
      'if-none-match': '"1"',
    });
    await get(fetcher, `${url}/plain?a=b`);
    expect(sent).toMatchObject({ url: '/plain?a=b' });
    expect(sent).not.toHaveProperty('if-none-match');
  });

  it('is a redirect when the server redirects', async () => {
    const url = await serve((_, response) => response.writeHead(302, { location: '/next' }).end('moved'));
    const outcome = await get(makeFetcher(), url, { wantsBody: () => false });
    expect(outcome.head).toMatchObject({ status: 302, location: '/next' });
    expect(textOf(outcome)).toBe('moved');
  });

  it('ignores informational answers', async () => {
    const early = 'HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\n\r\n';
    const { url } = await serveRaw((socket) => socket.write(early + hello));
    const outcome = await get(makeFetcher(), url);
    expect(outcome.head).toMatchObject({ status: 200, link: null });
    expect(textOf(outcome)).toBe('hello');
  });

  it('has no body after HEAD', async () => {
    const url = await serve((_, response) => response.writeHead(200, { 'content-length': '99999999' }).end());
    const outcome = await makeFetcher().fetch({ url, method: 'HEAD', maxBytes: 10 });
    expect(outcome).toMatchObject({
      failure: null,
      body: null,
      head: { status: 200, contentLength: 99999999 },
    });
  });

  it('has an empty body where nothing came', async () => {
    const url = await serve((_, response) => response.writeHead(304).end());
    const { body, failure } = await get(makeFetcher(), url);
    expect([failure, body!.length, body!.bytes[0]]).toEqual([null, 0, 0]);
  });

  it('is refused by wantsBody with the head kept', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      response.write('x');
    });
    const outcome = await get(makeFetcher(), url, { wantsBody: (head) => head.contentType !== 'image/png' });
    expect(outcome).toMatchObject({
      failure: null,
      body: null,
      bodyRefused: true,
      head: { contentType: 'image/png' },
    });
  });

  it('goes to onPiece as it comes over the wire, up to the limit or as long as it is wanted', async () => {
    const packed = gzipSync('hello '.repeat(1000));
    const url = await serve((request, response) => {
      if (request.url === '/gone') response.writeHead(404).end('gone');
      else if (request.url === '/packed') response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
      else if (request.url === '/deflate')
        response.writeHead(200, { 'content-encoding': 'deflate' }).end(deflateRawSync('hello'));
      else response.end('x'.repeat(500_000));
    });
    const fetcher = makeFetcher();
    const take = async (path: string, more: Partial<FetchRequest> = {}, most = Number.POSITIVE_INFINITY) => {
      const pieces: Buffer[] = [];
      const onPiece = (bytes: Uint8Array) => pieces.push(Buffer.from(bytes)) < most;
      const outcome = await get(fetcher, url + path, { onPiece, ...more });
      return { outcome, body: Buffer.concat(pieces) };
    };
    const whole = await take('/plain');
    expect(whole.body.length).toBe(500_000);
    expect(whole.outcome).toMatchObject({ failure: null, wireBytes: 500_000, body: { length: 0 } });
    expect((await take('/packed')).body.equals(packed)).toBe(true);
    expect((await take('/plain', { maxBytes: 1000, keepsCutBody: true })).body.length).toBe(1000);
    const first = await take('/plain', {}, 1);
    expect(first.body.length).toBeLessThan(500_000);
    expect(first.outcome.failure).toBe(null);
    // Nobody reads an error page as it comes, and this encoding is two that only the whole tells apart.
    const gone = await take('/gone');
    expect([gone.body.length, textOf(gone.outcome)]).toEqual([0, 'gone']);
    const deflated = await take('/deflate');
    expect([deflated.body.length, textOf(deflated.outcome)]).toEqual([0, 'hello']);
  });

  it('keeps its buffer until it is released, and releasing twice is harmless', async () => {
    const url = await serve((request, response) => response.end(request.url));
    const fetcher = makeFetcher();
    const first = await get(fetcher, `${url}/first`);
    const second = await get(fetcher, `${url}/second`);
    expect([textOf(first), textOf(second)]).toEqual(['/first', '/second']);
    first.body!.release();
    first.body!.release();
    const [third, fourth] = await Promise.all([get(fetcher, `${url}/third`), get(fetcher, `${url}/fourth`)]);
    expect([textOf(third), textOf(fourth), textOf(second)]).toEqual(['/third', '/fourth', '/second']);
    expect(third.body!.bytes).not.toBe(fourth.body!.bytes);
  });
});

describe('a body', () => {
  const text = 'many words and few ideas '.repeat(8000);

  it.each([
    ['gzip', gzipSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
    ['gzip, br', brotliCompressSync(gzipSync(text))],
  ])('in %s is decoded', async (encoding, bytes) => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': encoding }).end(bytes),
    );
    const outcome = await get(makeFetcher(), url);
    expect(textOf(outcome)).toBe(text);
    expect(outcome.wireBytes).toBe(bytes.length);
    expect(outcome.body!.bytes[outcome.body!.length]).toBe(0);
  });

  it('that only looks like gzip is left as it is', async () => {
    const bytes = gzipSync('archive');
    const url = await serve((_, response) => response.end(bytes));
    const { body } = await get(makeFetcher(), url);
    expect(Buffer.from(body!.bytes.subarray(0, body!.length)).equals(bytes)).toBe(true);
  });

  it('that grows past its first buffer is whole', async () => {
    const chunk = 'abcdefghij'.repeat(3000);
    const url = await serve((_, response) => {
      for (let n = 0; n < 20; n += 1) response.write(chunk);
      response.end();
    });
    expect(textOf(await get(makeFetcher(), url))).toBe(chunk.repeat(20));
  });

  it('that cannot be decoded is a decode failure with its head', async () => {
    const url = await serve((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(text),
    );
    expect(await get(makeFetcher(), url)).toMatchObject({
      failure: 'decode',
      body: null,
      head: { status: 200 },
    });
  });

  it.each([
    ['announced too large', { 'content-length': '50000001' }, Buffer.from('x')],
    ['chunked past the limit', {}, Buffer.alloc(2000)],
    ['a bomb', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(3_000_000))],
  ])('%s is dropped', async (_name, headers, bytes) => {
    const url = await serve((_, response) => {
      response.writeHead(200, headers);
      response.write(bytes, () => Object.keys(headers).includes('content-encoding') && response.end());
    });
    const outcome = await get(makeFetcher(), url, { maxBytes: 1000 });
    expect(outcome).toMatchObject({ failure: 'too-large', body: null, head: { status: 200 } });
  });

  it('of exactly the limit is kept', async () => {
    const url = await serve((_, response) => response.end('x'.repeat(1000)));
    expect((await get(makeFetcher(), url, { maxBytes: 1000 })).body!.length).toBe(1000);
  });

  it.each([
    ['keep-alive', 'reset'],
    ['close', 'protocol'],
  ])('shorter than announced on a %s connection is a failure: %s', async (connection, failure) => {
    const { url } = await serveRaw((socket) =>
      socket.end(`HTTP/1.1 200 OK\r\nconnection: ${connection}\r\ncontent-length: 50\r\n\r\nhello`),
    );
    expect(await get(makeFetcher(), url)).toMatchObject({ failure, body: null, head: { status: 200 } });
  });
});

describe('onSend', () => {
  it('that says no keeps every byte from the wire', async () => {
    const { url, seen } = await serveRaw((socket) => socket.write(hello));
    const fetcher = makeFetcher();
    const refused = await get(fetcher, `${url}/refused`, { onSend: () => false });
    expect(refused).toMatchObject({ failure: 'not-sent', sentAt: null, head: null });
    await get(fetcher, `${url}/warm`);
    expect(await get(fetcher, `${url}/refused`, { onSend: () => false })).toMatchObject({
      failure: 'not-sent',
    });
    await get(fetcher, `${url}/after`);
    expect(seen.bytes.match(/GET \S+/g)).toEqual(['GET /warm', 'GET /after']);
  });

  it('is called once a request, when the connection is open', async () => {
    const { url, seen } = await serveRaw((socket) => socket.write(hello));
    let calls = 0;
    const onSend = () => {
      calls += 1;
      expect(seen.requests).toBe(calls - 1);
      return true;
    };
    const fetcher = makeFetcher({ perHost: 1 });
    await Promise.all([
      get(fetcher, url, { onSend }),
      get(fetcher, url, { onSend }),
      get(fetcher, url, { onSend }),
    ]);
    expect([calls, seen.requests, seen.connections]).toEqual([3, 3, 1]);
  });

  it('is not called for a host that cannot be reached', async () => {
    const server = createNetServer();
    const url = await listen(server);
    server.close();
    await once(server, 'close');
    let calls = 0;
    const outcome = await get(makeFetcher(), url, { onSend: () => ++calls > 0 });
    expect(outcome).toMatchObject({ failure: 'refused', sentAt: null });
    expect(calls).toBe(0);
  });

  it('is not followed by a second write when a kept connection dies', async () => {
    const { url, seen } = await serveRaw((socket, nth) =>
      nth === 1 ? socket.write(hello) : socket.destroy(),
    );
    const fetcher = makeFetcher({ perHost: 1 });
    await get(fetcher, url);
    let calls = 0;
    const outcome = await get(fetcher, url, { onSend: () => ++calls > 0 });
    expect(outcome).toMatchObject({ failure: 'not-taken', head: null });
    expect(outcome.sentAt).not.toBeNull();
    expect([calls, seen.requests]).toEqual([1, 2]);
  });
});

describe('connections', () => {
  it('are used again with keep-alive, and closed each time without', async () => {
    for (const [keepAlive, connections] of [
      [true, 1],
      [false, 3],
    ] as const) {
      const ports = new Set<number>();
      const url = await serve((request, response) => {
        ports.add(request.socket.remotePort!);
        response.end('x');
      });
      const fetcher = makeFetcher({ keepAlive });
      for (let n = 0; n < 3; n += 1) expect((await get(fetcher, url)).failure).toBeNull();
      expect(ports.size).toBe(connections);
    }
  });

  it('are used again after HEAD, unless the server sends a body to it', async () => {
    const right = await serveRaw((socket) =>
      socket.write(hello.slice(0, socket.bytesWritten === 0 ? -5 : undefined)),
    );
    const wrong = await serveRaw((socket) => socket.write(hello));
    for (const [{ url, seen }, connections] of [
      [right, 1],
      [wrong, 2],
    ] as const) {
      const fetcher = makeFetcher();
      expect(await fetcher.fetch({ url, method: 'HEAD', maxBytes: 10 })).toMatchObject({
        failure: null,
        body: null,
      });
      expect(textOf(await get(fetcher, url))).toBe('hello');
      expect(seen.connections).toBe(connections);
    }
  });

  it('are at most perHost at once', async () => {
    const held: (() => void)[] = [];
    let most = 0;
    const url = await serve((_, response) => {
      held.push(() => response.end('x'));
      most = Math.max(most, held.length);
      // Each pair is held until both are here; a third would be seen waiting beside them.
      if (held.length === 2) setImmediate(() => held.splice(0).map((answer) => answer()));
    });
    const fetcher = makeFetcher({ perHost: 2 });
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => get(fetcher, url)));
    expect(outcomes.every(({ failure }) => failure === null)).toBe(true);
    expect(most).toBe(2);
  });

  it('are closed by forgetHost when idle, and the host can be asked again', async () => {
    let closed: () => void = () => {};
    const isClosed = new Promise<void>((resolve) => {
      closed = resolve;
    });
    const url = await serve((request, response) => {
      request.socket.once('close', closed);
      response.end('x');
    });
    const fetcher = makeFetcher();
    await get(fetcher, url);
    fetcher.forgetHost('127.0.0.1');
    await isClosed;
    expect((await get(fetcher, url)).failure).toBeNull();
  });

  it('are given up by abortAll, waiting requests too', async () => {
    const { url, seen } = await serveRaw(() => fetcher.abortAll());
    const fetcher: Fetcher = makeFetcher({ perHost: 1 });
    const outcomes = await Promise.all([get(fetcher, url), get(fetcher, url)]);
    expect(outcomes.map(({ failure }) => failure)).toEqual(['aborted', 'aborted']);
    expect(outcomes.map(({ sentAt }) => sentAt !== null)).toEqual([true, false]);
    expect(seen.requests).toBe(1);
  });

  it('are no more after close', async () => {
    const url = await serve((_, response) => response.end('x'));
    const fetcher = makeFetcher();
    await get(fetcher, url);
    await fetcher.close();
    expect(await get(fetcher, url)).toMatchObject({ failure: 'aborted' });
  });
});

describe('a failure', () => {
  it('is unknown-host for a name that does not exist', async () => {
    // No host name may begin with a hyphen: the system's resolver needs no server to say so.
    const outcome = await get(makeFetcher(), 'http://-no-such-name.example/');
    expect(outcome).toMatchObject({ failure: 'unknown-host', sentAt: null, head: null, responseMs: null });
  });

  it('is reset when the server hangs up without an answer', async () => {
    const { url } = await serveRaw((socket) => socket.destroy());
    expect(await get(makeFetcher(), url)).toMatchObject({ failure: 'reset', head: null });
  });

  it.each([
    ['noise', 'what is this\r\n\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\n${`x-filler: ${'y'.repeat(5000)}\r\n`.repeat(20)}\r\n`],
  ])('is protocol for %s', async (_name, bytes) => {
    const { url } = await serveRaw((socket) => socket.write(bytes));
    expect(await get(makeFetcher(), url)).toMatchObject({ failure: 'protocol', head: null });
  });

  it('is timeout-headers without an answer', async () => {
    const { url } = await serveRaw(() => {});
    const outcome = await get(makeFetcher({ headersTimeoutMs: 30 }), url);
    expect(outcome).toMatchObject({ failure: 'timeout-headers', head: null });
  });

  it('is timeout-body when the body stops', async () => {
    const { url } = await serveRaw((socket) => socket.write(hello.slice(0, -2)));
    const outcome = await get(makeFetcher({ bodyTimeoutMs: 30 }), url);
    expect(outcome).toMatchObject({
      failure: 'timeout-body',
      head: { status: 200 },
      body: null,
      wireBytes: 3,
    });
  });

  it('is timeout-total when it takes too long altogether', async () => {
    const { url } = await serveRaw((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      const drip = setInterval(() => socket.write('.'), 5);
      socket.on('close', () => clearInterval(drip));
    });
    const outcome = await get(makeFetcher({ totalTimeoutMs: 50 }), url);
    expect(outcome).toMatchObject({ failure: 'timeout-total', head: { status: 200 }, body: null });
  });

  it('is other for what is not an http URL', async () => {
    expect(await get(makeFetcher(), 'nonsense')).toMatchObject({ failure: 'other' });
    expect(await get(makeFetcher(), 'ftp://a.test/')).toMatchObject({ failure: 'other' });
  });

  it('leaves the next request of the host alone', async () => {
    const { url } = await serveRaw((socket, nth) => (nth === 1 ? socket.destroy() : socket.write(hello)));
    const fetcher = makeFetcher({ perHost: 1 });
    const outcomes = await Promise.all([get(fetcher, url), get(fetcher, url)]);
    expect(outcomes.map(({ failure }) => failure)).toEqual(['reset', null]);
  });
});
