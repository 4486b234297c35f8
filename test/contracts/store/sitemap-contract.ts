/** What sitemaps name is offered and kept, and how the pages of a host were found. */

import { describe, expect, it } from 'vitest';
import { findOrphans } from '../../../src/crawl/run/find-orphans.ts';
import type { HostDiscovery, SitemapFinding } from '../../../src/store/sitemap-port.ts';
import {
  beginRun,
  candidate,
  HOST,
  linksTo,
  nextRun,
  processed,
  refused,
  type StoreHarness,
  statesOf,
  url,
} from './harness.ts';

const DAY = 86_400_000;
const SITEMAP = url('sitemap.xml');

function finding(
  path: string,
  lastmod: number | null = null,
  more: Partial<SitemapFinding> = {},
): SitemapFinding {
  const lastmodText = lastmod === null ? null : new Date(lastmod).toISOString();
  const words = { lastmodText, details: null };
  const entry = { lastmod, changefreq: null, priority: null, sitemap: SITEMAP, ...words };
  return { candidate: candidate(path), ...entry, ...more };
}

export function describeSitemaps(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();

  describe('saveEntries', () => {
    it('gives pages that wait already the dates that it brings', async () => {
      const first = await beginRun(harness());
      const names = ['a', 'b', 'c'];
      await first.store.sitemaps.saveEntries(
        names.map((name) => finding(name, DAY)),
        now(),
      );
      const leased = await first.lease();
      for (const _ of names) await first.visit(leased);
      await first.store.frontier.release(leased);
      const next = await nextRun(harness(), first);
      const held = await next.lease();
      const a = await next.claim(held);
      expect(a.last?.sitemapDate).toBe(DAY);
      // The same worker has the host's other pages in mind by now.
      await next.store.sitemaps.saveEntries(
        [finding('a', 2 * DAY), finding('b', 3 * DAY), finding('c', 0)],
        now(),
      );
      expect((await next.claim(held)).last?.sitemapDate).toBe(3 * DAY);
      expect((await next.claim(held)).last?.sitemapDate).toBe(DAY);
      const again = { attempts: 0, notBefore: null, priority: null };
      await next.store.frontier.settle(held, { ...processed(a), requeue: again, visit: null, facts: null });
      expect([2 * DAY, null]).toContain((await next.claim(held)).last!.sitemapDate);
    });

    it('gives them to a page that was claimed meanwhile, and is given back unvisited', async () => {
      const first = await beginRun(harness());
      await first.store.sitemaps.saveEntries([finding('a', DAY), finding('b', DAY)], now());
      const leased = await first.lease();
      for (const _ of 'ab') await first.visit(leased);
      await first.store.frontier.release(leased);
      harness().clock.advance(DAY);
      const next = await nextRun(harness(), first);
      const held = await next.lease();
      const claims = [await next.claim(held), await next.claim(held)];
      await next.store.sitemaps.saveEntries([finding('a', 5 * DAY), finding('b', 7 * DAY)], now());
      await next.store.sitemaps.saveEntries([finding('a', 6 * DAY), finding('b', 3 * DAY)], now());
      await next.store.frontier.unclaim(held, claims);
      for (const date of [6 * DAY, 7 * DAY])
        expect((await next.claim(held)).last).toMatchObject({ sitemapDate: date, sitemapSeenAt: now() });
    });

    it('says what named a page last: the same sitemap, another, or none that still does', async () => {
      const run = await beginRun(harness());
      const other = { sitemap: url('other.xml') };
      const namedBy = async (...findings: SitemapFinding[]) =>
        (await run.store.sitemaps.saveEntries(findings, now())).map((saved) => saved.namedBy);
      expect(await namedBy(finding('a'), finding('b'), finding('a'), finding('a', null, other))).toEqual([
        'none',
        'none',
        'same',
        'another',
      ]);
      expect(await namedBy(finding('a'), finding('b', null, other), finding('c'))).toEqual([
        'another',
        'another',
        'none',
      ]);
      // Read whole, and not named any more.
      const found = { method: 'sitemap', entries: 1, trouble: null, searched: null, guessed: null } as const;
      harness().clock.advance(DAY);
      await run.store.sitemaps.saveDiscovery(HOST, { ...found, sitemaps: [SITEMAP], checkedAt: now() });
      await findOrphans(run.store.history, now(), now());
      expect(await namedBy(finding('a'), finding('a'))).toEqual(['none', 'same']);
    });

    it('offers what is named and keeps what is said of it', async () => {
      const { store, lease, drain } = await beginRun(harness());
      const [known] = await store.frontier.offer([candidate('known')]);
      const judged = { ...finding('no'), candidate: refused('no', 'Skipped', 'exclude: no') };
      const answers = await store.sitemaps.saveEntries(
        [finding('known', 5 * DAY), finding('new', null, { changefreq: 'daily', priority: 0.7 }), judged],
        now(),
      );
      expect(answers.map(({ isNewer }) => isNewer)).toEqual([true, false, false]);
      expect(answers[0].pageId).toBe(known);
      await store.flush();
      expect(await statesOf(harness())).toEqual({ known: 'Queued', new: 'Queued', no: 'Skipped' });
      expect(await drain(await lease())).toEqual(['known', 'new']);
      const rows = await harness().read('SELECT * FROM sitemap_entries ORDER BY id');
      const seen = { first_seen: '2026-01-01T00:00:00.000Z', last_seen: '2026-01-01T00:00:00.000Z' };
      expect(rows).toMatchObject([
        { page_id: known, url: url('known'), lastmod: '1970-01-06T00:00:00.000Z', sitemap: SITEMAP, ...seen },
        { page_id: answers[1].pageId, lastmod: null, changefreq: 'daily', priority: 0.7, ...seen },
        { page_id: answers[2].pageId },
      ]);
    });

    it('opens what links were shut out from, where an entry may', async () => {
      const { store, lease, visit, drain } = await beginRun(harness());
      await store.frontier.offer([candidate('home')]);
      const held = await lease();
      const shut = [
        refused('linked', 'Discovered', 'scope: links are not followed'),
        refused('nofollow', 'Skipped', 'nofollow', { onlyNofollow: true }),
        refused('deep', 'DepthExceeded', 'depth: 9 > 3', { depth: 9 }),
        refused('stays', 'Skipped', 'exclude: stays'),
      ];
      await visit(held, linksTo(shut));
      await store.flush();
      const named = (path: string) => ({ ...finding(path), candidate: candidate(path, { reopens: true }) });
      const refusedEntry = { ...refused('stays', 'Skipped', 'exclude: stays'), reopens: true as const };
      await store.sitemaps.saveEntries(
        [finding('linked'), named('linked'), named('nofollow'), named('deep')].concat({
          ...finding('stays'),
          candidate: refusedEntry,
        }),
        now(),
      );
      expect((await drain(held)).sort()).toEqual(['deep', 'linked', 'nofollow']);
      await store.flush();
      expect((await statesOf(harness())).stays).toBe('Skipped');
    });

    it('tells a later date from the one that is stored, and keeps the newest', async () => {
      const { store } = await beginRun(harness());
      const save = async (lastmod: number | null) =>
        (await store.sitemaps.saveEntries([finding('x', lastmod)], now()))[0].isNewer;
      expect(await save(null)).toBe(false);
      expect(await save(5 * DAY)).toBe(true);
      expect(await save(5 * DAY)).toBe(false);
      expect(await save(4 * DAY)).toBe(false);
      expect(await save(null)).toBe(false);
      expect(await save(6 * DAY)).toBe(true);
      await store.flush();
      expect(await harness().read('SELECT lastmod FROM sitemap_entries')).toEqual([
        { lastmod: '1970-01-07T00:00:00.000Z' },
      ]);
    });

    it('keeps the words of the sitemap that was read last, whatever the newest date is', async () => {
      const { store } = await beginRun(harness());
      const save = (lastmod: number, lastmodText: string, details: string | null) =>
        store.sitemaps.saveEntries([finding('x', lastmod, { lastmodText, details })], now());
      await save(6 * DAY, '1970-01-07', null);
      await save(5 * DAY, '1970-01-06T01:00:00+01:00', '{"kind":"rss"}');
      await store.flush();
      expect(await harness().read('SELECT lastmod, lastmod_text, details FROM sitemap_entries')).toEqual([
        {
          lastmod: '1970-01-07T00:00:00.000Z',
          lastmod_text: '1970-01-06T01:00:00+01:00',
          details: '{"kind":"rss"}',
        },
      ]);
    });

    it('remembers when an entry was seen first, and last', async () => {
      const { store } = await beginRun(harness());
      await store.sitemaps.saveEntries([finding('x'), finding('y')], now());
      harness().clock.advance(DAY);
      await store.sitemaps.saveEntries([finding('x', null, { sitemap: url('other.xml') })], now());
      await store.flush();
      expect(
        await harness().read('SELECT first_seen, last_seen, sitemap FROM sitemap_entries ORDER BY id'),
      ).toEqual([
        {
          first_seen: '2026-01-01T00:00:00.000Z',
          last_seen: '2026-01-02T00:00:00.000Z',
          sitemap: url('other.xml'),
        },
        { first_seen: '2026-01-01T00:00:00.000Z', last_seen: '2026-01-01T00:00:00.000Z', sitemap: SITEMAP },
      ]);
    });

    it('keeps each of a long list beside its own sitemap, new pages and known ones', async () => {
      const { store } = await beginRun(harness());
      await store.sitemaps.saveEntries([finding('7', 9 * DAY), finding('150', 1 * DAY)], now());
      const sitemaps = [SITEMAP, url('other.xml')];
      const list = Array.from({ length: 200 }, (_, i) =>
        finding(`${i}`, 5 * DAY, { sitemap: sitemaps[i < 90 ? 0 : i % 2], priority: (i % 10) / 10 }),
      );
      const answers = await store.sitemaps.saveEntries(
        [...list, finding('199', 6 * DAY, { sitemap: SITEMAP })],
        now(),
      );
      expect(answers.flatMap(({ isNewer }, i) => (isNewer ? [] : [i]))).toEqual([7]);
      expect(answers[200].pageId).toBe(answers[199].pageId);
      await store.flush();
      const rows = await harness().read(
        'SELECT page_id, sitemap, priority FROM sitemap_entries ORDER BY page_id',
      );
      const wanted = list.map(({ sitemap, priority }, i) => ({
        page_id: answers[i].pageId,
        sitemap: i === 199 ? SITEMAP : sitemap,
        priority: i === 199 ? null : priority,
      }));
      expect(rows).toEqual(wanted.sort((a, b) => a.page_id - b.page_id));
    });

    it('takes an entry that stands twice in one list', async () => {
      const { store } = await beginRun(harness());
      const answers = await store.sitemaps.saveEntries(
        [finding('x', 5 * DAY), finding('x', 7 * DAY), finding('x', 6 * DAY)],
        now(),
      );
      expect(new Set(answers.map(({ pageId }) => pageId)).size).toBe(1);
      await store.flush();
      expect(await harness().read('SELECT lastmod FROM sitemap_entries')).toEqual([
        { lastmod: '1970-01-08T00:00:00.000Z' },
      ]);
    });

    it('keeps of the dates of earlier looks none: one that was put right, or is gone, is no more', async () => {
      const { store } = await beginRun(harness());
      const kept = async (...looks: (readonly (number | null)[])[]) => {
        for (const dates of looks) {
          harness().clock.advance(DAY);
          for (const date of dates) await store.sitemaps.saveEntries([finding('x', date)], now());
        }
        await store.flush();
        const [{ lastmod }] = await harness().read('SELECT lastmod FROM sitemap_entries');
        return lastmod;
      };
      expect(await kept([50_000 * DAY])).toBe('2106-11-24T00:00:00.000Z');
      expect(await kept([5 * DAY])).toBe('1970-01-06T00:00:00.000Z');
      expect(await kept([4 * DAY, 3 * DAY, null])).toBe('1970-01-05T00:00:00.000Z');
      expect(await kept([null])).toBeNull();
    });

    it('dates a page by what names a day, and only in the look that gave it', async () => {
      const first = await beginRun(harness());
      const names = ['a', 'b', 'c', 'd', 'e'];
      await first.store.sitemaps.saveEntries(
        names.map((name) => finding(name, 9 * DAY)),
        now(),
      );
      const leased = await first.lease();
      for (const _ of names) await first.visit(leased);
      await first.store.frontier.release(leased);
      harness().clock.advance(DAY);
      const next = await nextRun(harness(), first);
      const held = await next.lease();
      await next.claim(held);
      const [b, c, d] = [
        finding('b', 5 * DAY, { lastmodText: '1970-01-06' }),
        finding('c', 0, { lastmodText: '1970-01' }),
        finding('d', null, { lastmodText: 'last week' }),
      ];
      await next.store.sitemaps.saveEntries([b, c, d, finding('e')], now());
      const dates = async (run: typeof next, lease: typeof held) => {
        const { last } = await run.claim(lease);
        return [last!.sitemapDate, last!.sitemapSeenAt === null ? 'undated' : 'dated'];
      };
      const wanted = [
        [5 * DAY, 'dated'],
        [0, 'undated'],
        [null, 'undated'],
        [null, 'undated'],
      ];
      for (const one of wanted) expect(await dates(next, held)).toEqual(one);
      await next.store.frontier.release(held);
      // And so where they come from the store.
      const last = await nextRun(harness(), next);
      const again = await last.lease();
      await last.claim(again);
      for (const one of wanted) expect(await dates(last, again)).toEqual(one);
    });

    it('tells a revisit the date', async () => {
      const first = await beginRun(harness());
      await first.store.sitemaps.saveEntries([finding('x', 5 * DAY)], now());
      await first.visit(await first.lease());
      const next = await nextRun(harness(), first);
      expect((await next.claim(await next.lease())).last).toMatchObject({ sitemapDate: 5 * DAY });
    });

    it('takes thousands at once', async () => {
      const { store } = await beginRun(harness());
      const many = Array.from({ length: 5000 }, (_, i) => finding(`p${i}`, i));
      const answers = await store.sitemaps.saveEntries(many, now());
      expect(answers).toHaveLength(5000);
      expect(new Set(answers.map(({ pageId }) => pageId)).size).toBe(5000);
      await store.flush();
      const [{ n }] = await harness().read('SELECT count(*) AS n FROM sitemap_entries');
      expect(n).toBe(5000);
    });
  });

  describe('discovery', () => {
    const found: HostDiscovery = {
      method: 'sitemap',
      checkedAt: 1234,
      entries: 3,
      sitemaps: [SITEMAP, url('b.xml')],
      trouble: 'lasting',
      looks: { [url('b.xml')]: { at: 1200, entries: 2 } },
      searched: ['a.test', 'a.test:8080'],
      guessed: ['/sitemap.xml', '/map.xml'],
    };

    it('is kept by project and host, the last one', async () => {
      const { store } = await beginRun(harness());
      expect(await store.sitemaps.discovery('a.test')).toBeNull();
      await store.sitemaps.saveDiscovery('a.test', { ...found, method: 'not_found' });
      await store.sitemaps.saveDiscovery('a.test', found);
      const none = { ...found, sitemaps: [], trouble: null, looks: undefined, searched: null, guessed: null };
      await store.sitemaps.saveDiscovery('b.test', { ...none, method: 'links' });
      await harness().crash();
      const again = await beginRun(harness());
      expect(await again.store.sitemaps.discovery('a.test')).toEqual(found);
      expect(await again.store.sitemaps.discovery('b.test')).toMatchObject({
        method: 'links',
        sitemaps: [],
        trouble: null,
        searched: null,
        guessed: null,
      });
      const rows = await harness().read(
        'SELECT host, method, checked_at, entries, sitemaps, trouble FROM discovery_status ORDER BY host',
      );
      expect(rows[0]).toEqual({
        host: 'a.test',
        method: 'sitemap',
        checked_at: '1970-01-01T00:00:01.234Z',
        entries: 3,
        sitemaps: JSON.stringify(found.sitemaps),
        trouble: 'lasting',
      });
      await again.store.close();
      const other = await beginRun(harness(), { project: 'other' });
      expect(await other.store.sitemaps.discovery('a.test')).toBeNull();
    });
  });
}
