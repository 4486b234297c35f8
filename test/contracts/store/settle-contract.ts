/** A settlement is kept whole or not at all. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import {
  beginRun,
  candidate,
  facts,
  linksTo,
  pagesOf,
  processed,
  type StoreHarness,
  statesOf,
} from './harness.ts';

const HASH = Uint8Array.from({ length: 32 }, (_, i) => i);

export function describeSettlements(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();

  describe('settle', () => {
    it('keeps every fact of a visit', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      await visit(await lease(), {
        facts: facts({
          title: 'Ünïcode ✓',
          h1: 'head',
          description: 'about',
          lang: 'de',
          charset: 'utf-8',
          canonical: 'https://a.test/c',
          noindex: true,
          nofollow: true,
          wordCount: 7,
          contentHash: HASH,
          simhash: -5n,
          etag: '"e"',
          lastModified: 'Thu, 01 Jan 2026 00:00:00 GMT',
          cacheControl: 'no-cache',
          bodyKey: 'key',
          error: null,
        }),
        text: new TextEncoder().encode('Ünïcode text'),
      });
      await store.flush();
      const { x } = await pagesOf(harness());
      expect(x).toMatchObject({
        state: 'Processed',
        reason: null,
        status_code: 200,
        content_type: 'text/html',
        content_length: 10,
        title: 'Ünïcode ✓',
        h1: 'head',
        meta_description: 'about',
        lang: 'de',
        charset: 'utf-8',
        canonical: 'https://a.test/c',
        noindex: 1,
        nofollow: 1,
        word_count: 7,
        content_hash: Buffer.from(HASH).toString('hex'),
        simhash: -5,
        etag: '"e"',
        cache_control: 'no-cache',
        body_key: 'key',
        visited_at: '2026-01-02T00:00:00.000Z',
        change: 'new',
        final_url: null,
        redirect_count: 0,
      });
      expect(await harness().read('SELECT status, content_text FROM crawled_pages')).toEqual([
        { status: 'success', content_text: 'Ünïcode text' },
      ]);
    });

    it('answers the ids of the candidates in order, known or new', async () => {
      const { store, lease, claim } = await beginRun(harness());
      const [x, y] = await store.frontier.offer([candidate('x'), candidate('y')]);
      const held = await lease();
      const more = linksTo([candidate('new'), candidate('y'), candidate('x'), candidate('new')]);
      const settled = (await store.frontier.settle(held, processed(await claim(held), more)))!;
      expect(settled.candidateIds).toEqual([expect.any(Number), y, x, settled.candidateIds[0]]);
      expect([x, y]).not.toContain(settled.candidateIds[0]);
    });

    it('commits page, links and candidates together: before the flush none of them, after it all', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      await store.flush();
      await visit(await lease(), { ...linksTo([candidate('y'), candidate('z', { host: 'b.test' })]) });
      expect(await statesOf(harness())).toEqual({ x: 'Queued' });
      expect(await harness().read('SELECT * FROM links')).toEqual([]);
      await store.flush();
      expect(await statesOf(harness())).toEqual({ x: 'Processed', y: 'Queued', z: 'Queued' });
      expect(await harness().read('SELECT * FROM links')).toHaveLength(2);
      expect((await harness().read('SELECT pages FROM runs'))[0].pages).toBe(1);
    });

    it('loses an open group whole in a crash, and a closed one not at all', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('x'), candidate('kept')]);
      const held = await lease();
      await visit(held, linksTo([candidate('y')]));
      await store.flush();
      await visit(held, linksTo([candidate('lost')]));
      await harness().crash();
      const again = await beginRun(harness());
      expect(again.start).toMatchObject({ resumed: true, pagesDone: 1, knownUrls: 3 });
      expect(await statesOf(harness())).toEqual({ x: 'Processed', kept: 'Queued', y: 'Queued' });
      expect(await again.drain(await again.lease())).toEqual(['kept', 'y']);
    });

    it('commits a group by itself within a second', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      await visit(await lease());
      harness().clock.advance(1000);
      expect(await statesOf(harness())).toEqual({ x: 'Processed' });
    });

    it('commits a group by itself after so many settlements', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer(Array.from({ length: 300 }, (_, i) => candidate(`p${i}`)));
      const held = await lease();
      for (let i = 0; i < 300; i++) await visit(held);
      const [{ n }] = await harness().read("SELECT count(*) AS n FROM pages WHERE state = 'Processed'");
      expect(n).toBeGreaterThanOrEqual(256);
    });

    it('keeps the reason of a page that failed, and counts only what counts', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      const held = await lease();
      const settled = await store.frontier.settle(
        held,
        processed(await claim(held), {
          state: PAGE_STATES.Failed,
          reason: 'http: 403',
          facts: facts({ statusCode: 403, error: 'http: 403' }),
          countsAsPage: false,
        }),
      );
      expect(settled).toEqual({
        state: PAGE_STATES.Failed,
        reason: 'http: 403',
        candidateIds: [],
        failedSources: [],
      });
      await store.flush();
      expect((await pagesOf(harness())).x).toMatchObject({
        state: 'Failed',
        reason: 'http: 403',
        status_code: 403,
      });
      expect(await harness().read('SELECT pages FROM runs')).toEqual([{ pages: 0 }]);
      expect(await store.run.counts()).toMatchObject({ byState: { Failed: 1 }, waiting: 0, known: 1 });
    });

    it('shows the next visit what the last one found, and replaces it, text included', async () => {
      const { store, lease, visit } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      await visit(await lease(), {
        facts: facts({ title: 'old', contentHash: HASH, etag: '"1"', lastModified: 'then' }),
        text: new TextEncoder().encode('old text'),
      });
      await store.run.finish('completed', now(), null);
      await store.close();
      const next = await beginRun(harness());
      await next.store.frontier.reconsider(() => ({ state: PAGE_STATES.Queued, priority: 1, reason: null }));
      const held = await next.lease();
      const claim = await next.claim(held);
      expect(claim.last).toMatchObject({ statusCode: 200, etag: '"1"', lastModified: 'then' });
      expect([...claim.last!.contentHash!]).toEqual([...HASH]);
      await next.store.frontier.settle(held, processed(claim, { facts: facts({ title: 'new' }) }));
      await next.store.flush();
      expect((await pagesOf(harness())).x).toMatchObject({ title: 'new', etag: null, change: 'changed' });
      expect(await harness().read('SELECT content_text FROM crawled_pages')).toEqual([
        { content_text: null },
      ]);
    });

    it('keeps the clock of the host in the same group', async () => {
      const { store, lease, claim } = await beginRun(harness());
      await store.frontier.offer([candidate('x')]);
      const held = await lease();
      const page = await claim(held);
      held.state.notBefore = now() + 90_000;
      held.state.requests = 4;
      await store.frontier.settle(held, processed(page));
      await store.flush();
      await harness().crash();
      const again = await beginRun(harness());
      expect((await again.lease()).state).toMatchObject({ notBefore: now() + 90_000, requests: 4 });
    });
  });
}
