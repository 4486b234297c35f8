/** Webhooks of the service, from the run to a receiver on this machine. */
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Engine } from '../../src/running/engine.ts';
import { UNSET } from '../../src/running/schedule/check-schedule.ts';
import type { Delivery, NewWebhook } from '../../src/running/webhook-verbs.ts';
import { openRecords } from '../../src/store/open-store.ts';
import { page } from '../crawls/crawl-site.ts';
import { FakeClock } from '../fake-clock.ts';
import { answer, type Exchange } from '../web/fake-web.ts';
import { ended, newProject, STORES, useEngines } from './engine-bench.ts';
import { useReceivers } from './webhook-receiver.ts';

const bench = useEngines();
const newReceiver = useReceivers();

const HOUR_MS = 3_600_000;
const ALL: NewWebhook['events'] = [
  ...(['crawl.started', 'crawl.completed', 'crawl.failed', 'crawl.significant', 'page.changed'] as const),
];

/** A home page with some others, whose text follows `version`. */
async function changingSite(pages = 3, clock?: FakeClock) {
  const state = { version: 1 };
  const paths = Array.from({ length: pages }, (_, i) => `/p${i}`);
  const serve = (exchange: Exchange) =>
    answer(exchange, { body: page(`${exchange.path} in version ${state.version}`, ...paths) });
  const web = await bench.web({ pages: { '/': serve, '/p*': serve }, ...(clock && { clock }) });
  return { web, state };
}

/** Time goes by, so much at a time, until it is so. */
async function passing(clock: FakeClock, stepMs: number, isSo: () => boolean | Promise<boolean>) {
  while (!(await isSo())) {
    await new Promise((resolve) => setImmediate(resolve));
    clock.advance(stepMs);
  }
}

async function during<T>(clock: FakeClock, work: Promise<T>): Promise<T> {
  let isOver = false;
  const done = work.finally(() => {
    isOver = true;
  });
  await passing(clock, 1, () => isOver);
  return done;
}

async function crawlOnce(engine: Engine, id: string) {
  await engine.runs.start(id, { type: 'manual' });
  return ended(engine, id);
}

