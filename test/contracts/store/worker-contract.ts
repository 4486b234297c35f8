/** What several workers on one run need to know of each other: whether it is over, how many pages are left, who takes part. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import type { RequestEntry } from '../../../src/store/host-port.ts';
import { beginRun, candidate, LEASE_MS, linksTo, processed, type StoreHarness } from './harness.ts';

export function describeWorkers(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();

  describe('isDone', () => {
    it('is true before anything was offered, and false while a page waits', async () => {
      const { store } = await beginRun(harness());
      expect(await store.run.isDone()).toBe(true);
      await store.frontier.offer([candidate('x')]);
      expect(await store.run.isDone()).toBe(false);
    });

    it('is false while a page is in flight, true when it is settled', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      const held = await lease();
      const flying = await claim(held);
      expect(await store.run.isDone()).toBe(false);
      await store.frontier.settle(held, processed(flying));
      expect(await store.run.isDone()).toBe(true);
    });

    it('is false while a page waits to be tried again, or was given back', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      const held = await lease();
      const requeue = { attempts: 1, notBefore: now() + 60_000, priority: null };
      await store.frontier.settle(
        held,
        processed(await claim(held), { facts: null, requeue, countsAsPage: false }),
      );
      expect(await store.run.isDone()).toBe(false);
      harness().clock.advance(60_000);
      const again = await claim(held);
      await store.frontier.unclaim(held, [again]);
      expect(await store.run.isDone()).toBe(false);
    });

    it('is false while a lowered depth has not reached the links', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('top', { depth: 0 }), candidate('deep', { depth: 5 })]);
      const held = await lease();
      await visit(held);
      await visit(held, linksTo([candidate('leaf', { depth: 6 })]));
      await visit(held);
      expect(await store.run.isDone()).toBe(true);
      await store.frontier.offer([candidate('deep', { depth: 1 })]);
      await store.flush();
      expect(await store.run.isDone()).toBe(false);
      while ((await store.frontier.lowerDepths(10)) !== null);
      expect(await store.run.isDone()).toBe(true);
    });

    it('does not look at other projects', async () => {
      const other = await beginRun(harness(), { project: 'other' });
      await other.store.frontier.offer([candidate('x')]);
      await other.store.close();
      const { store } = await beginRun(harness());
      expect(await store.run.isDone()).toBe(true);
    });
  });

  describe('permits for pages', () => {
    it('are given up to the limit, and no more', async () => {
      const { store } = await beginRun(harness());
      expect(await store.run.reservePages(4, 10)).toBe(4);
      expect(await store.run.reservePages(4, 10)).toBe(4);
      expect(await store.run.reservePages(4, 10)).toBe(2);
      expect(await store.run.reservePages(4, 10)).toBe(0);
    });

    it('that were given back can be had again', async () => {
      const { store } = await beginRun(harness());
      await store.run.reservePages(10, 10);
      await store.run.returnPages(3);
      expect(await store.run.reservePages(10, 10)).toBe(3);
    });

    it('are used up by pages that count, and by no others', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await lease();
      expect(await store.run.reservePages(2, 3)).toBe(2);
      await visit(held);
      await visit(held, {
        countsAsPage: false,
        state: PAGE_STATES.Skipped,
        reason: 'robots: /',
        facts: null,
      });
      await store.run.returnPages(1);
      expect(await store.run.reservePages(9, 3)).toBe(2);
      await store.flush();
      await store.run.returnPages(2);
      expect(await store.run.reservePages(9, 3)).toBe(2);
    });

    it('count what the run had done before it went on, and not what a dead worker was permitted', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x'), candidate('y')]);
      await first.store.run.reservePages(5, 5);
      await first.visit(await first.lease());
      await first.store.run.finish('interrupted', now(), null);
      await first.store.close();
      const again = await beginRun(harness(), { owner: 'another' });
      expect(await again.store.run.reservePages(9, 5)).toBe(4);
    });
  });

  describe('join', () => {
    it('takes part in a run that is under way, with the options it was begun with', async () => {
      const first = await beginRun(harness(), { config: '{"delay":2}', metadata: '{"why":"1"}' });
      await first.store.frontier.offer([candidate('x'), candidate('y')]);
      await first.visit(await first.lease());
      await first.store.flush();
      await harness().crash();
      const store = (await (await harness().open()).join(first.start.runId, 'another'))!;
      const { project, config, metadata, start } = store;
      expect({ project, config, metadata, start }).toEqual({
        project: 'p',
        config: '{"delay":2}',
        metadata: '{"why":"1"}',
        start: {
          runId: first.start.runId,
          projectId: first.start.projectId,
          resumed: true,
          previousConfigHash: 'hash',
          pagesDone: 1,
          requestsDone: 0,
          bytesDone: 0,
          knownUrls: 2,
        },
      });
      harness().clock.advance(2 * LEASE_MS); // whoever had the host is gone
      const held = await store.frontier.leaseHost('a.test', now(), LEASE_MS);
      const { claims } = await store.frontier.claim(held!, 5, now());
      expect(claims.map(({ url }) => url.split('/').pop())).toEqual(['y']);
      expect(await store.frontier.settle(held!, processed(claims[0]))).not.toBeNull();
      expect(await store.run.isDone()).toBe(true);
    });

    it('answers null for a run that is over, was interrupted, or never was', async () => {
      const first = await beginRun(harness(), { project: 'one' });
      await first.store.run.finish('completed', now(), null);
      await first.store.close();
      const second = await beginRun(harness(), { project: 'two' });
      await second.store.run.finish('interrupted', now(), null);
      await second.store.close();
      const store = await harness().open();
      for (const runId of [first.start.runId, second.start.runId, 4711])
        expect(await store.join(runId, 'another')).toBeNull();
    });

    it('answers null while whoever began the run has not judged the known pages', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x')]);
      await first.visit(await first.lease());
      await first.store.run.finish('completed', now(), null);
      await first.store.close();
      const second = await beginRun(harness());
      await harness().crash();
      const early = await harness().open();
      expect(await early.join(second.start.runId, 'another')).toBeNull();
      await early.close();
      const again = await beginRun(harness());
      await again.store.frontier.reconsider(() => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }));
      await again.store.flush();
      await harness().crash();
      const late = await harness().open();
      expect(await late.join(second.start.runId, 'another')).toMatchObject({ start: { knownUrls: 1 } });
    });
  });

  describe('finish', () => {
    it('answers the status that the run has then', async () => {
      for (const status of ['interrupted', 'failed', 'completed'] as const) {
        const { store } = await beginRun(harness(), { project: status });
        expect(await store.run.finish(status, now(), null)).toBe(status);
        await store.close();
      }
    });
  });

  describe('notes', () => {
    it('are kept with the run, also when it goes on without new ones', async () => {
      const first = await beginRun(harness(), { metadata: '{"ticket":"42"}' });
      await first.store.run.finish('interrupted', now(), null);
      await first.store.close();
      const again = await beginRun(harness());
      expect(await harness().read('SELECT metadata FROM runs')).toEqual([{ metadata: '{"ticket":"42"}' }]);
      await again.store.run.finish('interrupted', now(), null);
      await again.store.close();
      const changed = await beginRun(harness(), { metadata: '{"ticket":"43"}' });
      expect(await harness().read('SELECT metadata FROM runs')).toEqual([{ metadata: '{"ticket":"43"}' }]);
      await changed.store.run.finish('completed', now(), null);
      await changed.store.close();
      await beginRun(harness());
      const runs = await harness().read('SELECT metadata FROM runs ORDER BY id');
      expect(runs).toEqual([{ metadata: '{"ticket":"43"}' }, { metadata: null }]);
    });
  });

  describe('counts', () => {
    it('tell the pages, requests and bytes of the run, and of no other', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x')]);
      await first.visit(await first.lease());
      await first.store.run.finish('completed', now(), null);
      await first.store.close();
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('y'), candidate('z')]);
      const held = await lease();
      await visit(held);
      const entry: RequestEntry = {
        kind: 'GET',
        hostId: held.hostId,
        pageId: null,
        slotAt: now(),
        sentAt: now(),
        endedAt: now(),
        delayMs: 0,
        perHost: 1,
        statusCode: 200,
        wireBytes: 120,
        contentHash: null,
        blockedUntil: null,
        failure: null,
      };
      store.hosts.log(entry);
      store.hosts.log({ ...entry, kind: 'robots', wireBytes: 3 });
      await store.flush();
      expect(await store.run.counts()).toMatchObject({
        pages: 1,
        requests: 2,
        bytes: 123,
        known: 3,
        waiting: 1,
      });
    });
  });

  describe('the clock', () => {
    it('is the one that all times of the store are of', async () => {
      const { store, lease } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      const { until } = await lease();
      expect(until).toBeGreaterThan(store.clock.now());
      expect(store.clock.now()).toBeCloseTo(now(), -2);
    });
  });
}
