import { expect, it } from 'vitest';
import { createEventHub } from './event-hub.ts';
import type { CrawlEvent } from './events.ts';
import { subscribe } from './subscribe.ts';

const MODE = { type: 'mode', mode: 'full', reason: 'said so' } as const;

it('unsubscribes a subscriber that throws, tells the others, and goes on', () => {
  const events = createEventHub({ now: () => 0 });
  const told: CrawlEvent[] = [];
  subscribe(events, (event) => told.push(event));
  let calls = 0;
  const broken = subscribe(events, () => {
    calls++;
    throw new RangeError('no place left');
  });
  expect(broken.failure).toBeNull();
  events.emit(MODE);
  events.emit(MODE);
  expect(calls).toBe(1);
  expect(broken.failure).toMatchObject({ code: 'subscriber-failed' });
  expect(broken.failure?.message).toContain('no place left');
  expect(told.map(({ type }) => type)).toEqual(['mode', 'fault', 'mode']);
});

it('hears of its topics alone, and of nothing once it is unsubscribed', () => {
  const events = createEventHub({ now: () => 0 });
  const told: CrawlEvent[] = [];
  const subscription = subscribe(events, (event) => told.push(event), ['host']);
  events.emit(MODE);
  events.host({ host: 'a.test', what: 'blocked', detail: '429', until: null });
  subscription.unsubscribe();
  events.host({ host: 'b.test', what: 'blocked', detail: '429', until: null });
  expect(told).toMatchObject([{ type: 'host', host: 'a.test' }]);
});
