import { describe, expect, it } from 'vitest';
import { FakeClock } from '../../test/fake-clock.ts';
import { createEventHub } from '../events/event-hub.ts';
import { subscribe } from '../events/subscribe.ts';
import { KEPT_EVENTS } from './live-channel.ts';
import type { LiveEvent } from './live-event.ts';
import { createLiveFeed } from './live-feed.ts';
import { pendingPhase } from './phase-of-run.ts';

const ID = '7f1c9a52-0b1e-4a43-9d3a-6f1f5b1b0001';

/** A run whose events come from a real hub, so that it can be seen whether page events are made. */
function begin() {
  const clock = new FakeClock();
  const hub = createEventHub(clock);
  hub.ofRun(7, 'shop');
  const errors: unknown[] = [];
  const feed = createLiveFeed(clock, (error) => void errors.push(error));
  let pages = 0;
  const handle = { subscribe: (...args: Parameters<typeof rest>) => rest(...args) };
  const rest = (...args: [Parameters<typeof subscribe>[1], Parameters<typeof subscribe>[2]?]) =>
    subscribe(hub, ...args);
  const source = {
    ...{ projectUid: ID, run: 7, handle, isInitial: false },
    phase: () => ({ ...pendingPhase(ID), state: 'running' as const, pages_crawled: pages }),
  };
  const end = feed.follow(source);
  const settle = (n = 1) => {
    for (let i = 0; i < n; i++) {
      pages++;
      hub.emit({
        ...{ type: 'page', page_id: pages, url: `http://shop/${pages}`, state: 'Processed', reason: null },
        ...{ status_code: 200, title: null, depth: 1, content_type: 'text/html', links: 0, bytes: 1 },
        ...{ duration_ms: 1, outcome: 'changed', known_by: 'content', is_modified: true, bytes_saved: 0 },
        ...{ change_detected: true, change_frequency: 0 },
      } as Parameters<typeof hub.emit>[0]);
    }
  };
  const hear = (wantsPages: boolean, id: string | null = ID) => {
    const events: LiveEvent[] = [];
    return { events, ...feed.listen(id, wantsPages, (event) => void events.push(event)) };
  };
  return { clock, hub, feed, settle, hear, end, errors };
}

const typesOf = (events: LiveEvent[]) => events.map(({ type }) => type);

describe('the live feed', () => {
  it('makes no page event while nobody wants pages', () => {
    const { hub, hear } = begin();
    expect(hub.wantsPages).toBe(false);
    const without = hear(false);
    expect(hub.wantsPages).toBe(false);
    const first = hear(true);
    const second = hear(true, null);
    expect(hub.wantsPages).toBe(true);
    first.end();
    expect(hub.wantsPages).toBe(true);
    second.end();
    expect(hub.wantsPages).toBe(false);
    without.end();
  });

  it('tells the newest page ten times a second, with how many were left out', () => {
    const { clock, settle, hear } = begin();
    const { events } = hear(true);
    settle(5);
    clock.advance(100);
    settle(20);
    clock.advance(100);
    const pages = events.filter((event) => event.type === 'page');
    expect(pages.map(({ page, left_out }) => [page.url, left_out])).toEqual([
      ['http://shop/1', 0],
      ['http://shop/5', 3],
      ['http://shop/25', 19],
    ]);
    expect(events.filter(({ type }) => type === 'change')).toHaveLength(3);
    expect(pages[0].page.id).toMatch(/^[0-9a-f-]{36}$/);
    // The store's own number names nothing to a program.
    expect(pages[0].page).not.toHaveProperty('page_id');
  });

  it('tells progress four times a second, and only while somebody listens', () => {
    const { clock, settle, hear, feed } = begin();
    clock.advance(5000);
    expect(feed.missed(ID, 0)).toBeNull();
    const { events, end } = hear(false);
    for (let i = 0; i < 40; i++) {
      settle();
      clock.advance(50);
    }
    expect(typesOf(events)).toEqual(Array.from({ length: 8 }, () => 'progress'));
    clock.advance(2000);
    expect(events).toHaveLength(8);
    end();
    settle();
    clock.advance(1000);
    expect(events).toHaveLength(8);
  });

  it('numbers events, keeps the last ones, and says when they are gone', () => {
    const { hear, feed, hub } = begin();
    const { events, seq } = hear(false);
    for (let i = 0; i < KEPT_EVENTS + 10; i++)
      hub.host({ host: 'shop', what: 'robots', detail: `${i}`, until: null });
    expect(events.map((event) => event.seq)).toEqual(events.map((_, i) => seq + 1 + i));
    expect(feed.missed(ID, events[20].seq)).toEqual(events.slice(21));
    expect(feed.missed(ID, events[events.length - 1].seq)).toEqual([]);
    expect(feed.missed(ID, seq)).toBeNull();
    expect(feed.missed(ID, seq + 10_000)).toBeNull();
  });

  it('drops a listener that throws, and nobody else', () => {
    const { feed, hear, errors } = begin();
    feed.listen(ID, false, () => {
      throw new Error('no');
    });
    const { events } = hear(false);
    feed.tellProgress(ID, 7, pendingPhase(ID));
    feed.tellProgress(ID, 7, pendingPhase(ID));
    expect(events).toHaveLength(2);
    expect(errors).toHaveLength(1);
  });

  it('tells what is left when the run ends, and stops', () => {
    const { clock, settle, hear, end, hub } = begin();
    const { events } = hear(true);
    settle(3);
    end();
    const pages = events.filter((event) => event.type === 'page').map(({ page }) => page.url);
    expect(pages).toEqual(['http://shop/1', 'http://shop/3']);
    settle(2);
    clock.advance(1000);
    expect(events.filter(({ type }) => type === 'page')).toHaveLength(2);
    expect(hub.wantsPages).toBe(false);
  });
});
