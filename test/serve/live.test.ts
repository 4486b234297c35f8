// What clients hear while projects are crawled: over WebSocket with the client of ws, over Server-Sent Events by HTTP.
import { once } from 'node:events';
import { type IncomingMessage, get as requestGet } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { type LiveMessage, liveEvent, liveMessage } from '../../src/contract/live.ts';
import { useBench } from '../crawls/crawl-site.ts';
import { type Loose, startService, type TestService, useService } from './start-serving.ts';

const start = useService();
const bench = useBench();
/** Open to all tests that need no tokens. */
let shared: Awaited<ReturnType<typeof startService>>;
let service: TestService;
beforeAll(async () => {
  shared = await startService();
  service = shared.service;
});
afterAll(async () => {
  await service.stop();
  await shared.remove();
});
let projects = 0;
const newProject = (origin: string) => service.project(`project ${++projects}`, origin);

const PAGES = Object.fromEntries(
  Array.from({ length: 30 }, (_, page) => [
    page === 0 ? '/' : `/p${page}`,
    `<title>page ${page}</title>${Array.from({ length: 30 }, (_, to) => `<a href="/p${to + 1}">x</a>`).join('')}`,
  ]),
);

interface Client {
  /** Every message so far; each fits the schema. */
  heard: LiveMessage[];
  say(message: unknown): void;
  /** The first message that fits, of those that were not taken before. */
  next(fits: (message: Loose) => boolean): Promise<Loose>;
  socket: WebSocket;
}

async function connect(service: TestService, headers: Record<string, string> = {}): Promise<Client> {
  const socket = new WebSocket(`${service.url}/api/v1/ws`, { headers });
  const heard: LiveMessage[] = [];
  let taken = 0;
  let tell = () => {};
  socket.on('message', (data) => {
    const message = JSON.parse(data.toString());
    heard.push(liveMessage.parse(message));
    tell();
  });
  await once(socket, 'open');
  return {
    ...{ heard, socket },
    say: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    async next(fits) {
      for (;;) {
        const at = heard.findIndex((message, place) => place >= taken && fits(message));
        if (at !== -1) {
          taken = at + 1;
          return heard[at];
        }
        const more = new Promise<void>((resolve) => {
          tell = resolve;
        });
        await more;
      }
    },
  };
}

const isType = (type: string) => (message: Loose) => message.type === type;

describe('a WebSocket', () => {
  it('answers a subscription with the phase, then tells the run from its start to its end', async () => {
    const web = await bench.web({ pages: PAGES });
    const id = await newProject(web.origin);
    const client = await connect(service);
    client.say({ type: 'subscribe', project_id: id });
    const subscribed = await client.next(isType('subscribed'));
    expect(subscribed).toMatchObject({ project_id: id, run: null, phase: { state: 'pending' } });
    await service.post(`projects/${id}/phases/crawl/run`, {});
    const started = await client.next(isType('started'));
    expect(started).toMatchObject({
      project_id: id,
      run: expect.any(Number),
      phase: { status: 'in_progress' },
    });
    const page = await client.next(isType('page'));
    expect(page.page.url).toContain(web.origin);
    const completed = await client.next(isType('completed'));
    expect(completed).toMatchObject({
      run: 1,
      phase: { status: 'completed', progress: 100, pages_crawled: 31 },
    });
    const events = client.heard.flatMap((message) => {
      const read = liveEvent.safeParse(message);
      return read.success ? [read.data] : [];
    });
    const numbers = events.map(({ seq }) => seq);
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    expect(new Set(numbers).size).toBe(numbers.length);
    expect(numbers[0]).toBeGreaterThan(subscribed.seq);
    client.socket.terminate();
  });

  it('tells nothing more of a project that was left, and goes on with the others', async () => {
    const web = await bench.web({ pages: PAGES });
    const [one, two] = [await newProject(web.origin), await newProject(web.origin)];
    const client = await connect(service);
    for (const id of [one, two]) client.say({ type: 'subscribe', project_id: id });
    await client.next(isType('subscribed'));
    await client.next(isType('subscribed'));
    client.say({ type: 'unsubscribe', project_id: one });
    await client.next(isType('unsubscribed'));
    const before = client.heard.length;
    await service.crawl(one);
    await service.crawl(two);
    await client.next((message) => message.type === 'completed' && message.project_id === two);
    expect(client.heard.slice(before).filter((message: Loose) => message.project_id === one)).toEqual([]);
    client.socket.terminate();
  });

  it('answers what it does not understand with an error, and stays', async () => {
    const client = await connect(service);
    const errors: [unknown, string][] = [
      ['no JSON', 'live-message'],
      [[], 'live-message'],
      [{ type: 'shout' }, 'live-message'],
      [{ type: 'subscribe' }, 'live-message'],
      [{ type: 'subscribe', project_id: 7 }, 'live-message'],
      [{ type: 'ping', more: 1 }, 'live-message'],
      [{ type: 'subscribe', project_id: 'nothing' }, 'project-unknown'],
      [{ type: 'subscribe', project_id: '00000000-0000-4000-8000-000000000000' }, 'project-unknown'],
    ];
    for (const [message, code] of errors) {
      client.say(message);
      expect(await client.next(isType('error')), JSON.stringify(message)).toMatchObject({ code });
    }
    client.say({ type: 'ping' });
    await client.next(isType('pong'));
    client.socket.terminate();
  });

  it('is refused to pages of other sites, without a token, and closed for a message that is too long', async () => {
    const service = await start({ tokens: [{ scopes: ['read'] }] });
    const refused = async (headers: Record<string, string>) => {
      const socket = new WebSocket(`${service.url}/api/v1/ws`, { headers });
      const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      answer.resume();
      return answer.statusCode;
    };
    const authorization = `Bearer ${service.secrets[0]}`;
    expect(await refused({})).toBe(401);
    expect(await refused({ authorization: 'Bearer wrong' })).toBe(401);
    expect(await refused({ authorization, origin: 'https://evil.example' })).toBe(403);
    expect(await refused({ authorization, host: 'evil.example' })).toBe(403);
    const client = await connect(service, { authorization });
    client.socket.send('x'.repeat(100_000));
    const [code] = await once(client.socket, 'close');
    expect(code).toBe(1009);
  });

  it('shows a token the projects that it may see, and no others', async () => {
    const service = await start({ tokens: [{ scopes: ['admin'] }] });
    const [mine, other] = [
      await service.project('mine', 'http://127.0.0.1:9/'),
      await service.project('other', 'http://127.0.0.1:9/'),
    ];
    const made = await service.post('tokens', { name: 'narrow', scopes: ['read'], projects: [mine] });
    const client = await connect(service, { authorization: `Bearer ${made.body.token ?? made.body.secret}` });
    client.say({ type: 'subscribe', project_id: other });
    expect(await client.next(isType('error'))).toMatchObject({ code: 'project-unknown' });
    client.say({ type: 'subscribe', project_id: mine });
    await client.next(isType('subscribed'));
    client.socket.terminate();
  });

  it('at a route that has none is closed', async () => {
    const socket = new WebSocket(`${service.url}/api/v1/projects`);
    const [code] = await once(socket, 'close');
    expect(code).toBe(1005);
  });
});

