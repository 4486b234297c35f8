// A real `sumi serve` that is killed three times while everybody wants something of it. What it had answered is there, what it had
// not answered is there whole or not at all, and its crawls go on politely as if nothing had been.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { auditRuns } from '../../src/project/audit-runs.ts';
import { openReading } from '../../src/project/reading.ts';
import { page, useBench } from '../crawls/crawl-site.ts';
import { eachStore } from '../crawls/each-store.ts';
import { answer, type Exchange, type FakeWeb } from '../web/fake-web.ts';
import { SUMI } from './agent-clients.ts';
import { type Loose, STORES } from './start-serving.ts';

const bench = useBench();
const stores = eachStore(bench);
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

// The driver of PostgreSQL as the tests have it.
const HOOKS = pathToFileURL(resolve(import.meta.dirname, '../../scripts/repair-driver-hooks.mjs')).href;
const REPAIR = `data:text/javascript,import{register}from'node:module';register('${HOOKS}')`;

const PAGES = 40;
/** Of the third site, whose host wants to be left alone for longer than a start takes. */
const SLOW_PAGES = 4;
const SLOW_DELAY_MS = 3000;
const DELAY_MS = 60;
/** Pages of the whole web at which the service is killed, once it has answered so many writes since its start. */
const KILL_AT = [20, 40, 60];
const WRITES = 12;
/** Among the kinds of writes. */
const WEBHOOK = 2;

interface Served {
  child: ChildProcess;
  url: string;
  stderr: () => string;
}

async function serve(store: string[], key: string): Promise<Served> {
  const args = [
    'serve',
    ...store,
    '--port',
    '0',
    '--json',
    '--egress-allow',
    '127.0.0.0/8',
    '--key-file',
    key,
  ];
  const { PATH = '', HOME = '' } = process.env;
  const child = spawn(process.execPath, ['--import', REPAIR, ...SUMI, ...args], {
    ...{ env: { PATH, HOME }, stdio: 'pipe' as const },
  });
  children.push(child);
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const line = await new Promise<string>((tell, fail) => {
    let stdout = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      if (stdout.includes('\n')) tell(stdout);
    });
    child.once('exit', () => fail(new Error(stderr)));
  });
  return { child, url: JSON.parse(line).url, stderr: () => stderr };
}

interface Told {
  status: number;
  body: Loose;
  isReplayed: boolean;
}

