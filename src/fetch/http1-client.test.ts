import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, Socket } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { seededRandom } from '../../test/seeded-random.ts';
import { systemClock } from '../primitives/clock.ts';
import { createBufferPool } from './buffer-pool.ts';
import { ConnectionReuse } from './connection-reuse.ts';
import { Exchange } from './exchange.ts';
import type { Fetcher, FetchRequest, Outcome } from './fetcher.ts';
import type { FetcherOptions } from './fetcher-options.ts';
import { createHttpFetcher } from './http-fetcher.ts';
import { Http1Client, headerLines } from './http1-client.ts';
import { createHttp1HeadReader } from './http1-head.ts';

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

/** A server that calls back for each read of a request, and keeps what it was sent and its connections. */
async function serve(answer: (socket: Socket, nth: number) => void) {
  const seen = { reads: [] as string[], sockets: [] as Socket[], closed: [] as Promise<unknown>[] };
  const url = await listen(
    createServer({ noDelay: true }, (socket) => {
      seen.sockets.push(socket);
      seen.closed.push(once(socket, 'close'));
      socket.on('data', (chunk) => {
        seen.reads.push(chunk.toString('latin1'));
        answer(socket, seen.reads.length);
      });
    }),
  );
  return { url, seen };
}

function makeFetcher(options: Partial<FetcherOptions> = {}): Fetcher {
  const fetcher = createHttpFetcher({
    userAgent: 'test/1',
    accept: '*/*',
    compress: false,
    keepAlive: true,
    http2: false,
    perHost: 1,
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

const get = (fetcher: Fetcher, url: string, more: Partial<FetchRequest> = {}) =>
  fetcher.fetch({ url, method: 'GET', maxBytes: 1_000_000, ...more });

function textOf({ body }: Outcome): string | null {
  return body === null ? null : Buffer.from(body.bytes.subarray(0, body.length)).toString('latin1');
}

const ok = (fields: string, body = '') => `HTTP/1.1 200 OK\r\n${fields}\r\n${body}`;
const hello = ok('content-length: 5\r\n', 'hello');

describe('a request', () => {
  it('is written at once: request line, what always goes along, the extra fields', async () => {
    const { url, seen } = await serve((socket) => socket.write(hello));
    const fetcher = makeFetcher();
    await get(fetcher, `${url}/a?b`);
    await get(fetcher, `${url}/c`, { headers: { 'if-none-match': '"\xe9"', 'x-a': 'b' } });
    const always = `host: ${url.slice(7)}\r\nconnection: keep-alive\r\nuser-agent: test/1\r\naccept: */*\r\naccept-encoding: identity\r\n`;
    expect(seen.reads).toEqual([
      `GET /a?b HTTP/1.1\r\n${always}\r\n`,
      `GET /c HTTP/1.1\r\n${always}if-none-match: "\xe9"\r\nx-a: b\r\n\r\n`,
    ]);
  });

  it('says close without keep-alive, and the connection is closed', async () => {
    const { url, seen } = await serve((socket) => socket.write(hello));
    const fetcher = makeFetcher({ keepAlive: false });
    expect(textOf(await get(fetcher, url))).toBe('hello');
    await seen.closed[0];
    expect(seen.reads[0]).toContain('\r\nconnection: close\r\n');
  });

  it.each([
    ['a line end', { 'x-a': 'b\r\nx-c: d' }],
    ['a zero byte', { 'x-a': 'b\0' }],
    ['a character that would be cut to a line end', { 'x-a': '\u010a' }],
    ['a name that is none', { 'x a': 'b' }],
    ['no name', { '': 'b' }],
  ])('with %s in a header is refused, and nothing is written', async (_name, headers) => {
    const { url, seen } = await serve((socket) => socket.write(hello));
    const fetcher = makeFetcher();
    expect(await get(fetcher, url, { headers })).toMatchObject({ failure: 'other', sentAt: null });
    expect(seen.reads).toEqual([]);
    expect((await get(fetcher, url)).failure).toBeNull();
  });

  it('with a user agent that cannot be written is refused', async () => {
    const { url, seen } = await serve((socket) => socket.write(hello));
    expect(await get(makeFetcher({ userAgent: 'a\nb' }), url)).toMatchObject({ failure: 'other' });
    expect(seen.sockets).toEqual([]);
  });

  it.each(['/a b', '/a\r\nx: y', '/\0', '/\u010a', '/\x7f'])('for the path %j is refused', async (path) => {
    let dialled = 0;
    const client = new Http1Client({
      connect: () => {
        dialled += 1;
      },
      target: { protocol: 'http:', hostname: 'a.test', port: '' },
      headerLines: headerLines(['host', 'a.test']),
      keepAlive: true,
      clock: systemClock,
      heads: createHttp1HeadReader(),
      reuse: new ConnectionReuse(),
      readBuffer: Buffer.alloc(10),
    });
    const around = {
      clock: systemClock,
      buffers: createBufferPool(),
      tap: null,
      coarseMs: () => 0,
      onSettled() {},
    };
    const outcome = await new Promise<Outcome>((resolve) => {
      const request = { url: 'http://a.test/', method: 'GET', maxBytes: 1 } as const;
      client.dispatch({ path, method: 'GET' }, new Exchange(request, resolve, around));
    });
    expect([outcome.failure, dialled]).toEqual(['other', 0]);
  });
});

describe('an answer', () => {
  const answers: [text: string, body: string, endsOnClose?: boolean][] = [
    [ok('etag: "1"\r\ncontent-length: 5\r\n', 'hello'), 'hello'],
    [
      ok('etag: "1"\r\ntransfer-encoding: chunked\r\n', '3;x=y\r\nhel\r\n2\r\nlo\r\n0\r\nx: y\r\n\r\n'),
      'hello',
    ],
    [
      `\r\nHTTP/1.1 103 Hints\r\nlink: a\r\n\r\n${ok('etag:\r\n "1"\r\ncontent-length: 5\r\n', 'hello')}`,
      'hello',
    ],
    ['HTTP/1.0 200\netag: "1"\n\nhello', 'hello', true],
  ];

  async function writePieces(socket: Socket, pieces: string[]): Promise<void> {
    for (const piece of pieces) {
      await new Promise((resolve) => socket.write(piece, 'latin1', resolve));
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it('that comes byte by byte is whole', async () => {
    for (const [text, body, endsOnClose] of answers) {
      const { url } = await serve(async (socket) => {
        await writePieces(socket, [...text]);
        if (endsOnClose) socket.end();
      });
      const fetcher = makeFetcher();
      for (let n = 0; n < 2; n += 1) {
        const outcome = await get(fetcher, url);
        expect([textOf(outcome), outcome.head?.etag, outcome.failure], text).toEqual([body, '"1"', null]);
      }
    }
  });

  it('that is cut by chance is whole', async () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    for (let round = 0; round < 10; round += 1) {
      for (const [text, body, endsOnClose] of answers) {
        const pieces: string[] = [];
        for (let at = 0; at < text.length; at += pieces.at(-1)!.length) {
          pieces.push(text.slice(at, at + 1 + random.below(20)));
        }
        const { url } = await serve(async (socket) => {
          await writePieces(socket, pieces);
          if (endsOnClose) socket.end();
        });
        const outcome = await get(makeFetcher(), url);
        expect([textOf(outcome), outcome.head?.etag], `seed ${seed} ${pieces}`).toEqual([body, '"1"']);
      }
    }
  });

  it.each([
    ['101', 'HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n', null],
    ['two lengths', ok('content-length: 1\r\ncontent-length: 2\r\n', 'ab'), null],
    ['a bad chunk', ok('transfer-encoding: chunked\r\n', '2\r\nab\r\nzz\r\n'), 200],
    ['another protocol', 'SSH-2.0-OpenSSH_9', null],
  ])('with %s is a protocol failure, and the connection is closed', async (_name, text, status) => {
    const { url, seen } = await serve((socket) => socket.write(text));
    const outcome = await get(makeFetcher(), url);
    expect([outcome.failure, outcome.head?.status ?? null, outcome.body]).toEqual(['protocol', status, null]);
    await seen.closed[0];
  });

  it.each([
    ['in its head', 'HTTP/1.1 200 OK\r\netag: 1\r\n', 'reset'],
    ['in a counted body', ok('content-length: 9\r\n', 'hello'), 'reset'],
    ['in its chunks', ok('transfer-encoding: chunked\r\n', '9\r\nhello'), 'reset'],
    [
      'in chunks of a closing server',
      ok('connection: close\r\ntransfer-encoding: chunked\r\n', '5\r\nhello\r\n'),
      'reset',
    ],
    ['in a body without a length', ok('', 'hello'), null],
  ])('that ends %s is a failure, or whole where only that can end it', async (_name, text, failure) => {
    const { url } = await serve((socket) => socket.end(text));
    const outcome = await get(makeFetcher(), url);
    expect(outcome.failure).toBe(failure);
    expect(textOf(outcome)).toBe(failure === null ? 'hello' : null);
  });

  it('without a length that the server resets is a failure', async () => {
    const { url, seen } = await serve((socket) => socket.write(ok('', 'hello')));
    const wantsBody = () => {
      seen.sockets[0].resetAndDestroy();
      return true;
    };
    expect(await get(makeFetcher(), url, { wantsBody })).toMatchObject({
      failure: 'reset',
      head: { status: 200 },
      body: null,
    });
  });
});

describe('a connection', () => {
  it.each([
    ['after a counted body', hello, 1],
    ['after chunks', ok('transfer-encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'), 1],
    [
      'of HTTP/1.0 with keep-alive',
      'HTTP/1.0 200\r\nconnection: keep-alive\r\ncontent-length: 5\r\n\r\nhello',
      1,
    ],
    ['of HTTP/1.0', 'HTTP/1.0 200\r\ncontent-length: 5\r\n\r\nhello', 2],
    ['that is to be closed', ok('connection: close\r\ncontent-length: 5\r\n', 'hello'), 2],
    ['that is kept for a second only', ok('keep-alive: timeout=1\r\ncontent-length: 5\r\n', 'hello'), 2],
    ['with bytes behind the answer', `${hello}HTTP/1.1 200 OK\r\n`, 2],
    [
      'after chunks with a length',
      ok('content-length: 5\r\ntransfer-encoding: chunked\r\n', '5\r\nhello\r\n0\r\n\r\n'),
      2,
    ],
  ])('%s is used again, or closed where that is not safe', async (_name, text, connections) => {
    const { url, seen } = await serve((socket) => socket.write(text));
    const fetcher = makeFetcher();
    const bodies = [textOf(await get(fetcher, url)), textOf(await get(fetcher, url))];
    expect([bodies, seen.sockets.length]).toEqual([['hello', 'hello'], connections]);
    if (connections === 2) await seen.closed[0];
  });

  it.each([
    ['is closed by the server', (socket: Socket) => socket.end()],
    ['is reset by the server', (socket: Socket) => socket.resetAndDestroy()],
    [
      'is spoken on unasked',
      (socket: Socket) => socket.write('HTTP/1.1 408 Too slow\r\ncontent-length: 0\r\n\r\n'),
    ],
  ])('that %s while idle is dropped without a word', async (_name, disturb) => {
    const { url, seen } = await serve((socket) => socket.write(hello));
    const fetcher = makeFetcher();
    await get(fetcher, url);
    disturb(seen.sockets[0]);
    await seen.closed[0];
    // A request of its own elsewhere: when it is answered, our side has heard of the other thing too.
    await get(makeFetcher(), (await serve((socket) => socket.write(hello))).url);
    expect(textOf(await get(fetcher, url))).toBe('hello');
    expect([seen.sockets.length, seen.reads.length]).toEqual([2, 2]);
  });

  it.each([
    ['a second before the server closes it', 'keep-alive: timeout=5\r\n', 4000],
    ['after ten seconds otherwise', '', 10_000],
    ['after thirty seconds at most', 'keep-alive: timeout=900\r\n', 30_000],
  ])('that is idle is closed %s', async (_name, fields, idleMs) => {
    const clock = new FakeClock();
    const { url, seen } = await serve((socket) =>
      socket.write(ok(`${fields}content-length: 5\r\n`, 'hello')),
    );
    const fetcher = makeFetcher({ clock });
    await get(fetcher, url);
    clock.advance(idleMs - 1);
    await get(fetcher, url);
    expect(seen.sockets.length).toBe(1);
    clock.advance(idleMs - 1);
    await get(fetcher, url);
    expect(seen.sockets.length).toBe(1);
    clock.advance(idleMs);
    await seen.closed[0];
    expect(textOf(await get(fetcher, url))).toBe('hello');
    expect(seen.sockets.length).toBe(2);
  });

  it('that is aborted on the head or in the body is closed, and the next request has another', async () => {
    const { url, seen } = await serve((socket, nth) =>
      socket.write(nth % 2 === 1 ? ok('transfer-encoding: chunked\r\n', '5\r\nhello\r\n') : hello),
    );
    const fetcher = makeFetcher();
    const refused = get(fetcher, url, { wantsBody: () => false });
    expect(textOf(await get(fetcher, url))).toBe('hello');
    expect(await refused).toMatchObject({ failure: null, bodyRefused: true });
    fetcher.forgetHost('127.0.0.1');
    const large = get(fetcher, url, { maxBytes: 4 });
    expect(textOf(await get(fetcher, url))).toBe('hello');
    expect(await large).toMatchObject({ failure: 'too-large', head: { status: 200 } });
    await seen.closed[0];
    await seen.closed[2];
    expect(seen.sockets.length).toBe(4);
  });

  it('that is cut short by a reader with enough keeps what was read', async () => {
    const { url, seen } = await serve((socket) => socket.write(ok('', 'hello world')));
    const outcome = await get(makeFetcher(), url, { maxBytes: 5, keepsCutBody: true });
    expect([textOf(outcome), outcome.failure]).toEqual(['hello', null]);
    await seen.closed[0];
  });

  it('is made once for a line of requests that are all refused', async () => {
    const { url, seen } = await serve((socket) => socket.write(hello));
    const fetcher = makeFetcher();
    const refused = await Promise.all(
      Array.from({ length: 3000 }, () => get(fetcher, url, { onSend: () => false })),
    );
    expect(refused.every(({ failure }) => failure === 'not-sent')).toBe(true);
    expect(textOf(await get(fetcher, url))).toBe('hello');
    expect([seen.sockets.length, seen.reads.length]).toEqual([1, 1]);
  });

  it('tells that a request is sent once it is written, and only then', async () => {
    const { url } = await serve((socket) => socket.write(hello));
    const fetcher = makeFetcher({ perHost: 1 });
    let told: string[] = [];
    const write = vi.spyOn(Socket.prototype, 'write');
    write.mockImplementation(function (this: Socket, ...given: unknown[]) {
      if (String(given[0]).startsWith('GET ')) told.push('write');
      return Writable.prototype.write.apply(this, given as never);
    } as never);
    onTestFinished(() => write.mockRestore());
    for (const isAllowed of [true, false, true]) {
      told = [];
      const onSend = () => {
        told.push('onSend');
        return isAllowed;
      };
      await get(fetcher, url, { onSend, onSent: () => told.push('onSent') });
      expect(told).toEqual(isAllowed ? ['onSend', 'write', 'onSent'] : ['onSend']);
    }
  });

  it('survives a caller whose functions throw', async () => {
    const { url, seen } = await serve((socket) => socket.write(hello));
    const fetcher = makeFetcher();
    const throws = () => {
      throw new Error('a mistake');
    };
    const unsent = await get(fetcher, url, { onSend: throws });
    const unread = await get(fetcher, url, { wantsBody: throws });
    for (const outcome of [unsent, unread]) {
      expect(outcome).toMatchObject({ failure: 'other', message: 'a mistake', body: null });
    }
    expect(textOf(await get(fetcher, url))).toBe('hello');
    expect([seen.sockets.length, seen.reads.length]).toEqual([2, 2]);
  });

  it('is given up by a fetcher that is closed from within onSend, and nothing is written', async () => {
    const { url, seen } = await serve((socket) => socket.write(hello));
    const fetcher = makeFetcher();
    const onSend = () => {
      void fetcher.close();
      return true;
    };
    expect(await get(fetcher, url, { onSend })).toMatchObject({ failure: 'aborted' });
    await seen.closed[0];
    expect(seen.reads).toEqual([]);
  });
});

describe('undici', () => {
  it('is loaded for HTTP/2 only', () => {
    const folder = import.meta.dirname;
    const users = readdirSync(folder)
      .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts') && !name.endsWith('.d.ts'))
      .filter((name) => /^import (?!type)[^;]*'undici/m.test(readFileSync(join(folder, name), 'utf8')));
    expect(users).toEqual([]);
    expect(readFileSync(join(folder, 'http2-client.ts'), 'utf8')).toContain("await import('undici/");
  });
});
