/** Answers of node:http's server, framed in every way it knows, read by us and by node:http's own parser: equal each time. */
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { type SeededRandom, seededRandom } from '../../test/seeded-random.ts';
import { systemClock } from '../primitives/clock.ts';
import type { ResponseHead } from './fetcher.ts';
import { createHttpFetcher } from './http-fetcher.ts';
import { readResponseHead } from './response-head.ts';

const CASES = 500;
const FIELDS = [
  'Content-Type',
  'ETag',
  'Last-Modified',
  'Cache-Control',
  'Retry-After',
  'Expires',
  'Link',
  'X-Robots-Tag',
  'Location',
  'Server',
  'X-Other',
];
const FRAMINGS = ['length', 'chunks', 'close', 'trailers'] as const;

function randomText(random: SeededRandom, most: number): string {
  const characters = 'abc ;,="/<>:\xe9\xff0123456789-\tXYZ';
  return Array.from({ length: random.below(most) }, () => random.pick([...characters])).join('');
}

function randomBody(random: SeededRandom): Buffer {
  const length = random.pick([0, 1, random.below(100), random.below(5000), random.below(300_000)]);
  return Buffer.alloc(length, randomText(random, 50) || 'x');
}

async function writePieces(random: SeededRandom, response: ServerResponse, body: Buffer): Promise<void> {
  for (let at = 0; at < body.length; ) {
    const piece = body.subarray(at, at + 1 + random.below(random.pick([10, 1000, 100_000])));
    // Many tiny chunks cost time and show nothing new.
    const rest = at > 200 ? body.subarray(at) : piece;
    at += rest.length;
    response.write(rest);
    if (random.below(3) === 0) await new Promise((resolve) => setImmediate(resolve));
  }
}

/** Answers a path by its number alone, so that who asks twice gets the same. */
async function answer(seed: number, asked: IncomingMessage, response: ServerResponse): Promise<void> {
  const random = seededRandom(seed + Number(asked.url!.slice(1)) * 7919);
  const body = randomBody(random);
  const framing = random.pick(FRAMINGS);
  for (let n = random.below(4); n > 1; n -= 1) {
    if (random.below(2) === 0) response.writeProcessing();
    else response.writeEarlyHints({ link: '</a.css>; rel=preload' });
  }
  response.statusCode = random.pick([200, 200, 200, 204, 304, 301, 404, 410, 503]);
  response.sendDate = random.below(2) === 0;
  for (let n = random.below(FIELDS.length); n > 0; n -= 1) {
    const values = Array.from({ length: 1 + random.below(2) }, () => randomText(random, 40).trim());
    response.setHeader(random.pick(FIELDS), values.length === 1 ? values[0] : values);
  }
  if (random.below(4) === 0) response.shouldKeepAlive = false;
  if (framing === 'length') response.setHeader('content-length', body.length);
  if (framing === 'close') {
    response.useChunkedEncodingByDefault = false;
    response.shouldKeepAlive = false;
    response.removeHeader('transfer-encoding');
  }
  response.flushHeaders();
  if (framing !== 'length' || random.below(2) === 0) await writePieces(random, response, body);
  else response.write(body);
  if (framing === 'trailers') response.addTrailers({ etag: '"trailer"' });
  response.end();
}

async function judge(agent: Agent, port: number, method: string, path: string) {
  const asked = request({ agent, port, host: '127.0.0.1', method, path }).end();
  const [answered] = (await once(asked, 'response')) as [IncomingMessage];
  const chunks: Buffer[] = [];
  for await (const chunk of answered) chunks.push(chunk as Buffer);
  const raw = answered.rawHeaders.map((text) => Buffer.from(text, 'latin1'));
  return { head: readResponseHead(answered.statusCode!, raw), body: Buffer.concat(chunks) };
}

const withoutDate = (head: ResponseHead | null) => ({ ...head, date: head?.date == null ? null : 'a date' });

it(`${CASES} answers by chance are read as node:http reads them`, async () => {
  const seed = Number(process.env.SEED ?? Date.now() >>> 0);
  const random = seededRandom(seed);
  const connections = new Set<unknown>();
  const server = createServer((asked, response) => void answer(seed, asked, response));
  server.on('connection', (socket) => connections.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const fetcher = createHttpFetcher({
    ...{
      userAgent: 'test/1',
      compress: false,
      keepAlive: true,
      http2: false,
      perHost: 4,
      clock: systemClock,
    },
    ...{ connectTimeoutMs: 5000, headersTimeoutMs: 5000, bodyTimeoutMs: 5000, totalTimeoutMs: 9000 },
    ...{ resolve: new Map(), proxy: {} },
  });
  let bodies = 0;
  async function compare(nth: number): Promise<void> {
    const method = random.below(6) === 0 ? 'HEAD' : 'GET';
    const url = `http://127.0.0.1:${port}/${nth}`;
    const [expected, ours] = await Promise.all([
      judge(agent, port, method, `/${nth}`),
      fetcher.fetch({ url, method, maxBytes: 1_000_000 }),
    ]);
    const place = `SEED=${seed}, ${method} ${nth}`;
    expect([ours.failure, ours.message], place).toEqual([null, null]);
    expect(withoutDate(ours.head), place).toEqual(withoutDate(expected.head));
    const body = ours.body === null ? Buffer.alloc(0) : ours.body.bytes.subarray(0, ours.body.length);
    expect(expected.body.equals(body), `${place}: ${body.length} of ${expected.body.length} bytes`).toBe(
      true,
    );
    if (body.length > 0) bodies += 1;
    ours.body?.release();
  }
  try {
    for (let nth = 0; nth < CASES; nth += 4) {
      await Promise.all([compare(nth), compare(nth + 1), compare(nth + 2), compare(nth + 3)]);
    }
    // It would show little if most answers were empty, or every one had a connection of its own.
    expect(bodies).toBeGreaterThan(CASES / 4);
    expect(connections.size).toBeLessThan(CASES * 1.5);
  } finally {
    await fetcher.close();
    agent.destroy();
    server.close();
    server.closeAllConnections();
  }
}, 30_000);
