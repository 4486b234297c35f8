/** A host belongs to one owner at a time; fences keep out whoever lost it. */
import { describe, expect, it } from 'vitest';
import type { RequestEntry } from '../../../src/store/host-port.ts';
import {
  beginOn,
  beginRun,
  candidate,
  HOST,
  LEASE_MS,
  type OpenRun,
  processed,
  type StoreHarness,
  statesOf,
} from './harness.ts';

export function describeLeases(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();
  /** A session of another project beside it. */
  const another = (run: OpenRun, owner = 'you') =>
    beginOn(run.opened, harness().clock, { project: owner, owner });

  describe('lease', () => {
    it('gives hosts that have pages waiting, each to one session at a time', async () => {
      const run = await beginRun(harness());
      const { store } = run;
      const you = (await another(run)).store;
      for (const each of [store, you])
        await each.frontier.offer([candidate('x'), candidate('y', { host: 'b.test' })]);
      const mine = await store.frontier.lease(10, now(), LEASE_MS);
      expect(mine.map(({ host }) => host).sort()).toEqual(['a.test', 'b.test']);
      expect(mine[0]).toMatchObject({ takenOver: false, closed: null, until: now() + LEASE_MS });
      expect(await you.frontier.lease(10, now(), LEASE_MS)).toEqual([]);
      expect(await you.frontier.leaseHost(HOST, now(), LEASE_MS)).toBeNull();
      expect(await store.frontier.leaseHost(HOST, now(), LEASE_MS)).toBeNull();
    });

    it('gives no more than asked for, and no host without waiting pages', async () => {
      const { store } = await beginRun(harness());
      await store.frontier.offer(['a', 'b', 'c'].map((name) => candidate('x', { host: `${name}.test` })));
      expect(await store.frontier.lease(2, now(), LEASE_MS)).toHaveLength(2);
      expect(await store.frontier.lease(2, now(), LEASE_MS)).toHaveLength(1);
      expect(await store.frontier.lease(2, now(), LEASE_MS)).toHaveLength(0);
    });

    it('prefers hosts that may be asked sooner', async () => {
      const { store, lease } = await beginRun(harness());
      await store.frontier.offer([candidate('x'), candidate('y', { host: 'b.test' })]);
      const slow = await lease();
      slow.state.blockedUntil = now() + 50_000;
      await store.frontier.release(slow);
      const [first] = await store.frontier.lease(1, now(), LEASE_MS);
      expect(first.host).toBe('b.test');
    });

    it('leases a host by name though nothing waits there, also one never heard of', async () => {
      const { lease } = await beginRun(harness());
      expect(await lease('new.test')).toMatchObject({ host: 'new.test', takenOver: false });
    });

    it('is durable before it resolves', async () => {
      const { store, lease } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      await lease();
      await harness().crash();
      const again = await beginRun(harness());
      // Had the lease been lost with the crash, nobody would know that the host may just have been asked.
      expect((await again.lease()).takenOver).toBe(true);
    });

    it('gives a host back with what was learned about it', async () => {
      const { store, lease } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      const held = await lease();
      const learned = {
        notBefore: now() + 700,
        blockedUntil: now() + 4000,
        consecutive429: 3,
        adaptiveMs: 750,
        averageMs: 120,
        samples: 9,
        failures: 2,
        probes: 1,
        requests: 12,
      };
      Object.assign(held.state, learned);
      await store.frontier.release(held);
      const next = await lease();
      expect(next.fence).toBeGreaterThan(held.fence);
      expect(next).toMatchObject({ takenOver: false, state: learned });
    });

    it('takes over an expired lease and says so, once', async () => {
      const run = await beginRun(harness());
      const you = (await another(run)).store;
      for (const { frontier } of [run.store, you]) await frontier.offer([candidate('x')]);
      await Promise.all([run.store.flush(), you.flush()]);
      const lost = await run.lease();
      harness().clock.advance(LEASE_MS - 1);
      expect(await you.frontier.lease(10, now(), LEASE_MS)).toEqual([]);
      harness().clock.advance(1);
      const [taken] = await you.frontier.lease(10, now(), LEASE_MS);
      expect(taken).toMatchObject({ host: HOST, takenOver: true });
      expect(taken.fence).toBeGreaterThan(lost.fence);
      await you.frontier.release(taken);
      await you.flush();
      expect((await run.lease()).takenOver).toBe(false);
    });

    it('gives no session a host of its own whose lease ran out: it is renewed, and good again', async () => {
      const { store, lease, claim, settle } = await beginRun(harness());
      await store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await lease();
      const flying = await claim(held);
      await store.flush();
      harness().clock.advance(2 * LEASE_MS);
      expect(await store.frontier.lease(10, now(), LEASE_MS)).toEqual([]);
      await store.frontier.renew([held], now() + LEASE_MS);
      expect(held.until).toBe(now() + LEASE_MS);
      await settle(held, flying);
      expect((await claim(held)).url).toContain('/y');
    });

    it('has the pages that its holder had claimed wait again', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('x')]);
      const lost = await run.lease();
      await run.claim(lost);
      await run.store.flush();
      harness().clock.advance(LEASE_MS);
      const you = (await another(run)).store;
      const taken = (await you.frontier.leaseHost(HOST, now(), LEASE_MS))!;
      expect(taken).toMatchObject({ host: HOST, takenOver: true });
      await you.frontier.release(taken);
      await you.flush();
      await run.store.frontier.renew([lost], now() + LEASE_MS);
      expect(await run.drain(await run.lease())).toEqual(['x']);
    });

    it('renews what is still held and nothing else', async () => {
      const run = await beginRun(harness());
      const { store } = run;
      const you = (await another(run)).store;
      const third = (await another(run, 'third')).store;
      const held = await run.lease();
      harness().clock.advance(LEASE_MS / 2);
      await store.frontier.renew([held], now() + LEASE_MS);
      expect(held.until).toBe(now() + LEASE_MS);
      harness().clock.advance(LEASE_MS - 1);
      expect(await you.frontier.leaseHost(HOST, now(), LEASE_MS)).toBeNull();
      harness().clock.advance(1);
      const taken = (await you.frontier.leaseHost(HOST, now(), LEASE_MS))!;
      await store.frontier.renew([held], now() + 10 * LEASE_MS);
      expect(held.until).toBe(now());
      harness().clock.advance(LEASE_MS);
      expect(taken.until).toBe(now());
      expect(await third.frontier.leaseHost(HOST, now(), LEASE_MS)).not.toBeNull();
    });
  });

  describe('a stale fence', () => {
    async function loseLease() {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('x'), candidate('y')]);
      const lost = await run.lease();
      const claim = await run.claim(lost);
      await run.store.flush();
      harness().clock.advance(LEASE_MS);
      const you = await another(run);
      const taken = (await you.store.frontier.leaseHost(HOST, now(), LEASE_MS))!;
      return { run, store: run.store, you, lost, claim, taken };
    }

    it('settles nothing: no page, no candidate, no host state', async () => {
      const { store, lost, claim } = await loseLease();
      const before = await store.run.counts();
      // Whether it knows at once, or finds out when it renews.
      await store.frontier.renew([lost], now() + LEASE_MS);
      lost.state.blockedUntil = 12_345;
      const settlement = processed(claim, { candidates: [candidate('new')] });
      expect(await store.frontier.settle(lost, settlement)).toBeNull();
      await store.flush();
      expect(await store.run.counts()).toEqual(before);
      expect(
        await harness().read("SELECT id FROM pages WHERE status_code IS NOT NULL OR url LIKE '%new'"),
      ).toEqual([]);
      expect(await harness().read('SELECT blocked_until FROM domains')).toEqual([{ blocked_until: null }]);
      expect((await harness().read('SELECT pages FROM runs'))[0].pages).toBe(0);
    });

    it('claims nothing, gives nothing back, closes nothing', async () => {
      const { store, you, lost, claim, taken } = await loseLease();
      await you.store.frontier.offer([candidate('yours')]);
      // Whether it knows at once, or finds out when it renews.
      await store.frontier.renew([lost], now() + LEASE_MS);
      expect((await store.frontier.claim(lost, 5, now())).claims).toEqual([]);
      expect(await you.drain(taken)).toEqual(['yours']);
      await store.frontier.unclaim(lost, [claim]);
      expect(await store.frontier.closeHost(lost, 7, 'network: gone')).toBe(0);
      await Promise.all([store.flush(), you.store.flush()]);
      expect(await statesOf(harness())).toEqual({ x: 'Queued', y: 'Queued', yours: 'Fetching' });
    });

    it('hides no page that waits for its time from its new holder', async () => {
      const { store, ...run } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      const old = await run.lease();
      const claim = await run.claim(old);
      const requeue = { attempts: 1, notBefore: now() + 1000, priority: null };
      await store.frontier.settle(old, processed(claim, { requeue, facts: null, countsAsPage: false }));
      await store.flush();
      const later = now() + 2 * LEASE_MS;
      const held = (await store.frontier.leaseHost(HOST, later, LEASE_MS))!;
      await store.frontier.release(old);
      const { claims } = await store.frontier.claim(held, 1, later);
      expect(claims.map(({ pageId }) => pageId)).toEqual([claim.pageId]);
    });

    it('does not release the host of its new holder', async () => {
      const { run, store, lost } = await loseLease();
      await store.frontier.release(lost);
      await store.flush();
      const third = (await another(run, 'third')).store;
      expect(await third.frontier.leaseHost(HOST, now(), LEASE_MS)).toBeNull();
    });
  });

  describe('the request log', () => {
    it('keeps every request, committed with the group it belongs to', async () => {
      const { store, lease, start } = await beginRun(harness());
      const { hostId } = await lease();
      const entry: RequestEntry = {
        kind: 'GET',
        hostId,
        pageId: null,
        slotAt: now(),
        sentAt: now() + 1.5,
        endedAt: now() + 20.5,
        delayMs: 500,
        perHost: 2,
        statusCode: 200,
        wireBytes: 1234,
        contentHash: null,
        blockedUntil: null,
        failure: null,
      };
      const [pageId] = await store.frontier.offer([candidate('x')]);
      store.hosts.log({ ...entry, pageId });
      store.hosts.log({ ...entry, kind: 'robots' });
      await store.flush();
      const log =
        'SELECT page_id, run_id, kind, sent_at, ended_at, status_code, wire_bytes FROM request ORDER BY id';
      const times = { sent_at: now() + 1.5, ended_at: now() + 20.5 };
      const rest = { run_id: start.runId, status_code: 200, wire_bytes: 1234, ...times };
      expect(await harness().read(log)).toEqual([
        { page_id: pageId, kind: 0, ...rest },
        { page_id: null, kind: 2, ...rest },
      ]);
      expect(await harness().read('SELECT requests, bytes FROM runs')).toEqual([
        { requests: 2, bytes: 2468 },
      ]);
    });
  });

  describe('robots.txt', () => {
    it('is kept by origin, bytes and all, and shared by all projects', async () => {
      const { store, lease } = await beginRun(harness());
      const { hostId } = await lease();
      expect(await store.hosts.robots('https://a.test')).toBeNull();
      const body = Uint8Array.from([0xef, 0xbb, 0xbf, 0, 255, 10]);
      const stored = {
        origin: 'https://a.test',
        status: 200,
        body,
        fetchedAt: now(),
        expiresAt: now() + 1000,
        delaySeconds: 2.5,
      };
      await store.hosts.saveRobots(hostId, stored);
      await store.hosts.saveRobots(hostId, {
        ...stored,
        origin: 'https://a.test:8443',
        status: 404,
        body: null,
      });
      await harness().crash();
      const other = await beginRun(harness(), { project: 'other' });
      const found = (await other.store.hosts.robots('https://a.test'))!;
      expect({ ...found, body: [...found.body!] }).toEqual({ ...stored, body: [...body] });
      expect(await other.store.hosts.robots('https://a.test:8443')).toMatchObject({
        status: 404,
        body: null,
      });
      await other.store.hosts.saveRobots(hostId, { ...stored, status: 503, body: null });
      expect(await other.store.hosts.robots('https://a.test')).toMatchObject({ status: 503, body: null });
    });

    it('of several origins of a host leaves it one row in the views, with the latest', async () => {
      const { store, lease } = await beginRun(harness());
      const { hostId } = await lease();
      const at = (origin: string, status: number, age: number) => ({
        ...{ origin, status, body: null, delaySeconds: null },
        ...{ fetchedAt: now() - age, expiresAt: now() + 1000 },
      });
      await store.hosts.saveRobots(hostId, at('https://a.test', 404, 5));
      await store.hosts.saveRobots(hostId, at('https://www.a.test', 403, 1));
      await store.hosts.saveRobots(hostId, at('http://a.test', 410, 9));
      await store.flush();
      expect(await harness().read("SELECT robots_status FROM domains WHERE domain = 'a.test'")).toEqual([
        { robots_status: 403 },
      ]);
      expect(await harness().read("SELECT domain FROM domain_states WHERE domain = 'a.test'")).toEqual([
        { domain: 'a.test' },
      ]);
    });
  });
}
