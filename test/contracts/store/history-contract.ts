/** What visits found is kept as history, and what was read stays until something else is. */
import { describe, expect, it } from 'vitest';
import type { PageChange } from '../../../src/change/visit-record.ts';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import {
  beginRun,
  candidate,
  facts,
  links,
  nextRun,
  pagesOf,
  processed,
  redirecting,
  type StoreHarness,
  touch,
  url,
  visited,
} from './harness.ts';
import { HASH, READ, readOnce, TEXT_HASH } from './page-read-once.ts';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

const CHANGE: PageChange = {
  parts: ['title', 'text'],
  fields: [{ name: 'title', before: 'old "title"', after: null }],
  linksAdded: [],
  linksRemoved: [],
  text: [
    ['=', 'the'],
    ['-', 'old'],
    ['+', 'new 猫'],
  ],
  wordsAdded: 2,
  wordsRemoved: 1,
};

export function describeHistory(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();

  describe('a revisit', () => {
    it('is told everything that was read, by the last visit that read something', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      const claim = await next.claim(await next.lease());
      expect(claim.last).toMatchObject({
        statusCode: 200,
        visitedAt: READ.visitedAt,
        hasBody: true,
        contentHash: expect.anything(),
        textHash: expect.anything(),
        facetHash: expect.anything(),
        simhash: -5n,
        etag: '"1"',
        lastModified: 'then',
        cacheControl: 'max-age=5',
        xRobotsTag: 'noarchive',
        contentType: READ.contentType,
        wireBytes: 777,
        sitemapDate: null,
        changeFrequency: 0.25,
        changesDetected: 1,
      });
      expect([...claim.last!.contentHash!]).toEqual([...HASH]);
      expect([...claim.last!.textHash!]).toEqual([...TEXT_HASH]);
      expect([...claim.last!.facetHash!]).toEqual([...HASH]);
    });

    it('is kept as it was settled, whatever becomes of the record afterwards', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      const held = await next.lease();
      const change = structuredClone(CHANGE);
      await next.visit(held, { facts: READ, change });
      change.fields[0].before = 'something else';
      change.parts.length = 0;
      await next.store.flush();
      const [row] = await harness().read('SELECT detail FROM page_change');
      expect(JSON.parse(String(row.detail))).toEqual(CHANGE);
    });

    it('is told of a page without a body that there is none', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('x')]);
      const held = await run.lease();
      await run.visit(held, { facts: facts({ statusCode: 301, facetHash: HASH }) });
      await run.store.frontier.release(held);
      const next = await nextRun(harness(), run);
      const { last } = await next.claim(await next.lease());
      expect(last).toMatchObject({ statusCode: 301, hasBody: false, contentHash: null, textHash: null });
      expect([...last!.facetHash!]).toEqual([...HASH]);
    });

    it('that reads nothing new only touches the page: facts, text and links stay', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      const held = await next.lease();
      const before = (await pagesOf(harness())).x;
      await next.visit(held, {
        facts: null,
        touch: touch({
          statusCode: 503,
          error: 'http: 503',
          etag: '"2"',
          cacheControl: 'no-cache',
          responseMs: 9,
        }),
        visit: visited('failed', 'status', { statusCode: 503, visitedAt: Date.UTC(2026, 0, 3) }),
        changeFrequency: 0.5,
        changesDetected: 2,
        state: PAGE_STATES.Failed,
        reason: 'http: 503',
      });
      await next.store.flush();
      expect((await pagesOf(harness())).x).toEqual({
        ...before,
        state: 'Failed',
        reason: 'http: 503',
        priority: 1,
        status_code: 503,
        error: 'http: 503',
        error_message: 'http: 503',
        response_ms: 9,
        visited_at: '2026-01-03T00:00:00.000Z',
        etag: '"2"',
        cache_control: 'no-cache',
        change: 'failed',
        change_frequency: 0.5,
        changes_detected: 2,
      });
      expect(await next.store.history.past(before.id as number)).toMatchObject({
        statusCode: 503,
        title: 'title',
        text: 'the old text',
        links: [url('y'), url('z', 'b.test')],
      });
      const third = await nextRun(harness(), next);
      expect((await third.claim(await third.lease())).last).toMatchObject({
        statusCode: 503,
        simhash: -5n,
        etag: '"2"',
        lastModified: 'then',
        wireBytes: 777,
        visitedAt: Date.UTC(2026, 0, 3),
      });
    });

    it('that asked nobody leaves everything of the visit before but its outcome', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      const held = await next.lease();
      const before = (await pagesOf(harness())).x;
      await next.visit(held, { facts: null, visit: visited('unchanged', 'freshness', { statusCode: null }) });
      await next.store.flush();
      const { state, ...rest } = before;
      expect((await pagesOf(harness())).x).toMatchObject({ ...rest, change: 'unchanged', priority: 1 });
    });

    it('of a page that is gone still leaves it gone, and its line says unchanged', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      await next.visit(await next.lease(), {
        facts: null,
        touch: touch({ statusCode: 410 }),
        visit: visited('unchanged', 'status', { statusCode: 410 }),
        state: PAGE_STATES.Gone,
        reason: 'http: 410',
      });
      await next.store.flush();
      expect((await pagesOf(harness())).x).toMatchObject({ state: 'Gone', change: 'gone' });
      expect((await next.store.run.counts()).ledger).toMatchObject([
        { outcome: 'unchanged', knownBy: 'status' },
      ]);
    });

    it('that fails leaves a page gone that was, and the next claim says so; an orphan that answered is none', async () => {
      const fail = {
        facts: null,
        touch: touch({ statusCode: 503, error: 'http: 503' }),
        visit: visited('failed', 'status', { statusCode: 503 }),
        state: PAGE_STATES.Failed,
        reason: 'http: 503',
      };
      let run = await nextRun(harness(), await readOnce(harness()));
      const claim = await run.visit(await run.lease(), {
        facts: null,
        touch: touch({ statusCode: 404 }),
        visit: visited('gone', 'status', { statusCode: 404 }),
        state: PAGE_STATES.Gone,
        reason: 'http: 404',
      });
      expect(claim.last).toMatchObject({ isGone: false });
      run = await nextRun(harness(), run);
      expect((await run.visit(await run.lease(), fail)).last).toMatchObject({ isGone: true });
      await run.store.flush();
      expect((await pagesOf(harness())).x).toMatchObject({
        state: 'Failed',
        status_code: 503,
        change: 'gone',
      });
      run = await nextRun(harness(), run);
      const back = await run.visit(await run.lease(), { facts: facts(), visit: visited('gone', 'orphan') });
      expect(back.last).toMatchObject({ isGone: true, statusCode: 503 });
      run = await nextRun(harness(), run);
      expect((await run.claim(await run.lease())).last).toMatchObject({ isGone: false, statusCode: 200 });
    });

    it('that is to be made again leaves the outcome of the last one', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      const requeue = { attempts: 0, notBefore: null, priority: 9 };
      await next.visit(await next.lease(), {
        facts: null,
        touch: touch({ statusCode: 404 }),
        requeue,
        state: PAGE_STATES.Queued,
        countsAsPage: false,
      });
      await next.store.flush();
      expect((await pagesOf(harness())).x).toMatchObject({
        state: 'Queued',
        status_code: 404,
        change: 'new',
        title: 'title',
      });
    });

    it('in a first run knows of no last visit, and of one after the page was queued again', async () => {
      const run = await readOnce(harness());
      const held = await run.lease();
      const y = await run.claim(held);
      expect(y.last).toBeNull();
      const [x] = await run.store.frontier.offer([candidate('x')]);
      expect(await run.store.frontier.requeue([x], 0)).toBe(1);
      expect((await run.claim(held)).last).toMatchObject({ etag: '"1"' });
    });
  });

  describe('a touch', () => {
    it('leaves the validators as they are, or takes them away where it says so', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      const held = await next.lease();
      const before = (await pagesOf(harness())).x;
      expect([before.etag, before.last_modified, before.cache_control]).not.toContain(null);
      const same = visited('unchanged', 'hash', { visitedAt: Date.UTC(2026, 0, 3) });
      await next.visit(held, {
        facts: null,
        touch: touch({ etag: '', lastModified: '', cacheControl: '' }),
        visit: same,
      });
      await next.store.flush();
      expect((await pagesOf(harness())).x).toMatchObject({
        etag: null,
        last_modified: null,
        cache_control: null,
      });
    });
  });

  describe('history', () => {
    it('has a line a visit, with everything that is known of it', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      const claim = await next.visit(await next.lease(), {
        facts: null,
        touch: touch(),
        visit: visited('unchanged', '304', {
          visitedAt: Date.UTC(2026, 0, 3),
          statusCode: 304,
          etag: '"1"',
          lastModified: 'then',
          contentHash: HASH,
          textHash: TEXT_HASH,
          simhashDistance: 0,
          wireBytes: 70,
          bytesSaved: 707,
          durationMs: 12,
        }),
      });
      await next.store.flush();
      const rows = await harness().read('SELECT * FROM visits ORDER BY visited_at');
      expect(rows).toHaveLength(2);
      expect(rows[0]).toMatchObject({
        outcome: 'new',
        known_by: 'content',
        content_hash: hex(HASH),
        bytes_saved: 0,
      });
      expect(rows[1]).toEqual({
        id: expect.anything(),
        page_id: claim.pageId,
        run_id: next.start.runId,
        visited_at: '2026-01-03T00:00:00.000Z',
        outcome: 'unchanged',
        known_by: '304',
        status_code: 304,
        etag: '"1"',
        last_modified: 'then',
        content_hash: hex(HASH),
        text_hash: hex(TEXT_HASH),
        simhash_distance: 0,
        wire_bytes: 70,
        bytes_saved: 707,
        duration_ms: 12,
        failure: null,
      });
      expect(rows[0].id).not.toBe(rows[1].id);
    });

    it('has no line of a visit after which the page is queued again', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('x')]);
      const requeue = { attempts: 1, notBefore: null, priority: null };
      await run.visit(await run.lease(), { facts: null, requeue, state: PAGE_STATES.Queued });
      await run.store.flush();
      expect(await harness().read('SELECT * FROM visits')).toEqual([]);
    });

    it('keeps what changed, word for word', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      const claim = await next.visit(await next.lease(), { change: CHANGE });
      await next.store.flush();
      const [row, ...more] = await harness().read('SELECT * FROM page_changes');
      expect(more).toEqual([]);
      expect(row).toMatchObject({
        page_id: claim.pageId,
        run_id: next.start.runId,
        url: url('x'),
        parts: 'title,text',
      });
      expect(JSON.parse(row.detail as string)).toEqual(CHANGE);
    });

    it('is committed with its settlement: lost in a crash together, kept together', async () => {
      const next = await nextRun(harness(), await readOnce(harness()));
      const held = await next.lease();
      await next.visit(held, { change: CHANGE, facts: facts({ title: 'seen' }) });
      await next.store.flush();
      await next.visit(held, { facts: facts({ title: 'never seen' }), change: CHANGE });
      await harness().crash();
      const again = await beginRun(harness());
      const pages = await pagesOf(harness());
      expect([pages.x.title, pages.y.title]).toEqual(['seen', null]);
      const run = `run_id = ${again.start.runId}`;
      expect(await harness().read(`SELECT page_id FROM visits WHERE ${run}`)).toEqual([
        { page_id: pages.x.id },
      ]);
      expect(await harness().read(`SELECT page_id FROM page_changes WHERE ${run}`)).toEqual([
        { page_id: pages.x.id },
      ]);
    });
  });

  describe('counts', () => {
    it('add visits up by outcome and by how that was known, each run by itself', async () => {
      const first = await readOnce(harness());
      const held = await first.lease();
      const saved = (bytesSaved: number) => ({ visit: visited('unchanged', 'hash', { bytesSaved }) });
      await first.visit(held, { visit: visited('failed', 'network', { statusCode: null }) });
      expect((await first.store.run.counts()).ledger).toEqual([
        { outcome: 'new', knownBy: 'content', visits: 1, bytesSaved: 0 },
        { outcome: 'failed', knownBy: 'network', visits: 1, bytesSaved: 0 },
      ]);
      const next = await nextRun(harness(), first);
      const again = await next.lease();
      for (const bytes of [300, 20])
        await next.visit(again, { ...saved(bytes), changeFrequency: bytes / 100 });
      const { ledger, averageChangeFrequency } = await next.store.run.counts();
      expect(ledger).toEqual([{ outcome: 'unchanged', knownBy: 'hash', visits: 2, bytesSaved: 320 }]);
      expect(averageChangeFrequency).toBeCloseTo(1.6);
      await next.store.flush();
      const runs = await harness().read(
        'SELECT "new", changed, unchanged, gone, failed, bytes_saved FROM runs ORDER BY id',
      );
      expect(runs).toEqual([
        { new: 1, changed: 0, unchanged: 0, gone: 0, failed: 1, bytes_saved: 0 },
        { new: 0, changed: 0, unchanged: 2, gone: 0, failed: 0, bytes_saved: 320 },
      ]);
    });
  });

  describe('past', () => {
    it('is what is stored of a page, links and redirects by identity', async () => {
      const run = await readOnce(harness());
      const [x] = await run.store.frontier.offer([candidate('x')]);
      const held = await run.lease();
      const y = await run.claim(held);
      await run.store.frontier.settle(held, redirecting(y, candidate('end', { host: 'b.test' })));
      expect(await run.store.history.past(x)).toEqual({
        statusCode: 200,
        title: 'title',
        h1: 'head',
        description: 'about',
        canonical: url('c'),
        noindex: true,
        nofollow: false,
        robotsOther: 'noarchive',
        structuredData: '{"@type":"Thing"}\n{}',
        text: 'the old text',
        links: [url('y'), url('z', 'b.test')],
        redirectTo: null,
      });
      expect(await run.store.history.past(y.pageId)).toMatchObject({
        statusCode: 301,
        text: null,
        links: [],
        redirectTo: url('end', 'b.test'),
      });
    });

    it('is what is left of a page whose type is refused by now: no content, no text, no redirect', async () => {
      const first = await readOnce(harness());
      const held = await first.lease();
      const y = await first.claim(held);
      await first.store.frontier.settle(held, redirecting(y, candidate('end', { host: 'b.test' })));
      await first.store.frontier.release(held);
      const next = await nextRun(harness(), first, (name) => name === 'x' || name === 'y');
      const again = await next.lease();
      const refused = {
        state: PAGE_STATES.ContentMismatch,
        reason: 'type: application/pdf',
        facts: facts({
          contentType: 'application/pdf',
          facetHash: TEXT_HASH,
          error: 'type: application/pdf',
        }),
      };
      const x = await next.visit(again, { ...refused, links: links([]) });
      await next.visit(again, refused);
      for (const { pageId } of [x, y])
        expect(await next.store.history.past(pageId)).toEqual({
          statusCode: 200,
          title: null,
          h1: null,
          description: null,
          canonical: null,
          noindex: false,
          nofollow: false,
          robotsOther: '',
          structuredData: null,
          text: null,
          links: [],
          redirectTo: null,
        });
      const third = await nextRun(harness(), next, (name) => name === 'x');
      const { last } = await third.claim(await third.lease());
      expect(last).toMatchObject({ hasBody: false, textHash: null, contentType: 'application/pdf' });
      expect([...last!.facetHash!]).toEqual([...TEXT_HASH]);
    });

    it('is nothing for a page that was never asked, or never read', async () => {
      const run = await beginRun(harness());
      const [x, y] = await run.store.frontier.offer([candidate('x'), candidate('y')]);
      await run.visit(await run.lease(), {
        state: PAGE_STATES.DeadLink,
        reason: 'http: 404',
        facts: facts({ statusCode: 404, error: 'http: 404' }),
      });
      expect(await run.store.history.past(x)).toBeNull();
      expect(await run.store.history.past(y)).toBeNull();
      expect(await run.store.history.past(1_000_000)).toBeNull();
    });
  });

  describe('a redirect to a page that has vanished', () => {
    it('ends there, wherever that page led while it was there', async () => {
      const first = await beginRun(harness());
      await first.store.frontier.offer([candidate('old')]);
      const held = await first.lease();
      await first.store.frontier.settle(held, redirecting(await first.claim(held), candidate('older')));
      await first.visit(held);
      const next = await nextRun(harness(), first);
      const again = await next.lease();
      const gone = {
        state: PAGE_STATES.Gone,
        reason: 'http: 410',
        facts: null,
        touch: touch({ statusCode: 410 }),
      };
      await next.visit(again, { ...gone, visit: visited('gone', 'status', { statusCode: 410 }) });
      await next.store.frontier.offer([candidate('new', { priority: 0 })]);
      const fresh = await next.claim(again);
      expect(fresh.url).toBe(url('new'));
      await next.store.frontier.settle(again, redirecting(fresh, candidate('old')));
      await next.store.flush();
      expect((await pagesOf(harness())).new).toMatchObject({ final_url: url('old'), redirect_count: 1 });
    });
  });

  describe('a host whose validators lied', () => {
    it('is remembered, and what its sitemaps announced and how it answers HEAD too', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('x')]);
      const held = await run.lease();
      expect(held.state).toMatchObject({ distrustedUntil: 0, announced: 0, unannounced: 0, headChecks: 0 });
      const learned = { distrustedUntil: now() + 9000, announced: 7, unannounced: 2, headChecks: -1 };
      Object.assign(held.state, learned);
      await run.store.frontier.settle(held, processed(await run.claim(held)));
      await run.store.flush();
      await harness().crash();
      const again = await beginRun(harness());
      expect((await again.lease()).state).toMatchObject(learned);
    });
  });
}
