/** The view that answers specification 003 under its own names. */
import { describe, expect, it } from 'vitest';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import { beginRun, candidate, facts, type OpenRun, redirecting, type StoreHarness } from './harness.ts';

const HASH = new Uint8Array(32);

export function describeCrawledUrls(harness: () => StoreHarness): void {
  describe('crawled_url', () => {
    it('calls indexable what answered 200 with content of its own, and is not marked noindex', async () => {
      const run = await beginRun(harness());
      const whole = { contentHash: HASH, contentLength: 5 };
      const found: Record<string, Parameters<OpenRun['visit']>[1]> = {
        good: { facts: facts(whole) },
        marked: { facts: facts({ ...whole, noindex: true }) },
        empty: { facts: facts({ ...whole, contentLength: 0 }) },
        missing: {
          state: PAGE_STATES.DeadLink,
          reason: 'http: 404',
          facts: facts({ statusCode: 404, contentLength: 5 }),
        },
        silent: {
          state: PAGE_STATES.Unreachable,
          reason: 'network',
          facts: facts({ statusCode: null, contentLength: null }),
        },
      };
      await run.store.frontier.offer([...Object.keys(found), 'moved'].map((name) => candidate(name)));
      const held = await run.lease();
      for (const more of Object.values(found)) await run.visit(held, more);
      await run.store.frontier.settle(held, redirecting(await run.claim(held), candidate('good')));
      await run.store.flush();
      const rows = await harness().read('SELECT url, indexable FROM crawled_url ORDER BY id');
      expect(rows.map((row) => [String(row.url).split('/').pop(), row.indexable])).toEqual([
        ['good', 'Yes'],
        ['marked', 'No'],
        ['empty', 'No'],
        ['missing', 'No'],
        ['silent', 'No'],
        ['moved', 'No'],
      ]);
    });

    it('answers the queries of specification 003, and has no NULL where that has an empty text', async () => {
      const run = await beginRun(harness());
      await run.store.frontier.offer([candidate('silent')]);
      const silent = facts({
        statusCode: null,
        title: null,
        etag: null,
        lastModified: null,
        contentHash: null,
      });
      await run.visit(await run.lease(), {
        state: PAGE_STATES.Unreachable,
        reason: 'network',
        facts: silent,
      });
      await run.store.flush();
      const { read } = harness();
      const [{ id }] = await read('SELECT id FROM project');
      const frequent = 'change_frequency > 1.0 ORDER BY change_frequency DESC LIMIT 100';
      expect(await read(`SELECT * FROM crawled_url WHERE project_id = ${id} AND ${frequent}`)).toEqual([]);
      const stale = `SELECT * FROM crawled_url WHERE project_id = ${id} AND last_crawled_at < 9999999999`;
      const none = { title: '', etag: '', last_modified: '', content_hash: '', status: 0, error: 'network' };
      expect(await read(stale)).toMatchObject([{ ...none, change_frequency: 0, changes_detected: 0 }]);
    });
  });
}
