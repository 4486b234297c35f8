/** One opened store, many runs: sessions beside each other, of several projects, on the same hosts. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import type { RequestEntry } from '../../../src/store/host-port.ts';
import { NO_DEPTH } from '../../../src/store/settlement.ts';
import {
  beginOn,
  beginRun,
  candidate,
  HOST,
  LEASE_MS,
  links,
  linksTo,
  type OpenRun,
  processed,
  type StoreHarness,
  statesOf,
} from './harness.ts';

type Verb = () => Promise<unknown>;

export function describeSessions(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();
  const beside = (first: OpenRun, project: string) =>
    beginOn(first.opened, harness().clock, { project, owner: project });

  async function beginTwo(): Promise<[OpenRun, OpenRun]> {
    const one = await beginRun(harness(), { project: 'one', owner: 'one' });
    return [one, await beside(one, 'two')];
  }

  const request = (hostId: number): RequestEntry => ({
    ...{ kind: 'GET', hostId, pageId: null, slotAt: now(), sentAt: now(), endedAt: now() },
    ...{ delayMs: 0, perHost: 1, statusCode: 200, wireBytes: 10 },
    ...{ contentHash: null, blockedUntil: null, failure: null },
  });

  describe('sessions beside each other', () => {
    it('have pages of their own under ids of the store, and counts of their own', async () => {
      const [one, two] = await beginTwo();
      const ids: number[] = [];
      for (const name of ['a', 'b', 'c'])
        for (const { store } of [one, two])
          ids.push(...(await store.frontier.offer([candidate(name), candidate(`${name}2`, { depth: 3 })])));
      expect(new Set(ids).size).toBe(12);
      expect([one.store.frontier.waiting(), two.store.frontier.waiting()]).toEqual([6, 6]);
      // Known to the one, found by the other: each looks among its own.
      const again = await two.store.frontier.offer([candidate('a'), candidate('only two')]);
      expect(again[0]).toBe(ids[2]);
      const held = await one.lease();
      await one.visit(held, linksTo([candidate('b'), candidate('new')]));
      one.store.hosts.log(request(held.hostId));
      expect(await one.store.run.counts()).toMatchObject({ known: 7, pages: 1, requests: 1, bytes: 10 });
      expect(await two.store.run.counts()).toMatchObject({ known: 7, pages: 0, requests: 0, waiting: 7 });
      await one.store.frontier.release(held);
      await one.store.flush();
      expect(await two.drain(await two.lease())).toEqual(['a', 'a2', 'b', 'b2', 'c', 'c2', 'only two']);
    });

    it('keep their depths, limits and decisions apart', async () => {
      const [one, two] = await beginTwo();
      await one.store.frontier.offer([candidate('x', { depth: 5 })]);
      await two.store.frontier.offer([candidate('x', { depth: 2 })]);
      await one.store.frontier.offer([candidate('x', { depth: 4 })]);
      await Promise.all([one.store.flush(), two.store.flush()]);
      const rows = await harness().read('SELECT depth FROM pages ORDER BY depth');
      expect(rows).toEqual([{ depth: 2 }, { depth: 4 }]);
      expect(await one.store.run.reservePages(3, 4)).toBe(3);
      expect(await two.store.run.reservePages(3, 4)).toBe(3);
      expect(await one.store.run.reservePages(3, 4)).toBe(1);
      await one.store.run.decideMode({ mode: 'full', reason: 'one' });
      expect(await two.store.run.decideMode(null)).toBeNull();
    });

    it('begin while a page of another is in flight, which is settled as if nothing had been', async () => {
      const one = await beginRun(harness(), { project: 'one', owner: 'one' });
      await one.store.frontier.offer([candidate('x')]);
      const held = await one.lease();
      const flying = await one.claim(held);
      const two = await beside(one, 'two');
      await two.store.frontier.offer([candidate('x')]);
      await one.settle(held, flying, linksTo([candidate('y')]));
      expect(await one.drain(held)).toEqual(['y']);
      await Promise.all([one.store.flush(), two.store.flush()]);
      expect(await harness().read("SELECT status FROM runs WHERE status = 'running'")).toHaveLength(2);
    });

    it('share what is known of a host: its clock, its blocks, its robots.txt', async () => {
      const [one, two] = await beginTwo();
      const held = await one.lease();
      held.state.notBefore = now() + 7000;
      held.state.blockedUntil = now() + 9000;
      const robots = { origin: `https://${HOST}`, status: 404, body: null, delaySeconds: null };
      await one.store.hosts.saveRobots(held.hostId, {
        ...robots,
        ...{ fetchedAt: now(), expiresAt: now() + 1000 },
      });
      await one.store.frontier.release(held);
      await one.store.flush();
      const taken = await two.lease();
      expect(taken).toMatchObject({ takenOver: false });
      expect(taken.state.notBefore).toBeGreaterThanOrEqual(now() + 7000);
      expect(taken.state.blockedUntil).toBeGreaterThanOrEqual(now() + 9000);
      expect(await two.store.hosts.robots(`https://${HOST}`)).toMatchObject({ status: 404 });
    });
  });

  describe('a host that two sessions want', () => {
    it('is leased to one at a time', async () => {
      const [one, two] = await beginTwo();
      for (const { store } of [one, two]) await store.frontier.offer([candidate('x')]);
      const held = await one.lease();
      expect(await two.store.frontier.lease(5, now(), LEASE_MS)).toEqual([]);
      expect(await two.store.frontier.leaseHost(HOST, now(), LEASE_MS)).toBeNull();
      // Not over: what waits is only not ours to ask for now.
      expect(await two.store.run.isDone()).toBe(false);
      await one.store.frontier.release(held);
      await one.store.flush();
      expect(await two.drain(await two.lease())).toEqual(['x']);
    });

    it('is marked as wanted, and given back it is the turn of who waited', async () => {
      const [one, two] = await beginTwo();
      for (const { store } of [one, two]) await store.frontier.offer([candidate('x'), candidate('y')]);
      await Promise.all([one.store.flush(), two.store.flush()]);
      const held = await one.lease();
      await one.store.frontier.renew([held], now() + 2 * LEASE_MS);
      expect(held.isWanted).toBe(true);
      await one.store.frontier.release(held);
      expect(await one.store.frontier.lease(5, now(), LEASE_MS)).toEqual([]);
      const [taken] = await two.store.frontier.lease(5, now(), LEASE_MS);
      expect(taken.host).toBe(HOST);
      await two.drain(taken);
      await two.store.frontier.release(taken);
      await two.store.flush();
      expect(await one.store.frontier.lease(5, now(), LEASE_MS)).toHaveLength(1);
    });

    it('is not wanted by one that has no page there, nor by one that has left', async () => {
      const [one, two] = await beginTwo();
      await one.store.frontier.offer([candidate('x')]);
      await two.store.frontier.offer([candidate('x', { host: 'b.test' })]);
      const held = await one.lease();
      await one.store.frontier.renew([held], now() + 2 * LEASE_MS);
      expect(held.isWanted).toBeFalsy();
      await two.store.frontier.offer([candidate('x')]);
      await two.store.leave();
      await one.store.frontier.renew([held], now() + 3 * LEASE_MS);
      expect(held.isWanted).toBeFalsy();
    });

    it('is taken over by fence when its lease ran out, and its pages wait again for whoever had them', async () => {
      const [one, two] = await beginTwo();
      for (const { store } of [one, two]) await store.frontier.offer([candidate('x'), candidate('y')]);
      const lost = await one.lease();
      const flying = await one.claim(lost);
      await Promise.all([one.store.flush(), two.store.flush()]);
      harness().clock.advance(LEASE_MS + 1);
      const taken = await two.lease();
      expect(taken.takenOver).toBe(true);
      expect(taken.fence).toBeGreaterThan(lost.fence);
      // Answered at once or found out with the group: it changes nothing.
      await one.store.frontier.settle(lost, processed(flying));
      await one.store.flush();
      expect(await two.drain(taken)).toEqual(['x', 'y']);
      await two.store.frontier.release(taken);
      await two.store.flush();
      const again = await one.lease();
      expect(await one.drain(again)).toEqual(['x', 'y']);
    });
  });

  describe('the end of one session', () => {
    it('gives back its hosts, pages and permits, and leaves the others and the store as they are', async () => {
      const [one, two] = await beginTwo();
      for (const { store } of [one, two]) await store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await one.lease();
      held.state.notBefore = now() + 5000;
      await one.claim(held);
      await one.store.run.reservePages(2, 2);
      const other = await two.lease('b.test');
      await one.store.run.finish('interrupted', now(), null);
      await one.store.leave();
      const taken = await two.lease();
      expect(taken.state.notBefore).toBeGreaterThanOrEqual(now() + 5000);
      await two.visit(taken);
      await two.store.frontier.release(other);
      await two.store.frontier.release(taken);
      await two.store.flush();
      const again = await beside(one, 'one');
      expect(again.start).toMatchObject({ resumed: true, runId: one.start.runId, knownUrls: 2 });
      expect(await again.store.run.reservePages(9, 2)).toBe(2);
      harness().clock.advance(10_000);
      expect(await again.drain(await again.lease())).toEqual(['x', 'y']);
    });

    it('answers every later verb with what to do, and loses nothing', async () => {
      const [one, two] = await beginTwo();
      await one.store.frontier.offer([candidate('x')]);
      const held = await one.lease();
      const flying = await one.claim(held);
      await one.store.leave();
      await one.store.leave();
      const late: Verb[] = [
        () => one.store.frontier.settle(held, processed(flying)),
        () => one.store.frontier.offer([candidate('late')]),
        () => one.store.run.counts(),
        () => one.store.flush(),
      ];
      for (const verb of late)
        await expect(Promise.resolve().then(verb)).rejects.toMatchObject({
          code: 'session-ended',
          hint: expect.stringContaining('Start the run again'),
        });
      // A figure, for who looks at a run that is over.
      expect(one.store.frontier.waiting()).toBe(0);
      expect(() => one.store.hosts.log(request(held.hostId))).toThrow('its session has ended');
      await two.store.frontier.offer([candidate('y')]);
      await two.store.flush();
      expect(await statesOf(harness())).toEqual({ x: 'Queued', y: 'Queued' });
    });
  });

  describe('a store that is closed', () => {
    it('ends the sessions that are open: each hears so, and goes on when it begins again', async () => {
      const [one, two] = await beginTwo();
      for (const { store } of [one, two]) await store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await one.lease();
      const flying = await one.claim(held);
      await one.settle(held, await one.claim(held));
      await one.opened.close();
      const verbs: Verb[] = [
        () => one.store.frontier.settle(held, processed(flying)),
        () => two.store.frontier.claim(held, 1, now()),
        () => two.store.flush(),
        () => two.store.projects.settings('two'),
        () => one.opened.begin({ ...REQUEST, project: 'three', now: now() }),
      ];
      for (const verb of verbs)
        await expect(Promise.resolve().then(verb)).rejects.toMatchObject({
          code: 'store-closed',
          hint: expect.stringContaining('Open the store again'),
        });
      await one.store.leave();
      const again = await beginRun(harness(), { project: 'one', owner: 'one' });
      expect(again.start).toMatchObject({ resumed: true, pagesDone: 1, knownUrls: 2 });
      expect(await again.drain(await again.lease())).toEqual(['x']);
      const other = await beside(again, 'two');
      expect(other.start).toMatchObject({ resumed: true, knownUrls: 2 });
    });
  });

  describe('a crash with three sessions open', () => {
    it('loses nothing of any of them: all three go on, their hosts are taken over, each gap is marked once', async () => {
      const one = await beginRun(harness(), { project: 'one', owner: 'one' });
      const two = await beside(one, 'two');
      const three = await beside(one, 'three');
      const runs: [OpenRun, string][] = [
        [one, 'a.test'],
        [two, 'b.test'],
        [three, 'c.test'],
      ];
      for (const [run, host] of runs) {
        await run.store.frontier.offer(['x', 'y', 'z'].map((name) => candidate(name, { host })));
        const held = await run.lease(host);
        await run.visit(held, { links: links([]), ...linksTo([candidate('found', { host })]) });
        await run.claim(held);
        await run.store.flush();
      }
      await harness().crash();
      const again = await beginRun(harness(), { project: 'one', owner: 'one again' });
      const all: [OpenRun, string][] = [
        [again, 'a.test'],
        [await beginOn(again.opened, harness().clock, { project: 'two', owner: 'two again' }), 'b.test'],
        [await beginOn(again.opened, harness().clock, { project: 'three', owner: 'three again' }), 'c.test'],
      ];
      for (const [i, [run, host]] of all.entries()) {
        expect(run.start).toMatchObject({
          resumed: true,
          runId: runs[i][0].start.runId,
          pagesDone: 1,
          knownUrls: 4,
        });
        const held = await run.lease(host);
        expect(held.takenOver, host).toBe(true);
        expect(await run.drain(held), host).toEqual(['y', 'z', 'found']);
      }
      const gaps = await harness().read(
        `SELECT h.name, count(*) AS n FROM request q JOIN host h ON h.id = q.host_id WHERE q.kind = 3 GROUP BY h.name ORDER BY h.name`,
      );
      expect(gaps.map(({ name, n }) => [name, Number(n)])).toEqual([
        ['a.test', 1],
        ['b.test', 1],
        ['c.test', 1],
      ]);
    });
  });

  describe('verbs of projects while runs are under way', () => {
    it('write at once, and leave every session as it is', async () => {
      const old = await beginRun(harness(), { project: 'old', owner: 'old' });
      const [oldPage] = await old.store.frontier.offer([candidate('x', { depth: 0 }), candidate('y')]);
      await old.visit(await old.lease(), { text: new TextEncoder().encode('text') });
      await old.store.run.finish('completed', now(), null);
      await old.store.leave();
      const [one, two] = [await beside(old, 'one'), await beside(old, 'two')];
      for (const { store } of [one, two]) await store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await one.lease();
      const flying = await one.claim(held);
      const { projects } = old.opened;
      await projects.saveSettings('one', '{"delay":1}');
      await projects.saveSettings('brand new', '{}');
      expect(await projects.settings('one')).toBe('{"delay":1}');
      await projects.saveLook('old', 'me', { run: old.start.runId, at: now() });
      const batch = { count: 1, pageIds: Int32Array.of(oldPage), origins: Uint16Array.of(0) };
      await projects.saveDepths(old.start.projectId, [HOST], [{ ...batch, depths: Uint16Array.of(0) }]);
      expect(await projects.forget('old', now() + 1e9)).toMatchObject({ visits: 1 });
      const revised = await projects.revise(
        { ...REQUEST, project: 'old', configHash: 'other', now: now() },
        ({ state, depth }) =>
          state === PAGE_STATES.Queued
            ? {
                state: PAGE_STATES.Skipped,
                priority: 1,
                reason: 'exclude: y',
                depth: NO_DEPTH === depth ? null : depth,
              }
            : null,
      );
      expect(revised).toMatchObject({ waiting: 0, moves: [{ pages: 1 }] });
      expect([one.store.frontier.waiting(), two.store.frontier.waiting()]).toEqual([1, 2]);
      await one.settle(held, flying, linksTo([candidate('z')]));
      expect(await one.drain(held)).toEqual(['y', 'z']);
      await one.store.frontier.release(held);
      expect(await two.store.run.counts()).toMatchObject({ known: 2, waiting: 2 });
      const next = await beside(old, 'old');
      expect(next.start).toMatchObject({ previousConfigHash: 'other', knownUrls: 2 });
    });

    it('that a run makes impossible are refused: its pages are not judged anew under its hands', async () => {
      const one = await beginRun(harness(), { project: 'one', owner: 'one' });
      await one.store.frontier.offer([candidate('x')]);
      const revise = () => one.opened.projects.revise({ ...REQUEST, project: 'one', now: now() }, () => null);
      await expect(revise()).rejects.toMatchObject({
        code: expect.stringMatching(/^(run-under-way|project-in-use)$/),
      });
      const fresh = () => one.opened.begin({ ...REQUEST, project: 'one', fresh: true, now: now() });
      await expect(fresh()).rejects.toMatchObject({
        code: expect.stringMatching(/^(run-under-way|project-in-use)$/),
      });
      expect(await one.drain(await one.lease())).toEqual(['x']);
    });
  });
}

const REQUEST = {
  owner: 'another',
  configHash: 'hash',
  config: '{}',
  fresh: false,
  metadata: null,
};
