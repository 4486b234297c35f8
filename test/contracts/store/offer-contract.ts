/** Identity and offering: one row a URL, ids from the store, projects apart. */
import { describe, expect, it } from 'vitest';
import { beginRun, candidate, linksTo, pagesOf, refused, type StoreHarness, url } from './harness.ts';

export function describeOffers(harness: () => StoreHarness): void {
  describe('offer', () => {
    it('gives every new URL an id of its own and the same id to a known one', async () => {
      const { store } = await beginRun(harness());
      const first = await store.frontier.offer([candidate('x'), candidate('y'), candidate('x')]);
      expect(new Set(first).size).toBe(2);
      expect(first[2]).toBe(first[0]);
      expect(await store.frontier.offer([candidate('y'), candidate('z')])).toEqual([
        first[1],
        expect.any(Number),
      ]);
      await store.flush();
      expect(await harness().read('SELECT url FROM pages ORDER BY id')).toEqual([
        { url: url('x') },
        { url: url('y') },
        { url: url('z') },
      ]);
    });

    it('keeps the ids when the store is opened again', async () => {
      const { store } = await beginRun(harness());
      const ids = await store.frontier.offer([candidate('x'), candidate('y')]);
      await store.close();
      const again = await beginRun(harness());
      expect(await again.store.frontier.offer([candidate('y'), candidate('x')])).toEqual([ids[1], ids[0]]);
      const [fresh] = await again.store.frontier.offer([candidate('z')]);
      expect(ids).not.toContain(fresh);
    });

    it('keeps state, reason, priority, depth and the URL really asked of what it is given', async () => {
      const { store } = await beginRun(harness());
      await store.frontier.offer([
        refused('x', 'Skipped', 'exclude: /x/', { priority: 2, depth: 3, fetchUrl: 'http://www.a.test/x' }),
      ]);
      await store.flush();
      const { x } = await pagesOf(harness());
      expect(x).toMatchObject({
        state: 'Skipped',
        reason: 'exclude: /x/',
        priority: 2,
        depth: 3,
        host: 'a.test',
      });
      expect(x.fetch_url).toBe('http://www.a.test/x');
    });

    it('lets a known page keep the shallower depth, whichever came first', async () => {
      const { store } = await beginRun(harness());
      await store.frontier.offer([candidate('x', { depth: 5 }), candidate('y', { depth: 2 })]);
      await store.frontier.offer([candidate('x', { depth: 2 }), candidate('y', { depth: 5 })]);
      await store.flush();
      const { x, y } = await pagesOf(harness());
      expect([x.depth, y.depth]).toEqual([2, 2]);
    });

    it('queues a known page that the scope had shut out and lets in now', async () => {
      const { store, lease, drain } = await beginRun(harness());
      await store.frontier.offer([
        refused('x', 'Skipped', 'exclude: x'),
        refused('y', 'DepthExceeded', 'depth: 1 > 0'),
        refused('z', 'Skipped', 'exclude: z'),
      ]);
      await store.frontier.offer([
        candidate('x', { priority: 2, reopens: true }),
        candidate('y', { priority: 0, reopens: true }),
      ]);
      await store.frontier.offer([{ ...refused('z', 'Skipped', 'exclude: other'), reopens: true }]);
      expect(store.frontier.waiting()).toBe(2);
      expect(await drain(await lease())).toEqual(['y', 'x']);
      await store.flush();
      expect((await pagesOf(harness())).z).toMatchObject({ state: 'Skipped', reason: 'exclude: z' });
    });

    it('does not queue again what was asked, what waits, or what a page merely links to', async () => {
      const { store, lease, claim, visit, drain } = await beginRun(harness());
      await store.frontier.offer([candidate('asked'), candidate('flying'), candidate('waiting')]);
      const held = await lease();
      await visit(held, linksTo([refused('shut', 'Skipped', 'exclude: s', { host: 'b.test' })]));
      await claim(held);
      await store.frontier.offer([
        candidate('asked'),
        candidate('flying'),
        candidate('waiting'),
        candidate('last'),
      ]);
      expect((await visit(held, linksTo([candidate('shut', { host: 'b.test' })]))).url).toMatch(/waiting$/);
      expect(await drain(held)).toEqual(['last']);
      await store.flush();
      expect((await pagesOf(harness())).shut).toMatchObject({ state: 'Skipped', reason: 'exclude: s' });
    });

    it('takes a depth of 255 and more for what it is', async () => {
      const { store } = await beginRun(harness());
      await store.frontier.offer([candidate('x', { depth: 255 }), candidate('y', { depth: 256 })]);
      await store.frontier.offer([candidate('x', { depth: 300 }), candidate('y', { depth: 300 })]);
      await store.flush();
      const { x, y } = await pagesOf(harness());
      expect([x.depth, y.depth]).toEqual([255, 256]);
      const shown = await harness().read('SELECT depth FROM page_depths ORDER BY page_id');
      expect(shown).toEqual([{ depth: 255 }, { depth: 256 }]);
    });

    it('counts what is known, what waits and each state, at once', async () => {
      const { store } = await beginRun(harness());
      await store.frontier.offer([candidate('x'), candidate('y'), refused('z', 'Skipped', 'exclude: z')]);
      expect(await store.run.counts()).toMatchObject({
        byState: { Queued: 2, Skipped: 1 },
        waiting: 2,
        known: 3,
      });
      expect(store.frontier.waiting()).toBe(2);
    });

    it('keeps thousands of URLs of many hosts apart', async () => {
      const { store } = await beginRun(harness());
      const many = Array.from({ length: 3000 }, (_, i) => candidate(`p${i}`, { host: `h${i % 50}.test` }));
      const ids = await store.frontier.offer(many);
      expect(new Set(ids).size).toBe(3000);
      expect(await store.frontier.offer(many)).toEqual(ids);
      expect((await store.run.counts()).known).toBe(3000);
    });
  });

  describe('two projects in one store', () => {
    it('share hosts, not pages', async () => {
      const first = await beginRun(harness(), { project: 'one' });
      await first.store.frontier.offer([candidate('x')]);
      const lease = await first.lease();
      lease.state.blockedUntil = 99_000;
      lease.state.consecutive429 = 2;
      await first.visit(lease);
      await first.store.frontier.release(lease);
      await first.store.run.finish('completed', harness().clock.now(), null);
      await first.store.close();

      const second = await beginRun(harness(), { project: 'two' });
      expect(second.start).toMatchObject({ resumed: false, knownUrls: 0, pagesDone: 0 });
      expect((await second.store.run.counts()).known).toBe(0);
      await second.store.frontier.offer([candidate('x')]);
      const shared = await second.lease();
      expect(shared.hostId).toBe(lease.hostId);
      expect(shared.state).toMatchObject({ blockedUntil: 99_000, consecutive429: 2 });
      expect((await second.claim(shared)).last).toBeNull();
    });

    it('do not end or lose what the other left in flight', async () => {
      const first = await beginRun(harness(), { project: 'one' });
      await first.store.frontier.offer([candidate('x'), candidate('y')]);
      const lease = await first.lease();
      await first.claim(lease);
      await first.claim(lease);
      await first.store.flush();
      await harness().crash();

      const second = await beginRun(harness(), { project: 'two' });
      await second.store.frontier.offer([candidate('z')]);
      expect(await second.drain(await second.lease())).toEqual(['z']);
      await second.store.close();

      const again = await beginRun(harness(), { project: 'one' });
      expect(again.start.resumed).toBe(true);
      const leases = await again.store.frontier.lease(10, harness().clock.now(), 60_000);
      expect(leases).toHaveLength(1);
      expect(await again.drain(leases[0])).toEqual(['x', 'y']);
    });
  });
}