/** Looks again until the last delivery is no longer waiting. */
async function settled(engine: Engine, id: string, webhook: string, count: number): Promise<Delivery[]> {
  for (;;) {
    const { deliveries } = await engine.webhooks.deliveries(id, webhook, { limit: 999 });
    if (deliveries.length >= count && deliveries.every(({ state }) => state !== 'waiting')) return deliveries;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe.each(STORES)('a webhook, on %s', (store) => {
  it('gets what happens in its order, signed, and of a first run no pages', async () => {
    const [{ web, state }, receiver] = [await changingSite(), await newReceiver()];
    const engine = await bench.engine(await bench.place(store));
    const id = await newProject(engine, web.url('/'));
    const { id: hook, secret } = await engine.webhooks.create(id, { url: receiver.url, events: ALL });
    await engine.schedules.set(id, { ...UNSET, notify_on_changes: true });
    await crawlOnce(engine, id);
    await receiver.count(2);
    state.version = 2;
    await crawlOnce(engine, id);
    await receiver.count(9);
    await settled(engine, id, hook, 9);
    expect(receiver.types()).toEqual([
      ...['crawl.started', 'crawl.completed', 'crawl.started', 'crawl.completed', 'crawl.significant'],
      ...Array(4).fill('page.changed'),
    ]);
    const { received } = receiver;
    for (const { headers, text, body } of received) {
      const [, seconds, signature] = /^t=(\d+),v1=([0-9a-f]{64})$/.exec(headers['sumi-signature'] as string)!;
      expect(createHmac('sha256', secret).update(`${seconds}.${text}`).digest('hex')).toBe(signature);
      expect(headers).toMatchObject({ 'sumi-event': body.type, 'sumi-delivery': body.id });
      expect(Object.keys(body)).toEqual(['id', 'type', 'project_id', 'project', 'run', 'at', 'data']);
      expect(body.project_id).toBe(id);
    }
    expect(new Set(received.map(({ body }) => body.id)).size).toBe(9);
    expect(received[3].body.data).toMatchObject({ phase: { state: 'completed', status: 'completed' } });
    expect(received[4].body.data).toMatchObject({ new: 0, changed: 4, changed_percent: 100 });
    const pages = received.slice(5).map(({ body }) => body.data as { url: string; outcome: string });
    expect(pages.map(({ url, outcome }) => `${outcome} ${new URL(url).pathname}`).sort()).toEqual(
      ['/', '/p0', '/p1', '/p2'].map((path) => `changed ${path}`),
    );
    expect(bench.reports).toEqual([]);
  });

  it('hears of a run that a service left, where that has failed at the next start', async () => {
    const receiver = await newReceiver();
    let reached = () => {};
    const begun = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const serve = (exchange: Exchange) => {
      reached();
      answer(exchange, { body: page(exchange.path) });
    };
    const paths = Array.from({ length: 40 }, (_, i) => `/p${i}`);
    const web = await bench.web({ pages: { '/': page('home', ...paths), '/p*': serve } });
    const place = await bench.place(store);
    const { keyFile } = bench.options(place);
    const first = await bench.engine(place, { keyFile });
    const id = await newProject(first, web.url('/'), { delay: 0.05, 'per-host': 1 });
    const events = ['crawl.completed', 'crawl.failed'] as const;
    const { id: hook } = await first.webhooks.create(id, { url: receiver.url, events });
    const { run } = await first.runs.start(id, { type: 'manual' });
    await begun;
    await first.close();
    const second = await bench.engine(place, { keyFile, onRestart: 'fail' });
    await receiver.count(1);
    expect(receiver.received[0].body).toMatchObject({ type: 'crawl.failed', run, project_id: id });
    expect(receiver.received[0].body.data).toMatchObject({
      phase: { state: 'failed', error: { code: 'run-interrupted' } },
    });
    await settled(second, id, hook, 1);
    await second.close();
    const third = await bench.engine(place, { keyFile, onRestart: 'fail' });
    expect(await third.runs.phase(id)).toMatchObject({ state: 'failed', run });
    expect(receiver.received).toHaveLength(1);
  });

  it('gets an event again with the same id after a crash between sending and marking, and goes on after it', async () => {
    const [{ web }, receiver] = [await changingSite(), await newReceiver()];
    const place = await bench.place(store);
    const { keyFile } = bench.options(place);
    const first = await bench.engine(place, { keyFile });
    const id = await newProject(first, web.url('/'));
    const events = ['crawl.started', 'crawl.completed'] as const;
    const { id: hook } = await first.webhooks.create(id, { url: receiver.url, events });
    await crawlOnce(first, id);
    const before = await settled(first, id, hook, 2);
    await first.close();
    // What is left where the process died after the answer came: the event is not marked.
    const table = place.options.store === undefined ? `${place.options.db}.service` : null;
    const forget = `UPDATE service_record SET value = '${JSON.stringify({
      ...{ done: [1, 1], failingSince: null, nextTryAt: null, lastDeliveryAt: null, sender: null },
    })}' WHERE key = '${hook}.sent'`;
    const unmark = `UPDATE service_record SET value = replace(value, '"delivered"', '"waiting"')
      WHERE kind = 'delivery' AND value LIKE '%crawl.completed%'`;
    for (const sql of [forget, unmark]) await changeRecords(place, table, sql);
    const second = await bench.engine(place, { keyFile });
    await receiver.count(3);
    await crawlOnce(second, id);
    await receiver.count(5);
    const ids = receiver.received.map(({ body }) => body.id);
    expect(ids[2]).toBe(ids[1]);
    expect(receiver.received[2].text).toBe(receiver.received[1].text);
    expect(receiver.types().slice(3)).toEqual(['crawl.started', 'crawl.completed']);
    expect(before.map(({ id: one }) => one).sort()).toEqual(ids.slice(0, 2).sort());
  });
});

async function changeRecords(
  place: { change(sql: string): Promise<void> },
  file: string | null,
  sql: string,
): Promise<void> {
  if (file === null) return place.change(sql);
  const { default: Sqlite } = await import('better-sqlite3');
  const db = new Sqlite(file);
  db.exec(sql);
  db.close();
}

describe('a webhook', () => {
  it('keeps the order over failures, and is sent what failed again on request', async () => {
    const [{ web }, receiver] = [await changingSite(), await newReceiver()];
    const engine = await bench.engine(await bench.place('SQLite'));
    const id = await newProject(engine, web.url('/'));
    const events = ['crawl.started', 'crawl.completed'] as const;
    const { id: hook } = await engine.webhooks.create(id, { url: receiver.url, events });
    receiver.answers = [503, null, 400, 204];
    await crawlOnce(engine, id);
    const deliveries = await settled(engine, id, hook, 2);
    const ids = receiver.received.map(({ body }) => body.id);
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(receiver.types()).toEqual([...Array(3).fill('crawl.started'), 'crawl.completed']);
    expect(deliveries).toMatchObject([
      { event: 'crawl.completed', state: 'delivered', status_code: 204, attempts: 1, error: null },
      { event: 'crawl.started', state: 'failed', status_code: 400, attempts: 3, error: 'http 400' },
    ]);
    const again = await engine.webhooks.redeliver(id, hook, deliveries[1].id);
    expect(again).toMatchObject({ id: ids[0], state: 'waiting' });
    await receiver.count(5);
    expect(receiver.received[4].text).toBe(receiver.received[0].text);
    expect(await settled(engine, id, hook, 2)).toMatchObject([
      { id: ids[0], state: 'delivered', attempts: 4 },
      { event: 'crawl.completed' },
    ]);
    await expect(engine.webhooks.redeliver(id, hook, 'nothing')).rejects.toMatchObject({
      code: 'delivery-unknown',
    });
  });

  it('is sent the change of a page again, made of the history', async () => {
    const [{ web, state }, receiver] = [await changingSite(), await newReceiver()];
    const engine = await bench.engine(await bench.place('SQLite'));
    const id = await newProject(engine, web.url('/'));
    await crawlOnce(engine, id);
    const { id: hook } = await engine.webhooks.create(id, { url: receiver.url, events: ['page.changed'] });
    state.version = 2;
    await crawlOnce(engine, id);
    const deliveries = await settled(engine, id, hook, 4);
    await engine.webhooks.redeliver(id, hook, deliveries[0].id);
    await receiver.count(5);
    expect(receiver.received[4].text).toBe(receiver.received[3].text);
  });

  it('waits for a receiver that is away, in order, and goes on when it is back, after a restart too', async () => {
    const clock = new FakeClock(Date.UTC(2026, 2, 4));
    const [{ web }, receiver] = [await changingSite(3, clock), await newReceiver()];
    const place = await bench.place('SQLite');
    const more = { keyFile: `${place.options.db}.key` };
    const engine = await during(clock, bench.engine(place, more, { clock }));
    const id = await during(clock, newProject(engine, web.url('/')));
    const events = ['crawl.started', 'crawl.completed'] as const;
    const { id: hook } = await engine.webhooks.create(id, { url: receiver.url, events });
    receiver.answers = [503];
    await during(clock, engine.runs.start(id, { type: 'manual' }));
    let failing = await engine.webhooks.get(id, hook);
    await passing(clock, 20, async () => {
      failing = await engine.webhooks.get(id, hook);
      return failing.failing_since !== null && (await engine.runs.phase(id)).status === 'completed';
    });
    const [, started] = (await engine.webhooks.deliveries(id, hook, { limit: 9 })).deliveries;
    expect(started).toMatchObject({ event: 'crawl.started', state: 'waiting', status_code: 503 });
    // In rounds of six, each at the time that the round before has set.
    expect(started.attempts % 6).toBe(0);
    expect(Date.parse(started.next_try_at!)).toBeGreaterThan(Date.parse(failing.failing_since!));
    await during(clock, engine.close());
    const tries = receiver.received.length;
    receiver.answers = [204];
    const second = await during(clock, bench.engine(place, more, { clock }));
    clock.advance(HOUR_MS);
    await passing(clock, 1, () => receiver.received.length === tries + 2);
    expect(receiver.types()).toEqual([...Array(tries + 1).fill('crawl.started'), 'crawl.completed']);
    expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(2);
    await passing(clock, 1, async () => (await second.webhooks.get(id, hook)).last_delivery !== null);
    expect(await second.webhooks.get(id, hook)).toMatchObject({ failing_since: null });
  });

  it('gets all pages of a large run, also over a restart in the midst of them, and keeps the last 500', async () => {
    const [{ web, state }, receiver] = [await changingSite(620), await newReceiver()];
    const place = await bench.place('SQLite');
    const more = { keyFile: `${place.options.db}.key` };
    const engine = await bench.engine(place, more);
    const id = await newProject(engine, web.url('/'), { 'max-pages': 1000 });
    await crawlOnce(engine, id);
    const events = ['page.changed', 'crawl.completed'] as const;
    const { id: hook } = await engine.webhooks.create(id, { url: receiver.url, events });
    state.version = 2;
    await crawlOnce(engine, id);
    await receiver.count(100);
    await engine.close();
    const second = await bench.engine(place, more);
    await receiver.count(622);
    const ids = receiver.received.map(({ body }) => body.id);
    while (new Set(ids).size < 622) {
      await receiver.count(ids.length + 1);
      ids.push(...receiver.received.slice(ids.length).map(({ body }) => body.id));
    }
    // What was under way when the service ended came twice, and nothing else.
    expect(ids.length - new Set(ids).size).toBeLessThanOrEqual(1);
    const numbers = [...new Set(ids.slice(1))].map((text) => Number(text.split('-').at(-1)));
    expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
    const kept = await settled(second, id, hook, 400);
    await second.close();
    expect(kept.length).toBeLessThanOrEqual(500);
    const records = await openRecords(place.options.db as string);
    expect((await records.list({ kind: 'delivery', scope: id })).length).toBeLessThanOrEqual(500);
    await records.close();
  });

  it('can be tested: one try, beside what waits', async () => {
    const [{ web }, receiver] = [await changingSite(), await newReceiver()];
    const engine = await bench.engine(await bench.place('SQLite'));
    const id = await newProject(engine, web.url('/'));
    const { id: hook } = await engine.webhooks.create(id, { url: receiver.url, events: ALL });
    expect(await engine.webhooks.test(id, hook)).toMatchObject({ event: 'test', state: 'delivered' });
    // A redirect is not followed.
    receiver.answers = [302];
    const failed = { state: 'failed', status_code: 302, error: 'http 302, not followed', attempts: 1 };
    expect(await engine.webhooks.test(id, hook)).toMatchObject(failed);
    expect(receiver.types()).toEqual(['test', 'test']);
    const { deliveries, next } = await engine.webhooks.deliveries(id, hook, { limit: 1 });
    expect(deliveries).toMatchObject([failed]);
    const rest = await engine.webhooks.deliveries(id, hook, { limit: 1, after: next! });
    expect(rest).toMatchObject({ deliveries: [{ state: 'delivered' }], next: null });
  });

  it('shows neither its secret nor its path again, and no file of the service has them', async () => {
    const [{ web }, receiver] = [await changingSite(), await newReceiver()];
    const place = await bench.place('SQLite');
    const keyFile = `${place.options.db}.key`;
    const engine = await bench.engine(place, { keyFile });
    const id = await newProject(engine, web.url('/'));
    const secret = 'a-secret-of-more-than-16-characters';
    const { id: hook, ...made } = await engine.webhooks.create(id, {
      url: receiver.url,
      events: ALL,
      secret,
    });
    expect(made).toMatchObject({ secret, url: new URL(receiver.url).origin, version: 1 });
    const shown = [
      await engine.webhooks.list(id),
      await engine.webhooks.get(id, hook),
      await engine.webhooks.change(id, hook, { enabled: false }),
      await engine.webhooks.test(id, hook),
    ];
    await engine.close();
    const folder = join(place.options.db as string, '..');
    const files = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1'));
    for (const text of [...files, JSON.stringify(shown)]) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain('pass-word-path');
    }
    expect(files.some((text) => text.includes(hook))).toBe(true);
    expect(statSync(`${place.options.db}.service`).mode & 0o077).toBe(0);
  });

  it('is changed and deleted only where nobody else was faster', async () => {
    const [{ web }, receiver] = [await changingSite(), await newReceiver()];
    const engine = await bench.engine(await bench.place('SQLite'));
    const id = await newProject(engine, web.url('/'));
    const { id: hook } = await engine.webhooks.create(id, { url: receiver.url, events: ALL });
    expect(await engine.webhooks.change(id, hook, { events: ['crawl.failed'] }, 1)).toMatchObject({
      ...{ events: ['crawl.failed'], version: 2 },
    });
    await expect(engine.webhooks.change(id, hook, { enabled: false }, 1)).rejects.toMatchObject({
      code: 'record-changed',
    });
    const other = await newProject(engine, web.url('/p1'));
    for (const [project, webhook] of [
      [other, hook],
      [id, 'nothing'],
      [id, `${hook}.sent`],
    ])
      await expect(engine.webhooks.get(project, webhook)).rejects.toMatchObject({ code: 'webhook-unknown' });
    await engine.webhooks.remove(id, hook);
    expect(await engine.webhooks.list(id)).toEqual([]);
  });

  it.each([
    ['http://10.0.0.1/x', 'egress-refused'],
    ['http://localhost/x', 'egress-refused'],
    ['http://printer/x', 'egress-refused'],
    ['https://[::ffff:10.0.0.1]/x', 'egress-refused'],
    ['ftp://example.com/x', 'request-invalid'],
    ['https://user:pass@example.com/x', 'request-invalid'],
    ['nothing', 'request-invalid'],
  ])('is refused for %s', async (url, code) => {
    const { web } = await changingSite();
    const engine = await bench.engine(await bench.place('SQLite'));
    const id = await newProject(engine, web.url('/'));
    await expect(engine.webhooks.create(id, { url, events: ALL })).rejects.toMatchObject({ code });
    await expect(
      engine.webhooks.create(id, { url: 'https://example.com/', events: [], secret: 'short' }),
    ).rejects.toMatchObject({ errors: [{ pointer: '/events' }, { pointer: '/secret' }] });
    expect(await engine.webhooks.list(id)).toEqual([]);
  });
});
