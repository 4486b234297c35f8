/** Which page comes next, and how pages go back. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import { seededRandom } from '../../seeded-random.ts';
import {
  beginRun,
  candidate,
  HOST,
  LEASE_MS,
  pagesOf,
  processed,
  type StoreHarness,
  statesOf,
} from './harness.ts';

export function describeClaims(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();

  describe('claim', () => {
    it('goes by priority, then first seen first', async () => {
      const { store, lease, drain } = await beginRun(harness());
      await store.frontier.offer([
        candidate('r1', { priority: 2 }),
        candidate('w1'),
        candidate('home', { priority: 0 }),
        candidate('w2'),
        candidate('r2', { priority: 2 }),
      ]);
      expect(await drain(await lease())).toEqual(['home', 'w1', 'w2', 'r1', 'r2']);
    });

    it('lets a better page offered later go first', async () => {
      const { store, lease, claim, drain } = await beginRun(harness());
      await store.frontier.offer([candidate('a', { priority: 2 }), candidate('b', { priority: 2 })]);
      const held = await lease();
      expect((await claim(held)).url).toMatch(/a$/);
      await store.frontier.offer([candidate('c', { priority: 1 }), candidate('d', { priority: 2 })]);
      expect(await drain(held)).toEqual(['c', 'b', 'd']);
    });

    it('gives each waiting page once, in order, however offers, commits and claims are mixed', async () => {
      const seed = Date.now();
      const random = seededRandom(seed);
      const { store, lease } = await beginRun(harness());
      const held = await lease();
      const waiting: { name: string; priority: number; order: number }[] = [];
      for (let round = 0, order = 0; round < 150; round++) {
        const fresh = Array.from({ length: random.below(40) }, () => ({
          name: `p${++order}`,
          priority: random.below(3),
          order,
        }));
        await store.frontier.offer(fresh.map(({ name, priority }) => candidate(name, { priority })));
        waiting.push(...fresh);
        waiting.sort((a, b) => a.priority - b.priority || a.order - b.order);
        if (random.below(4) === 0) await store.flush();
        const count = random.below(30);
        const { claims } = count === 0 ? { claims: [] } : await store.frontier.claim(held, count, now());
        const names = claims.map((claim) => claim.url.split('/').pop());
        const expected = waiting.splice(0, count).map(({ name }) => name);
        expect(names, `seed ${seed}, round ${round}`).toEqual(expected);
      }
    });

    it('gives no page twice while commits, settlements and claims overlap', async () => {
      const seed = Date.now();
      const random = seededRandom(seed);
      const { store, lease } = await beginRun(harness());
      await store.frontier.offer(Array.from({ length: 400 }, (_, i) => candidate(`p${i}`)));
      const held = await lease();
      const given: string[] = [];
      const open: Promise<unknown>[] = [];
      for (let rounds = 0; given.length < 400 && rounds < 400; rounds++) {
        if (random.below(2) === 0) open.push(store.flush());
        const { claims } = await store.frontier.claim(held, 1 + random.below(30), now());
        given.push(...claims.map(({ url }) => url));
        if (random.below(2) === 0) open.push(store.flush());
        for (const claim of claims) open.push(store.frontier.settle(held, processed(claim)));
      }
      await Promise.all(open);
      expect([new Set(given).size, given.length], `seed ${seed}`).toEqual([400, 400]);
      expect(await store.frontier.claim(held, 5, now())).toEqual({ claims: [], nextRetryAt: null });
    });

    it('answers what the crawl needs to know of a page', async () => {
      const { store, lease, claim } = await beginRun(harness());
      const [pageId] = await store.frontier.offer([
        candidate('x', { depth: 4, priority: 2, fetchUrl: 'http://a.test/x' }),
      ]);
      expect(await claim(await lease())).toEqual({
        pageId,
        url: 'https://a.test/x',
        fetchUrl: 'http://a.test/x',
        host: HOST,
        depth: 4,
        priority: 2,
        attempts: 0,
        hops: 0,
        last: null,
      });
    });

    it('says that nothing waits, and does not lease the host for it again', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      const held = await lease();
      await store.frontier.settle(held, processed(await claim(held)));
      expect(await store.frontier.claim(held, 1, now())).toEqual({ claims: [], nextRetryAt: null });
      expect(store.frontier.waiting()).toBe(0);
      await store.frontier.release(held);
      expect(await store.frontier.lease(10, now(), LEASE_MS)).toEqual([]);
    });

    it('gives a retry when it is due, before pages that were never asked', async () => {
      const { store, lease, claim, drain } = await beginRun(harness());
      await store.frontier.offer([candidate('x', { priority: 2 })]);
      const held = await lease();
      const requeue = { attempts: 1, notBefore: now() + 5000, priority: null };
      await store.frontier.settle(
        held,
        processed(await claim(held), { facts: null, requeue, countsAsPage: false }),
      );
      expect(await store.frontier.claim(held, 1, now())).toEqual({ claims: [], nextRetryAt: now() + 5000 });
      harness().clock.advance(4999);
      expect((await store.frontier.claim(held, 1, now())).nextRetryAt).toBe(now() + 1);
      await store.frontier.offer([candidate('y', { priority: 0 })]);
      harness().clock.advance(1);
      expect(await claim(held)).toMatchObject({ url: 'https://a.test/x', attempts: 1 });
      expect(await drain(held)).toEqual(['y']);
    });

    it('keeps a retry through a crash, with its attempts and its time', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      const held = await lease();
      const requeue = { attempts: 2, notBefore: now() + 5000, priority: null };
      await store.frontier.settle(
        held,
        processed(await claim(held), { facts: null, requeue, countsAsPage: false }),
      );
      await store.flush();
      await harness().crash();
      const again = await beginRun(harness());
      const [taken] = await again.store.frontier.lease(10, now(), LEASE_MS);
      expect(await again.store.frontier.claim(taken, 1, now())).toEqual({
        claims: [],
        nextRetryAt: now() + 5000,
      });
      harness().clock.advance(5000);
      expect(await again.claim(taken)).toMatchObject({ attempts: 2 });
    });

    it('queues a page again at once, at another priority', async () => {
      const { store, lease, claim, drain } = await beginRun(harness());
      await store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await lease();
      const requeue = { attempts: 0, notBefore: null, priority: 9 };
      const settled = await store.frontier.settle(
        held,
        processed(await claim(held), { facts: null, requeue }),
      );
      expect(settled).toMatchObject({ state: PAGE_STATES.Queued });
      expect(store.frontier.waiting()).toBe(2);
      expect(await drain(held)).toEqual(['y', 'x']);
    });
  });

  describe('unclaim', () => {
    it('gives pages back as they were: they come first again', async () => {
      const { store, lease, drain } = await beginRun(harness());
      await store.frontier.offer(['a', 'b', 'c', 'd'].map((name) => candidate(name)));
      const held = await lease();
      const { claims } = await store.frontier.claim(held, 2, now());
      await store.frontier.unclaim(held, claims);
      expect(store.frontier.waiting()).toBe(4);
      expect(await drain(held)).toEqual(['a', 'b', 'c', 'd']);
    });

    it('makes the host leasable again', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('a')]);
      const held = await lease();
      const claimed = await claim(held);
      await store.frontier.unclaim(held, [claimed]);
      await store.frontier.release(held);
      expect(await store.frontier.lease(10, now(), LEASE_MS)).toHaveLength(1);
    });
  });

  describe('closing', () => {
    it('closes a host: every waiting page and retry gets the state, pages in flight and other hosts do not', async () => {
      const { store, lease, claim, drain } = await beginRun(harness());
      await store.frontier.offer([
        ...['a', 'b', 'c', 'd'].map((name) => candidate(name)),
        candidate('e', { host: 'b.test' }),
      ]);
      const held = await lease();
      const requeue = { attempts: 1, notBefore: now() + 5000, priority: null };
      await store.frontier.settle(
        held,
        processed(await claim(held), { facts: null, requeue, countsAsPage: false }),
      );
      await claim(held);
      expect(await store.frontier.closeHost(held, PAGE_STATES.Unreachable, 'network: no answer')).toBe(3);
      expect(store.frontier.waiting()).toBe(1);
      await store.flush();
      const pages = await pagesOf(harness());
      expect(pages.a).toMatchObject({ state: 'Unreachable', reason: 'network: no answer' });
      expect(await statesOf(harness())).toEqual({
        a: 'Unreachable',
        b: 'Fetching',
        c: 'Unreachable',
        d: 'Unreachable',
        e: 'Queued',
      });
      harness().clock.advance(5000);
      expect(await drain(held)).toEqual([]);
    });

    it('keeps a host closed for the rest of the run, also after a crash, and opens it in the next', async () => {
      const { store, lease } = await beginRun(harness());
      await store.frontier.offer([candidate('a')]);
      await store.frontier.closeHost(await lease(), PAGE_STATES.RateLimited, 'rate-limit: 429');
      await store.flush();
      await harness().crash();
      const again = await beginRun(harness());
      const closed = { state: PAGE_STATES.RateLimited, reason: 'rate-limit: 429' };
      await again.store.frontier.offer([candidate('b')]);
      expect((await again.store.frontier.lease(1, now(), LEASE_MS))[0].closed).toEqual(closed);
      await again.store.run.finish('completed', now(), null);
      await again.store.close();
      const next = await beginRun(harness());
      expect((await next.lease()).closed).toBeNull();
    });

    it('closes all that waits, on every host', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('a'), candidate('b'), candidate('c', { host: 'b.test' })]);
      const held = await lease();
      await claim(held);
      expect(await store.frontier.closeWaiting(PAGE_STATES.Skipped, 'limit: max-pages 1')).toBe(2);
      expect(store.frontier.waiting()).toBe(0);
      expect(await statesOf(harness())).toEqual({ a: 'Fetching', b: 'Skipped', c: 'Skipped' });
      expect(await store.frontier.claim(held, 1, now())).toEqual({ claims: [], nextRetryAt: null });
      expect(await store.frontier.lease(10, now(), LEASE_MS)).toEqual([]);
    });
  });
}