interface Told {
  id: number;
  event: string;
  data: Loose;
}

/** Reads a stream of events until one fits. */
async function listen(
  service: TestService,
  id: string,
  { lastId, until }: { lastId?: string; until: (told: Told) => boolean },
): Promise<Told[]> {
  const request = requestGet(`${service.url}/api/v1/projects/${id}/events`, {
    headers: lastId === undefined ? {} : { 'last-event-id': lastId },
  });
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['content-type']).toMatch(/^text\/event-stream/);
  const told: Told[] = [];
  let text = '';
  for await (const chunk of answer) {
    text += chunk;
    const parts = text.split('\n\n');
    text = parts.pop()!;
    for (const part of parts) {
      const fields = new Map(part.split('\n').map((line) => line.split(/: (.*)/s) as [string, string]));
      if (!fields.has('data')) continue;
      told.push({
        id: Number(fields.get('id')),
        event: fields.get('event')!,
        data: JSON.parse(fields.get('data')!),
      });
      if (until(told.at(-1)!)) {
        request.destroy();
        return told;
      }
    }
  }
  throw new Error('the stream ended');
}

describe('a stream of events', () => {
  it('begins with the phase and has the same events', async () => {
    const web = await bench.web({ pages: PAGES });
    const id = await newProject(web.origin);
    let begun: Promise<unknown> | null = null;
    const told = await listen(service, id, {
      until: ({ event }) => {
        begun ??= service.post(`projects/${id}/phases/crawl/run`, {});
        return event === 'completed';
      },
    });
    await begun;
    expect(told[0]).toMatchObject({ event: 'subscribed', data: { phase: { state: 'pending' } } });
    expect(told.map(({ event }) => event)).toEqual(expect.arrayContaining(['started', 'page', 'completed']));
    for (const { id: number, event, data } of told) {
      expect(data).toMatchObject({ type: event, seq: number });
      liveMessage.parse(data);
    }
  });

  it('goes on after the last event that the client had, or says that it cannot', async () => {
    const web = await bench.web({ pages: PAGES });
    const id = await newProject(web.origin);
    let begun: Promise<unknown> | null = null;
    const whole = await listen(service, id, {
      until: ({ event }) => {
        begun ??= service.post(`projects/${id}/phases/crawl/run`, {});
        return event === 'completed';
      },
    });
    await begun;
    const middle = whole.find(({ event }) => event === 'started')!;
    const rest = await listen(service, id, {
      lastId: String(middle.id),
      until: ({ event }) => event === 'completed',
    });
    expect(rest[0].id).toBe(middle.id + 1);
    expect(rest.at(-1)).toEqual(whole.at(-1));
    for (const lastId of ['5', 'nonsense', '99999999999999']) {
      const told = await listen(service, id, { lastId, until: () => true });
      expect(told, lastId).toMatchObject([{ event: 'reset', data: { phase: { state: 'completed' } } }]);
      liveMessage.parse(told[0].data);
    }
    // It would never end.
    expect((await service.ask('HEAD', `projects/${id}/events`)).status).toBe(405);
  });
});