async function call(
  url: string,
  method: string,
  path: string,
  more: { body?: unknown; key?: string; token?: string },
) {
  const { body, key, token } = more;
  const response = await fetch(`${url}/api/v1/${path}`, {
    method,
    headers: {
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...(key !== undefined && { 'idempotency-key': key }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return {
    status: response.status,
    body: text === '' ? null : JSON.parse(text),
    isReplayed: response.headers.get('idempotency-replayed') === 'true',
  } satisfies Told;
}

/** A web of hosts that says when it was asked so many times, and then keeps everybody waiting until it is opened. */
async function countingWeb() {
  const links = (count: number) => Array.from({ length: count }, (_, i) => `/p${i}`);
  let gate: { at: number; reached: () => void; held: (() => void)[] } | null = null;
  let seen = 0;
  const web: FakeWeb = await bench.web({
    hosts: 4,
    pages: {
      '/hook': { status: 204 },
      '/p*': (exchange: Exchange) => {
        const give = () => answer(exchange, { body: page(exchange.path) });
        seen++;
        if (gate === null || seen < gate.at) return give();
        gate.held.push(give);
        gate.reached();
      },
      '/': page('home', ...links(PAGES)),
      '2:/': page('home', ...links(SLOW_PAGES)),
    },
  });
  return {
    web,
    asked: (at: number) =>
      new Promise<void>((reached) => {
        gate = { at, reached, held: [] };
      }),
    open() {
      for (const give of gate?.held ?? []) give();
      gate = null;
    },
  };
}

/** Who writes without a pause, one request after the other, until the service is gone. Kept: what was answered. */
function createLoad(ids: string[], hook: string, token: string) {
  let number = 0;
  let answers = 0;
  let isEnough = { posts: 0, tell: () => {} };
  /** By key: the request, and its answer; null where the service was killed before it answered. */
  const posts = new Map<string, { path: string; body: object; told: Told | null }>();
  /** The last change of a project that was answered, and the last that was asked for. */
  const changes = new Map(ids.map((id) => [id, { answered: 0, asked: 0 }]));
  const faults: string[] = [];
  const KINDS: ((id: string, n: number) => [string, object])[] = [
    (id, n) => [`projects/${id}/views`, { name: `view ${n}`, query: { status: 'success', q: `${n}` } }],
    (_, n) => ['tokens', { name: `token ${n}`, scopes: ['read'] }],
    (id, n) => [`projects/${id}/webhooks`, { url: `${hook}?${n}`, events: ['crawl.failed'] }],
    (_, n) => ['projects', { name: `new ${n}`, website_url: hook, settings: { max_redirects: n % 100 } }],
  ];

  async function write(url: string, id: string): Promise<void> {
    const n = ++number;
    const change = changes.get(id)!;
    change.asked = n;
    // Two of them, so that half a change would be seen.
    const body = { settings: { max_redirects: n % 100, smart_sample: n } };
    const changed = await call(url, 'PATCH', `projects/${id}`, { body, token });
    if (changed.status === 200) change.answered = n;
    else faults.push(`PATCH ${changed.status} ${JSON.stringify(changed.body)}`);
    // A project may have 20 webhooks.
    const kind = n % KINDS.length === WEBHOOK && n > 40 ? 0 : n % KINDS.length;
    const [path, post] = KINDS[kind](id, n);
    const key = `key-${n}`;
    posts.set(key, { path, body: post, told: null });
    const told = await call(url, 'POST', path, { body: post, key, token });
    posts.set(key, { path, body: post, told });
    if (++answers === isEnough.posts) isEnough.tell();
    if (told.status !== 201) faults.push(`POST ${path} ${told.status} ${JSON.stringify(told.body)}`);
  }

  return {
    ...{ posts, changes, faults },
    /** Resolves when so many more were answered. */
    answered: (more: number) =>
      new Promise<void>((tell) => {
        isEnough = { posts: answers + more, tell };
      }),
    /** Resolves when the service no longer answers. */
    run: (url: string) =>
      Promise.all(
        ids.map(async (id) => {
          for (;;)
            try {
              await write(url, id);
            } catch {
              return;
            }
        }),
      ),
  };
}

type Load = ReturnType<typeof createLoad>;

/** Everything that was answered is there, and a repetition is answered as the first one was. */
async function checkWrites({ posts, changes, faults }: Load, url: string, token: string): Promise<void> {
  expect(faults).toEqual([]);
  for (const [id, change] of changes) {
    const { answered, asked } = change;
    const { status, body } = await call(url, 'GET', `projects/${id}`, { token });
    const { smart_sample: version = 0, max_redirects } = body.settings;
    expect([status, [answered, asked]]).toEqual([200, expect.arrayContaining([version])]);
    if (version > 0) expect(max_redirects).toBe(version % 100);
    change.answered = version;
  }
  for (const [key, { path, body, told }] of posts) {
    const again = await call(url, 'POST', path, { body, key, token });
    if (told !== null) expect([key, again]).toEqual([key, { ...told, isReplayed: true }]);
    // Killed before it answered: done and remembered, still under way for a minute, or never begun.
    else expect([again.status, again.body]).toEqual([again.status === 409 ? 409 : 201, again.body]);
    if (told === null) posts.delete(key);
    else if (path !== 'tokens') {
      const place = path === 'projects' ? path : path.slice(path.indexOf('projects/'));
      const { secret: _, ...made } = told.body;
      const { status, body: found } = await call(url, 'GET', `${place}/${told.body.id}`, { token });
      expect([status, found.name ?? found.url, found.id]).toEqual([200, made.name ?? made.url, made.id]);
    } else {
      const own = await call(url, 'GET', 'session', { token: told.body.token });
      expect([own.status, own.body.name ?? own.body]).toEqual([200, expect.anything()]);
    }
  }
}

async function subscribe(url: string, ids: string[], token: string) {
  const socket = new WebSocket(`${url}/api/v1/ws`, { headers: { authorization: `Bearer ${token}` } });
  const subscribed: string[] = [];
  const gone = new Promise<void>((tell) => socket.once('close', () => tell()));
  socket.on('error', () => {});
  const ready = new Promise<void>((tell) => {
    socket.on('message', (data) => {
      const message = JSON.parse(data.toString());
      if (message.type === 'subscribed') subscribed.push(message.project_id);
      if (subscribed.length === ids.length) tell();
    });
  });
  await once(socket, 'open');
  for (const id of ids) socket.send(JSON.stringify({ type: 'subscribe', project_id: id }));
  await ready;
  return { socket, gone };
}

describe.each(STORES)('a service under load that is killed again and again (%s)', (kind) => {
  it('loses nothing that it answered, and goes on with its crawls', async () => {
    const { web, asked, open } = await countingWeb();
    const place = await stores[kind]();
    const { db, store } = place.options as { db?: string; store?: string };
    const flags = db === undefined ? ['--store', store!] : ['--db', db];
    const key = `${bench.file().folder}/key`;
    let served = await serve(flags, key);
    const first = await call(served.url, 'POST', 'tokens', { body: { name: 'first', scopes: ['admin'] } });
    const token = first.body.token as string;
    const ids: string[] = [];
    for (const [host, { delayMs }] of [...HOSTS.entries()]) {
      const settings = {
        ...{ delay_seconds: delayMs / 1000, max_concurrent: 1, adaptive_delay: false, discover: ['links'] },
        ...{ keep_alive: false, retries: 0 },
      };
      const body = { name: `site ${host}`, website_url: web.url('/', host), settings };
      const made = await call(served.url, 'POST', 'projects', { body, token });
      expect(made.status).toBe(201);
      ids.push(made.body.id);
    }
    const load = createLoad(ids, web.url('/hook', 3), token);
    const kills: { known: ReadonlySet<string>; before: number }[] = [];
    const runs: number[] = [];
    for (const id of ids) {
      const begun = await call(served.url, 'POST', `projects/${id}/phases/crawl/run`, { body: {}, token });
      expect(begun.status).toBe(202);
    }
    for (const at of KILL_AT) {
      const subscribers = await Promise.all(ids.map(() => subscribe(served.url, ids, token)));
      const reached = Promise.all([asked(at), load.answered(WRITES)]);
      const writing = load.run(served.url);
      await reached;
      served.child.kill('SIGKILL');
      await once(served.child, 'exit');
      await Promise.all([writing, ...subscribers.map(({ gone }) => gone)]);
      expect(served.stderr()).not.toMatch(/defect|failed/);
      const kept = await place.rows(`SELECT url FROM pages WHERE state = 'Processed'`);
      const before = web.log.length;
      served = await serve(flags, key);
      await checkWrites(load, served.url, token);
      for (const id of ids) {
        const { body } = await call(served.url, 'GET', `projects/${id}/phases/crawl/status`, { token });
        expect(body.state).toMatch(/^(queued|running|completed)$/);
        if (body.run !== null) runs.push(body.run);
      }
      open();
      kills.push({ known: new Set(kept.map(({ url }) => url as string)), before });
    }
    for (const [host, id] of ids.entries()) {
      const phase = await ended(served.url, id, token);
      const pages = HOSTS[host].pages + 1;
      expect(phase).toMatchObject({ state: 'completed', pages_crawled: pages, progress: 100, error: null });
      const { body } = await call(served.url, 'GET', `projects/${id}/pages?limit=1000&count=true`, { token });
      expect(body.total).toBe(pages);
      expect(new Set(body.items.map(({ url }: Loose) => url)).size).toBe(pages);
      expect(body.items.every(({ status }: Loose) => status === 'success')).toBe(true);
      const history = await call(served.url, 'GET', `projects/${id}/runs`, { token });
      expect(history.body.items).toHaveLength(1);
    }
    // A start takes less than this host wants to be left alone for.
    expect(Math.min(...web.gapsMs(2))).toBeGreaterThan(SLOW_DELAY_MS * 0.9);
    expect(new Set(runs).size).toBe(ids.length);
    expect(kills.at(-1)!.known.size).toBeGreaterThan(0);
    // What the store had when the process was killed is not asked for again.
    for (const { known, before } of kills)
      expect(
        web.log
          .slice(before)
          .filter(({ path }) => path !== '/robots.txt')
          .map(({ path, host }) => web.url(path, host))
          .filter((url) => known.has(url)),
      ).toEqual([]);
    served.child.kill('SIGTERM');
    expect(await once(served.child, 'exit')).toEqual([0, null]);
    const reading = await openReading((db ?? store)!);
    const audit = await auditRuns(reading, undefined);
    await reading.close();
    expect(audit).toMatchObject({ violations: 0 });
  });
});

const HOSTS = [
  { pages: PAGES, delayMs: DELAY_MS },
  { pages: PAGES, delayMs: DELAY_MS },
  { pages: SLOW_PAGES, delayMs: SLOW_DELAY_MS },
];

/** Hears of the end where a subscriber would. */
async function ended(url: string, id: string, token: string): Promise<Loose> {
  const socket = new WebSocket(`${url}/api/v1/ws`, { headers: { authorization: `Bearer ${token}` } });
  await once(socket, 'open');
  const over = new Promise<void>((tell) => {
    socket.on('message', (data) => {
      const { type, phase } = JSON.parse(data.toString());
      if (['completed', 'failed'].includes(type)) tell();
      if (type === 'subscribed' && phase.status !== 'in_progress') tell();
    });
  });
  socket.send(JSON.stringify({ type: 'subscribe', project_id: id }));
  await over;
  socket.close();
  return (await call(url, 'GET', `projects/${id}/phases/crawl/status`, { token })).body;
}
