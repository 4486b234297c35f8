/** Webhooks and commands for real: a server on this machine that receives, and programs that are run. */
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createAnnouncer } from '../../src/watch/announce.ts';
import type { ChangeEvent, DeliveryEvent } from '../../src/watch/watch-event.ts';
import { FakeClock } from '../fake-clock.ts';

const EVENT: ChangeEvent = {
  type: 'change',
  id: '7-42',
  project: 'shop',
  run: 7,
  url: 'https://example.com/a?b=c',
  outcome: 'changed',
  known_by: 'content',
  visited_at: '2026-01-01T00:00:00.000Z',
  status_code: 200,
  title: 'Grüße\0 $(id)',
  parts: ['title', 'text'],
  fields: [{ name: 'title', before: 'a', after: 'b' }],
  links_added: [],
  links_removed: [],
  words_added: 3,
  words_removed: 1,
  text: null,
  text_cut: false,
};

interface Received {
  headers: IncomingHttpHeaders;
  body: string;
  url: string;
}

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

async function receiver(
  respond: (response: ServerResponse, nth: number) => void,
): Promise<{ url: string; received: Received[]; next: (count: number) => Promise<void> }> {
  const received: Received[] = [];
  let waiting: { count: number; resolve: () => void }[] = [];
  const server: Server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece) => {
      body += piece;
    });
    request.on('end', () => {
      received.push({ headers: request.headers, body, url: request.url! });
      respond(response, received.length);
      for (const each of waiting.filter(({ count }) => received.length >= count)) each.resolve();
      waiting = waiting.filter(({ count }) => received.length < count);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => new Promise((resolve) => server.close(resolve)));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook/secret-path`,
    received,
    next: (count) =>
      new Promise((resolve) => {
        if (received.length >= count) resolve();
        else waiting.push({ count, resolve });
      }),
  };
}

function announcer(options: {
  webhooks?: string[];
  allowed?: string[];
  secret?: string;
  command?: string[];
  env?: NodeJS.ProcessEnv;
}) {
  const told: DeliveryEvent[] = [];
  const clock = new FakeClock();
  const announcer = createAnnouncer({
    receivers: {
      webhooks: options.webhooks ?? [],
      allowedHosts: options.allowed ?? ['127.0.0.1'],
      secret: options.secret ?? null,
      command: options.command ?? null,
    },
    userAgent: 'sumi-test/1',
    clock,
    env: options.env ?? process.env,
    tell: (event) => void told.push(event),
  });
  announcer.outboxes.begin({}, 6);
  const queue = {
    drained: () => announcer.drained(),
    /** To the command, and as found in the store by a tick. */
    async push(event: ChangeEvent) {
      announcer.push(event);
      await announcer.outboxes.fill(async function* () {
        yield event;
      }, event.run);
    },
  };
  return { queue, told, clock };
}

describe('a webhook', () => {
  it('gets the event, signed over the time and the body', async () => {
    const { url, received } = await receiver((response) => response.end());
    const { queue, told, clock } = announcer({ webhooks: [url], secret: 'hush' });
    await queue.push(EVENT);
    await queue.drained();
    expect(told).toEqual([]);
    const [{ headers, body }] = received;
    expect(JSON.parse(body)).toEqual(EVENT);
    expect(headers['user-agent']).toBe('sumi-test/1');
    expect(headers['content-type']).toBe('application/json');
    expect(headers['sumi-delivery']).toBe('7-42');
    const seconds = Math.floor(clock.now() / 1000);
    const expected = createHmac('sha256', 'hush').update(`${seconds}.${body}`).digest('hex');
    expect(headers['sumi-signature']).toBe(`t=${seconds},v1=${expected}`);
  });

  it('is not signed without a secret', async () => {
    const { url, received } = await receiver((response) => response.end());
    const { queue } = announcer({ webhooks: [url] });
    await queue.push(EVENT);
    await queue.drained();
    expect(received[0].headers['sumi-signature']).toBeUndefined();
  });

  it('is tried again after a failure of the server, with the same id', async () => {
    const { url, received, next } = await receiver((response, nth) => {
      response.statusCode = nth < 3 ? 503 : 204;
      response.end();
    });
    const { queue, told, clock } = announcer({ webhooks: [url] });
    await queue.push(EVENT);
    for (const [count, pauseMs] of [
      [1, 1000],
      [2, 2000],
    ]) {
      await next(count);
      // The pause begins when the answer has come in.
      while (clock.pending === 0) await new Promise((resolve) => setImmediate(resolve));
      clock.advance(pauseMs);
    }
    await queue.drained();
    expect(received.map(({ headers }) => headers['sumi-delivery'])).toEqual(['7-42', '7-42', '7-42']);
    expect(told).toEqual([]);
  });

  it('is not followed to another address, and not tried again where that cannot help', async () => {
    const elsewhere = await receiver((response) => response.end());
    const { url, received } = await receiver((response) => {
      response.writeHead(307, { location: elsewhere.url }).end();
    });
    const { queue, told } = announcer({ webhooks: [url] });
    await queue.push(EVENT);
    await queue.drained();
    expect(received.length).toBe(1);
    expect(elsewhere.received).toEqual([]);
    expect(told.map(({ error }) => error)).toEqual(['http 307, not followed']);
    // The path of a webhook is often its password.
    expect(JSON.stringify(told)).not.toContain('secret-path');
  });

  it('is refused where its address is not allowed', async () => {
    const { url, received } = await receiver((response) => response.end());
    const secure = url.replace('http:', 'https:').replace('127.0.0.1', 'localhost');
    const { queue, told } = announcer({ webhooks: [url, secure], allowed: [] });
    await queue.push(EVENT);
    await queue.drained();
    expect(received).toEqual([]);
    const [plain, hidden] = told.map(({ error }) => error).sort();
    expect(plain).toBe('http:// is not allowed to 127.0.0.1, tried again at the next tick');
    expect(hidden).toMatch(/^localhost is .*no public address, tried again at the next tick$/);
  });
});

describe('a command', () => {
  const node = process.execPath;
  const write = (file: string) =>
    `const fs = require('node:fs'); let all = ''; process.stdin.on('data', (d) => { all += d; }).on('end', () =>
     fs.writeFileSync(${JSON.stringify(file)}, JSON.stringify({ all, env: process.env, args: process.argv.slice(1) })));`;

  function folder(): string {
    const path = mkdtempSync(join(tmpdir(), 'sumi-command-'));
    closing.push(() => rmSync(path, { recursive: true, force: true }));
    return path;
  }

  it('gets the event on its standard input and as variables, without a shell and without our secrets', async () => {
    const file = join(folder(), 'seen.json');
    const { queue, told } = announcer({
      command: [node, '-e', write(file), '$HOME', '; touch x'],
      env: { ...process.env, SUMI_WEBHOOK_SECRET: 'hush', SUMI_AUTH: 'me:hush', SUMI_HEADER: 'X-Key: hush' },
    });
    await queue.push(EVENT);
    await queue.drained();
    expect(told).toEqual([]);
    const seen = JSON.parse(readFileSync(file, 'utf8'));
    expect(JSON.parse(seen.all)).toEqual(EVENT);
    expect(seen.args).toEqual(['$HOME', '; touch x']);
    expect(seen.env).toMatchObject({
      SUMI_EVENT_URL: EVENT.url,
      SUMI_EVENT_OUTCOME: 'changed',
      SUMI_EVENT_TITLE: 'Grüße $(id)',
      SUMI_EVENT_PARTS: 'title,text',
    });
    expect(JSON.stringify(seen.env)).not.toContain('hush');
  });

  it('that fails is told with its exit code, once', async () => {
    const { queue, told } = announcer({ command: [node, '-e', 'process.exit(3)'] });
    await queue.push(EVENT);
    await queue.drained();
    expect(told).toEqual([
      { type: 'delivery', to: `command ${node}`, id: '7-42', url: EVENT.url, error: 'exit code 3' },
    ]);
  });

  it('that is not there is told', async () => {
    const { queue, told } = announcer({ command: ['/no/such/program'] });
    await queue.push(EVENT);
    await queue.drained();
    expect(told[0].error).toContain('ENOENT');
  });
});
