/** The life of projects and runs. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import type { Reconsidered } from '../../../src/store/frontier-port.ts';
import { UNFOLLOWED } from '../../../src/store/settlement.ts';
import { LOOKUP_NOTES } from '../../../src/store/unfinished-run.ts';
import {
  beginRun,
  candidate,
  LEASE_MS,
  linksTo,
  pagesOf,
  refused,
  type StoreHarness,
  statesOf,
  url,
} from './harness.ts';

export function describeRuns(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();

  describe('begin', () => {
    it('starts a project with its first run', async () => {
      const { start } = await beginRun(harness());
      expect(start).toEqual({
        runId: expect.any(Number),
        projectId: expect.any(Number),
        resumed: false,
        previousConfigHash: null,
        pagesDone: 0,
        requestsDone: 0,
        bytesDone: 0,
        knownUrls: 0,
      });
      expect(await harness().read('SELECT project, status, config_hash, finished_at FROM runs')).toEqual([
        { project: 'p', status: 'running', config_hash: 'hash', finished_at: null },
      ]);
    });

    it('goes on with an interrupted run', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await first.lease();
      await first.visit(held);
      await first.store.frontier.release(held);
      await first.store.run.finish('interrupted', now(), null);
      await first.store.close();
      const again = await beginRun(harness(), { configHash: 'other' });
      expect(again.start).toMatchObject({
        runId: first.start.runId,
        resumed: true,
        previousConfigHash: 'hash',
        pagesDone: 1,
        knownUrls: 2,
      });
      const lease = await again.lease();
      expect(lease.takenOver).toBe(false);
      expect(await again.drain(lease)).toEqual(['y']);
      expect(await harness().read('SELECT status, config_hash, finished_at FROM runs')).toEqual([
        { status: 'running', config_hash: 'other', finished_at: null },
      ]);
    });

    it('goes on after a crash: pages in flight wait again, their hosts are taken over, the gap is marked', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x'), candidate('y'), candidate('z', { host: 'b.test' })]);
      const held = await first.lease();
      await first.claim(held);
      await first.store.flush();
      await harness().crash();
      const again = await beginRun(harness());
      expect(again.start).toMatchObject({ resumed: true, runId: first.start.runId });
      expect(await statesOf(harness())).toEqual({ x: 'Queued', y: 'Queued', z: 'Queued' });
      expect(again.store.frontier.waiting()).toBe(3);
      const leases = await again.store.frontier.lease(10, now(), LEASE_MS);
      const takenOver = Object.fromEntries(leases.map(({ host, takenOver }) => [host, takenOver]));
      expect(takenOver).toEqual({ 'a.test': true, 'b.test': false });
      expect(await again.drain(leases.find(({ host }) => host === 'a.test')!)).toEqual(['x', 'y']);
    });

    it('crashed again and again, loses nothing', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer(Array.from({ length: 20 }, (_, i) => candidate(`p${i}`)));
      await first.store.flush();
      for (let crash = 0; crash < 8; crash++) {
        await harness().crash();
        const run = await beginRun(harness());
        const held = await run.lease();
        await run.visit(held, linksTo([candidate(`n${crash}`)]));
        await run.claim(held);
        await run.store.flush();
        await run.visit(held, linksTo([candidate(`lost${crash}`)]));
      }
      await harness().crash();
      const last = await beginRun(harness());
      expect(last.start).toMatchObject({ pagesDone: 8, knownUrls: 28 });
      expect(await last.drain(await last.lease())).toHaveLength(20);
    });

    it('goes on with no run that sumi sitemap left behind, and ends it', async () => {
      const crawl = await beginRun(harness());
      await crawl.store.run.finish('completed', now(), null);
      await crawl.store.close();
      const interrupted = await beginRun(harness(), { metadata: LOOKUP_NOTES });
      await interrupted.store.run.finish('interrupted', now(), null);
      await interrupted.store.close();
      const killed = await beginRun(harness(), { metadata: LOOKUP_NOTES });
      await harness().crash();
      const next = await beginRun(harness());
      expect(next.start).toMatchObject({ resumed: false, previousConfigHash: 'hash' });
      const ids = [crawl, interrupted, killed, next].map(({ start }) => start.runId);
      expect(new Set(ids).size).toBe(4);
      expect(await harness().read('SELECT id, status FROM runs ORDER BY id')).toEqual(
        ['completed', 'interrupted', 'interrupted', 'running'].map((status, at) => ({ id: ids[at], status })),
      );
    });

    it('starts a new run after a finished one, which knows the pages', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x')]);
      const held = await first.lease();
      held.state.requests = 5;
      held.state.failures = 9;
      held.state.probes = 6;
      await first.visit(held);
      await first.store.frontier.release(held);
      await first.store.run.finish('completed', now(), null);
      await first.store.close();
      const second = await beginRun(harness());
      expect(second.start).toMatchObject({
        resumed: false,
        previousConfigHash: 'hash',
        pagesDone: 0,
        knownUrls: 1,
      });
      expect(second.start.runId).toBeGreaterThan(first.start.runId);
      // Counted by run: requests made, and the probes after which a host is given up.
      expect((await second.lease()).state).toMatchObject({ requests: 0, failures: 9, probes: 0 });
      const runs = await harness().read('SELECT status, finished_at FROM runs ORDER BY id');
      expect(runs.map(({ status }) => status)).toEqual(['completed', 'running']);
      expect(runs[0].finished_at).toBe('2026-01-01T00:00:00.000Z');
    });

    it('begins a new run once more when it was killed before the known pages were judged', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x')]);
      await first.visit(await first.lease());
      await first.store.run.finish('completed', now(), null);
      await first.store.close();
      const killed = await beginRun(harness(), { configHash: 'other' });
      await harness().crash();
      const second = await beginRun(harness(), { configHash: 'other' });
      expect(second.start).toMatchObject({
        runId: killed.start.runId,
        resumed: false,
        previousConfigHash: 'hash',
        pagesDone: 0,
      });
      await second.store.frontier.reconsider(() => ({
        state: PAGE_STATES.Queued,
        priority: 1,
        reason: null,
      }));
      await second.store.flush();
      await harness().crash();
      const third = await beginRun(harness(), { configHash: 'other' });
      expect(third.start).toMatchObject({
        runId: killed.start.runId,
        resumed: true,
        previousConfigHash: 'other',
      });
      expect(await third.drain(await third.lease())).toEqual(['x']);
    });

    it('opens hosts that a limit had closed when the configuration changed, and only those', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x'), candidate('y', { host: 'b.test' })]);
      await first.store.frontier.closeHost(
        await first.lease(),
        PAGE_STATES.RequestLimitHit,
        'limit: max-domain-requests 1',
      );
      await first.store.frontier.closeHost(
        await first.lease('b.test'),
        PAGE_STATES.Unreachable,
        'network: no answer',
      );
      await first.store.run.finish('interrupted', now(), null);
      await first.store.close();
      const same = await beginRun(harness());
      expect((await same.lease()).closed).not.toBeNull();
      await same.store.close();
      const again = await beginRun(harness(), { configHash: 'other' });
      expect((await again.lease()).closed).toBeNull();
      expect((await again.lease('b.test')).closed).not.toBeNull();
    });

    it('says how much the run had done when it goes on', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await first.lease();
      await first.visit(held);
      const times = { slotAt: now(), sentAt: now(), endedAt: now(), delayMs: 0, perHost: 1 };
      const rest = { pageId: null, statusCode: 200, contentHash: null, blockedUntil: null, failure: null };
      for (const wireBytes of [100, 23])
        first.store.hosts.log({ kind: 'GET', hostId: held.hostId, wireBytes, ...times, ...rest });
      await first.store.flush();
      await harness().crash();
      const again = await beginRun(harness());
      expect(again.start).toMatchObject({ resumed: true, pagesDone: 1, requestsDone: 2, bytesDone: 123 });
    });

    it('keeps why a run failed', async () => {
      const { store } = await beginRun(harness());
      await store.run.finish('failed', now(), 'no answer');
      expect(await harness().read('SELECT status, error FROM runs')).toEqual([
        { status: 'failed', error: 'no answer' },
      ]);
    });

    it('made fresh closes the old run and clears its pages, not the clocks of hosts, nor other projects', async () => {
      const other = await beginRun(harness(), { project: 'other' });
      await other.store.frontier.offer([candidate('x'), candidate('kept')]);
      await other.visit(await other.lease('c.test').then(() => other.lease()), linksTo([candidate('kept2')]));
      await other.store.flush();
      await harness().crash();

      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await first.lease();
      held.state.blockedUntil = now() + 77_000;
      await first.visit(held, linksTo([candidate('z')]));
      const robots = {
        origin: 'https://a.test',
        status: 200,
        body: null,
        fetchedAt: now(),
        expiresAt: now() + 1,
        delaySeconds: 2.5,
      };
      await first.store.hosts.saveRobots(held.hostId, robots);
      await first.store.frontier.release(held);
      await first.store.run.finish('interrupted', now(), null);
      await first.store.close();

      const fresh = await beginRun(harness(), { fresh: true });
      expect(fresh.start).toMatchObject({ resumed: false, knownUrls: 0, pagesDone: 0 });
      expect(fresh.start.runId).toBeGreaterThan(first.start.runId);
      expect(await fresh.store.run.counts()).toEqual({
        byState: {},
        waiting: 0,
        known: 0,
        pages: 0,
        requests: 0,
        bytes: 0,
        ledger: [],
        leftOut: 0,
        averageChangeFrequency: 0,
      });
      await fresh.store.frontier.offer([candidate('x')]);
      const lease = await fresh.lease();
      expect(lease.state.blockedUntil).toBe(now() + 77_000);
      expect(await fresh.store.hosts.robots('https://a.test')).toEqual(robots);
      expect(await fresh.drain(lease)).toEqual(['x']);
      const rows = await harness().read(
        'SELECT url FROM pages WHERE project_id <> (SELECT max(project_id) FROM pages) ORDER BY url',
      );
      expect(rows.map((row) => row.url)).toEqual([url('kept'), url('kept2'), url('x')]);
      const runs = await harness().read("SELECT status FROM runs WHERE project = 'p' ORDER BY id");
      expect(runs.map(({ status }) => status)).toEqual(['failed', 'running']);
    });

    it('made fresh after a crash forgets the pages in flight too', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('x'), candidate('y')]);
      await first.claim(await first.lease());
      await first.store.flush();
      await harness().crash();
      const fresh = await beginRun(harness(), { fresh: true });
      await fresh.store.frontier.offer([candidate('new')]);
      const held = await fresh.lease();
      expect(held.takenOver).toBe(true);
      expect(await fresh.drain(held)).toEqual(['new']);
      expect(fresh.store.frontier.waiting()).toBe(0);
    });
  });

  describe('reconsider', () => {
    it('puts every page that is not in flight before the judge, and does what he says', async () => {
      const { store, lease, claim, visit, drain } = await beginRun(harness());
      await store.frontier.offer([
        candidate('flying', { priority: 0 }),
        candidate('read', { priority: 0 }),
        candidate('left'),
        candidate('shut', { fetchUrl: 'http://a.test/shut', depth: 3 }),
        refused('opened', 'Skipped', 'exclude: o', { host: 'b.test' }),
      ]);
      const held = await lease();
      await claim(held);
      await visit(held);
      const seen: Reconsidered[] = [];
      const changed = await store.frontier.reconsider((row) => {
        seen.push(row);
        if (row.url.endsWith('shut'))
          return { state: PAGE_STATES.Skipped, priority: 2, reason: 'exclude: s' };
        if (row.url.endsWith('left')) return null;
        return { state: PAGE_STATES.Queued, priority: 0, reason: null };
      });
      expect(changed).toBe(3);
      expect(seen.map((row) => row.url.split('/').pop())).toEqual(['read', 'left', 'shut', 'opened']);
      expect(seen[2]).toMatchObject({
        url: url('shut'),
        fetchUrl: 'http://a.test/shut',
        host: 'a.test',
        depth: 3,
        state: PAGE_STATES.Queued,
        reason: null,
      });
      expect(seen[3]).toMatchObject({ state: PAGE_STATES.Skipped, reason: 'exclude: o' });
      expect(store.frontier.waiting()).toBe(3);
      expect(await drain(held)).toEqual(['read', 'left']);
      expect(await drain(await lease('b.test'))).toEqual(['opened']);
      await store.flush();
      expect((await pagesOf(harness())).shut).toMatchObject({ state: 'Skipped', reason: 'exclude: s' });
    });

    it('judges more pages than it reads at once, each once, and they wait in their order', async () => {
      const { store, lease } = await beginRun(harness());
      const names = Array.from({ length: 2300 }, (_, i) => `n${i}`);
      await store.frontier.offer(names.map((name) => candidate(name)));
      const seen: string[] = [];
      await store.frontier.reconsider(({ url }) => {
        seen.push(url.split('/').pop()!);
        return { state: PAGE_STATES.Queued, priority: 0, reason: null };
      });
      expect(seen).toEqual(names);
      expect(store.frontier.waiting()).toBe(names.length);
      const held = await lease();
      const claimed: string[] = [];
      for (;;) {
        const { claims } = await store.frontier.claim(held, 100, now());
        if (claims.length === 0) break;
        claimed.push(...claims.map(({ url }) => url.split('/').pop()!));
      }
      expect(claimed).toEqual(names);
    });

    it('does not touch other projects', async () => {
      const first = await beginRun(harness(), { project: 'one' });
      await first.store.frontier.offer([candidate('x')]);
      await first.store.close();
      const second = await beginRun(harness(), { project: 'two' });
      await second.store.frontier.offer([candidate('y')]);
      const verdict = { state: PAGE_STATES.Skipped, priority: 1, reason: 'exclude: all' };
      expect(await second.store.frontier.reconsider(() => verdict)).toBe(1);
      await second.store.flush();
      expect(await statesOf(harness())).toEqual({ x: 'Queued', y: 'Skipped' });
    });

    it('gives every page its depth, also one that only nofollow links led to', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('a', { depth: 2 })]);
      const hidden = refused('hidden', 'Skipped', 'nofollow: link', { onlyNofollow: true, depth: 3 });
      await visit(await lease(), linksTo([hidden], [1 | UNFOLLOWED]));
      const seen: Reconsidered[] = [];
      await store.frontier.reconsider((row) => {
        seen.push(row);
        return { state: PAGE_STATES.Queued, priority: 1, reason: null };
      });
      expect(seen.find((row) => row.url === hidden.url)).toMatchObject({
        depth: 3,
        reason: 'nofollow: link',
      });
      await store.flush();
      expect((await pagesOf(harness())).hidden).toMatchObject({ state: 'Queued', depth: 3 });
    });
  });
}
