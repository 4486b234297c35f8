/** Chains: content lives on the target's row, everybody on the way learns how it ended. */
import { describe, expect, it } from 'vitest';
import type { Claim } from '../../../src/frontier/candidate.ts';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import type { HostLease } from '../../../src/store/host-port.ts';
import {
  beginRun,
  candidate,
  facts,
  linksTo,
  type OpenRun,
  pagesOf,
  processed,
  redirecting,
  refused,
  type StoreHarness,
  touch,
  url,
} from './harness.ts';

export function describeRedirects(harness: () => StoreHarness): void {
  /** The pages of a list redirect one to the next; answers the claim of the last one. */
  async function redirectAlong(run: OpenRun, held: HostLease, names: string[], maxHops = 10): Promise<Claim> {
    await run.store.frontier.offer([candidate(names[0])]);
    for (let i = 0; i + 1 < names.length; i++) {
      const claim = await run.claim(held);
      expect(claim.url).toBe(url(names[i]));
      await run.store.frontier.settle(
        held,
        redirecting(claim, candidate(names[i + 1], { priority: -1 }), maxHops),
      );
    }
    return run.claim(held);
  }

  describe('redirects', () => {
    it('end at the target: every source learns final_url and redirect_count', async () => {
      const run = await beginRun(harness());
      const held = await run.lease();
      const last = await redirectAlong(run, held, ['a', 'b', 'c']);
      expect(last.hops).toBe(2);
      await run.store.frontier.settle(held, processed(last));
      await run.store.flush();
      const { a, b, c } = await pagesOf(harness());
      expect(a).toMatchObject({
        state: 'Processed',
        status_code: 301,
        final_url: url('c'),
        redirect_count: 2,
      });
      expect(b).toMatchObject({
        state: 'Processed',
        status_code: 301,
        final_url: url('c'),
        redirect_count: 1,
      });
      expect(c).toMatchObject({ state: 'Processed', status_code: 200, final_url: null, redirect_count: 0 });
    });

    it('to another spelling of the page, where it was read, give it that address, and the end of its chains', async () => {
      const run = await beginRun(harness());
      const held = await run.lease();
      const last = await redirectAlong(run, held, ['a', 'b']);
      const moved = { ...last, fetchUrl: url('b/'), isMoved: true };
      await run.store.frontier.settle(held, processed(moved));
      await run.store.frontier.offer([candidate('c')]);
      const failed = { ...(await run.claim(held)), fetchUrl: url('c/'), isMoved: true };
      await run.store.frontier.settle(held, {
        ...processed(failed),
        state: PAGE_STATES.DeadLink,
        reason: 'http: 404',
      });
      await run.store.flush();
      const { a, b, c } = await pagesOf(harness());
      expect(a).toMatchObject({ final_url: url('b/'), redirect_count: 1 });
      expect(b).toMatchObject({ url: url('b'), fetch_url: url('b/') });
      expect(c).toMatchObject({ url: url('c'), fetch_url: url('c') });
    });

    it('go through a crash in the middle of a chain', async () => {
      const run = await beginRun(harness());
      const held = await run.lease();
      await redirectAlong(run, held, ['a', 'b', 'c']);
      await run.store.flush();
      await harness().crash();
      const again = await beginRun(harness());
      const lease = await again.lease();
      const last = await again.claim(lease);
      expect(last).toMatchObject({ url: url('c'), hops: 2 });
      await again.store.frontier.settle(lease, processed(last));
      await again.store.flush();
      expect((await pagesOf(harness())).a).toMatchObject({ final_url: url('c'), redirect_count: 2 });
    });

    it('end also when the target failed: the source says where it led', async () => {
      const run = await beginRun(harness());
      const held = await run.lease();
      const last = await redirectAlong(run, held, ['a', 'b']);
      const dead = { state: PAGE_STATES.DeadLink, reason: 'http: 404', facts: facts({ statusCode: 404 }) };
      await run.store.frontier.settle(held, processed(last, dead));
      await run.store.flush();
      const { a, b } = await pagesOf(harness());
      expect(a).toMatchObject({ state: 'Processed', final_url: url('b'), redirect_count: 1 });
      expect(b).toMatchObject({ state: 'DeadLink' });
    });

    it('to a page that is known already end at once', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('target'), candidate('a')]);
      const held = await run.lease();
      await run.visit(held);
      await run.store.frontier.settle(held, redirecting(await run.claim(held), candidate('target')));
      await run.store.flush();
      expect((await pagesOf(harness())).a).toMatchObject({ final_url: url('target'), redirect_count: 1 });
    });

    it('to a page that is just being fetched learn how it ended', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('target'), candidate('a')]);
      const held = await run.lease();
      const target = await run.claim(held);
      await run.store.frontier.settle(held, redirecting(await run.claim(held), candidate('target')));
      await run.store.frontier.settle(held, processed(target));
      await run.store.flush();
      expect((await pagesOf(harness())).a).toMatchObject({ final_url: url('target'), redirect_count: 1 });
    });

    it('to a page whose own redirect is known walk to where that one stands', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('b')]);
      const held = await run.lease();
      await run.store.frontier.settle(
        held,
        redirecting(await run.claim(held), candidate('c', { host: 'b.test' })),
      );
      await run.store.frontier.offer([candidate('a')]);
      await run.store.frontier.settle(held, redirecting(await run.claim(held), candidate('b')));
      const other = await run.lease('b.test');
      const last = await run.claim(other);
      expect(last.hops).toBe(2);
      await run.store.frontier.settle(other, processed(last));
      await run.store.flush();
      const { a, b } = await pagesOf(harness());
      expect(a).toMatchObject({ final_url: url('c', 'b.test'), redirect_count: 2 });
      expect(b).toMatchObject({ final_url: url('c', 'b.test'), redirect_count: 1 });
    });

    it.each([
      ['Failed', 'http: 500'],
      ['Unreachable', 'network: refused'],
    ] as const)(
      'to a page that was a redirect and is %s now end there, whoever is asked first',
      async (state, reason) => {
        const run = await beginRun(harness());
        const [b] = await run.store.frontier.offer([candidate('b')]);
        const held = await run.lease();
        await run.store.frontier.settle(held, redirecting(await run.claim(held), candidate('c')));
        await run.visit(held);
        await run.store.frontier.requeue([b], 5);
        const failed = { facts: null, touch: touch({ statusCode: null, error: reason }), reason };
        await run.visit(held, { ...failed, state: PAGE_STATES[state] });
        await run.store.frontier.offer([candidate('a')]);
        const settled = await run.store.frontier.settle(
          held,
          redirecting(await run.claim(held), candidate('b')),
        );
        expect(settled).toMatchObject({ state: PAGE_STATES.Processed, reason: null });
        await run.store.flush();
        expect((await pagesOf(harness())).a).toMatchObject({
          state: 'Processed',
          final_url: url('b'),
          redirect_count: 1,
        });
      },
    );

    it('make a waiting target the next page of its host', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer(['a', 'x', 'y', 'target'].map((name) => candidate(name)));
      const held = await run.lease();
      await run.store.frontier.settle(held, redirecting(await run.claim(held), candidate('target')));
      expect(await run.drain(held)).toEqual(['target', 'x', 'y']);
    });

    it('that loop fail, all of them, and say where', async () => {
      const run = await beginRun(harness());
      const held = await run.lease();
      const last = await redirectAlong(run, held, ['a', 'b', 'c']);
      const settled = await run.store.frontier.settle(held, redirecting(last, candidate('a')));
      const reason = `redirect: loop at ${url('a')}`;
      expect(settled).toMatchObject({ state: PAGE_STATES.Failed, reason });
      await run.store.flush();
      const { a, b, c } = await pagesOf(harness());
      for (const page of [a, b, c]) expect(page).toMatchObject({ state: 'Failed', reason });
    });

    it('into a loop that is known fail with its reason', async () => {
      const run = await beginRun(harness());
      const held = await run.lease();
      const last = await redirectAlong(run, held, ['b', 'c']);
      await run.store.frontier.settle(held, redirecting(last, candidate('b')));
      await run.store.frontier.offer([candidate('a')]);
      const settled = await run.store.frontier.settle(
        held,
        redirecting(await run.claim(held), candidate('b')),
      );
      expect(settled).toMatchObject({ state: PAGE_STATES.Failed, reason: `redirect: loop at ${url('b')}` });
    });

    it('to themselves are a loop of one', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('a')]);
      const held = await run.lease();
      const settled = await run.store.frontier.settle(
        held,
        redirecting(await run.claim(held), candidate('a')),
      );
      expect(settled).toMatchObject({ state: PAGE_STATES.Failed, reason: `redirect: loop at ${url('a')}` });
    });

    it('may have as many hops as allowed, and not one more', async () => {
      const run = await beginRun(harness());
      const held = await run.lease();
      const third = await redirectAlong(run, held, ['a', 'b', 'c', 'd'], 3);
      const settled = await run.store.frontier.settle(held, redirecting(third, candidate('e'), 3));
      const reason = 'redirect: more than 3 hops';
      expect(settled).toMatchObject({ state: PAGE_STATES.Failed, reason });
      await run.store.flush();
      const { a, d } = await pagesOf(harness());
      expect(a).toMatchObject({ state: 'Failed', reason });
      expect(d).toMatchObject({ state: 'Failed', reason });
    });

    it('to a refused target fail and name the rule', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('a')]);
      const held = await run.lease();
      const target = refused('out', 'Skipped', 'scope: host b.test', { host: 'b.test' });
      const settled = await run.store.frontier.settle(held, redirecting(await run.claim(held), target));
      expect(settled).toMatchObject({
        state: PAGE_STATES.Failed,
        reason: 'redirect: to https://b.test/out refused, scope: host b.test',
      });
    });

    it.each([
      ['too deep', refused('c', 'DepthExceeded', 'depth 2', { depth: 2 })],
      ['by nofollow only', refused('c', 'Skipped', 'nofollow', { depth: 2, onlyNofollow: true })],
    ])('may lead where a link of a moment ago led %s', async (_, link) => {
      const { store, ...run } = await beginRun(harness());
      await store.frontier.offer([candidate('a'), candidate('b')]);
      const held = await run.lease();
      const { claims } = await store.frontier.claim(held, 2, harness().clock.now());
      const [a, b] = claims;
      await store.frontier.settle(held, processed(a, linksTo([link])));
      await store.frontier.settle(held, redirecting(b, candidate('c', { reopens: true })));
      await store.flush();
      const pages = await pagesOf(harness());
      expect(pages.c).toMatchObject({ state: 'Queued', reason: null, depth: 1 });
      expect(pages.b).toMatchObject({ state: 'Processed', status_code: 301 });
    });

    it('to a target that is refused later, by robots.txt, fail and name the rule', async () => {
      const run = await beginRun(harness());
      const held = await run.lease();
      const last = await redirectAlong(run, held, ['a', 'b']);
      const denied = { state: PAGE_STATES.Skipped, reason: 'robots: Disallow /b', facts: null };
      await run.store.frontier.settle(held, processed(last, denied));
      await run.store.flush();
      expect((await pagesOf(harness())).a).toMatchObject({
        state: 'Failed',
        reason: `redirect: to ${url('b')} refused, robots: Disallow /b`,
      });
    });

    it('to a host that is closed before it answered end there', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('a')]);
      const held = await run.lease();
      await run.store.frontier.settle(
        held,
        redirecting(await run.claim(held), candidate('b', { host: 'b.test' })),
      );
      await run.store.frontier.closeHost(
        await run.lease('b.test'),
        PAGE_STATES.Unreachable,
        'network: refused',
      );
      await run.store.flush();
      const { a, b } = await pagesOf(harness());
      expect(b).toMatchObject({ state: 'Unreachable' });
      expect(a).toMatchObject({ state: 'Processed', final_url: url('b', 'b.test'), redirect_count: 1 });
    });

    it('keep the depth of their source', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('a', { depth: 3 })]);
      const held = await run.lease();
      const claim = await run.claim(held);
      // A shorter path is found while the page is in flight.
      await run.store.frontier.offer([candidate('a', { depth: 1 })]);
      await run.store.frontier.settle(held, redirecting(claim, candidate('b', { depth: 3 })));
      await run.store.flush();
      expect((await pagesOf(harness())).b.depth).toBe(1);
    });
  });
}
