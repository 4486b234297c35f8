import { expect, it } from 'vitest';
import { createEventHub } from './event-hub.ts';
import { createEventStream, type EventStream, type ReadOptions } from './event-stream.ts';
import type { CrawlEvent, RunEvent } from './events.ts';

const CLOCK = { now: () => 1000 };
const OPENING = { type: 'run', resumed: false, config_changed: false, known_urls: 0 } as const;
const MODE = { type: 'mode', mode: 'full', reason: 'said so' } as const;

function useStream() {
  const events = createEventHub(CLOCK);
  events.ofRun(3, 'shop');
  const stream = createEventStream({ subscribe: events.subscribe, onRead() {} });
  stream.opened(events.stamp(OPENING) as RunEvent);
  const host = (name: string) => events.host({ host: name, what: 'blocked', detail: '429', until: null });
  return { events, stream, host };
}

function reading(stream: EventStream, options?: ReadOptions) {
  const told: CrawlEvent[] = [];
  const iterator = stream.read(options)[Symbol.asyncIterator]();
  const whole = (async () => {
    for (;;) {
      const { value, done } = await iterator.next();
      if (done) return told;
      told.push(value);
    }
  })();
  return { told, whole, iterator };
}

it('drops what a slow reader has no place for, and says how many events in their place', async () => {
  const { events, stream, host } = useStream();
  const iterator = stream.read({ mostWaiting: 3 })[Symbol.asyncIterator]();
  for (const name of ['a', 'b', 'c', 'd', 'e']) host(name);
  // The mode is of the run: it is never dropped.
  events.emit(MODE);
  host('f');
  stream.end();
  const told: CrawlEvent[] = [];
  for (let next = await iterator.next(); !next.done; next = await iterator.next()) told.push(next.value);
  const stamp = { run: 3, project: 'shop', time: '1970-01-01T00:00:01.000Z' };
  expect(told).toMatchObject([
    { ...OPENING, ...stamp },
    { type: 'host', host: 'a', ...stamp },
    { type: 'host', host: 'b', ...stamp },
    { type: 'dropped', events: 4, ...stamp },
    { ...MODE, ...stamp },
  ]);
});

it('takes up again where a reader has caught up', async () => {
  const { stream, host } = useStream();
  const { told, whole } = reading(stream, { topics: ['host'], mostWaiting: 2 });
  for (const name of ['a', 'b', 'c']) host(name);
  await Promise.resolve();
  while (told.length < 3) await new Promise((resolve) => setImmediate(resolve));
  host('d');
  stream.end();
  expect(await whole).toMatchObject([
    { host: 'a' },
    { host: 'b' },
    { type: 'dropped', events: 1 },
    { host: 'd' },
  ]);
});

it('wants page events only while somebody reads them', async () => {
  const { events, stream } = useStream();
  const others = reading(stream, { topics: ['run', 'progress'] });
  expect(events.wantsPages).toBe(false);
  const iterator = stream.read()[Symbol.asyncIterator]();
  expect(events.wantsPages).toBe(true);
  await iterator.next();
  await iterator.return?.();
  expect(events.wantsPages).toBe(false);
  stream.end();
  expect(await others.whole).toHaveLength(1);
});

it('lets a reader leave before it has read, and while it waits for an event', async () => {
  const { events, stream } = useStream();
  const early = stream.read({ topics: ['page'] })[Symbol.asyncIterator]();
  await early.return?.();
  expect(events.wantsPages).toBe(false);
  const waiting = reading(stream, { topics: ['page'] });
  expect(events.wantsPages).toBe(true);
  await new Promise((resolve) => setImmediate(resolve));
  await waiting.iterator.return?.();
  expect(events.wantsPages).toBe(false);
  expect(await waiting.whole).toEqual([]);
});
