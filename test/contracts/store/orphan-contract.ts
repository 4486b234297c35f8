/** Pages that nothing leads to any more. */

import { describe, expect, it } from 'vitest';
import type { PageChange } from '../../../src/change/visit-record.ts';
import { findOrphans } from '../../../src/crawl/run/find-orphans.ts';
import { PAGE_STATES } from '../../../src/frontier/page-state.ts';
import type { Settlement } from '../../../src/store/settlement.ts';
import type { HostDiscovery } from '../../../src/store/sitemap-port.ts';
import { seededRandom } from '../../seeded-random.ts';
import {
  beginRun,
  candidate,
  facts,
  type OpenRun,
  redirecting,
  type StoreHarness,
  statesOf,
  touch,
  url,
  visited,
} from './harness.ts';
import { revisitedSite } from './revisited-site.ts';

const DAY = 86_400_000;

export function describeOrphans(harness: () => StoreHarness): void {
  const now = () => harness().clock.now();
  const { named, readSite, revisit, orphansOf } = revisitedSite(harness);

  const GONE: Partial<Settlement> = {
    state: PAGE_STATES.Gone,
    reason: 'http: 410',
    facts: null,
    touch: touch({ statusCode: 410, error: 'http: 410' }),
    visit: visited('gone', 'status', { statusCode: 410 }),
  };

  describe('findOrphans', () => {
    it('tells of a page that lost its last link, not of one that is still linked', async () => {
      const first = await readSite({
        start: ['kept', 'lost', 'other'],
        kept: [],
        lost: ['lost'],
        other: ['kept'],
      });
      const run = await revisit(first, { start: named(['other']) });
      expect(await orphansOf(run)).toEqual(['lost']);
      expect(await statesOf(harness())).toMatchObject({ lost: 'Processed', kept: 'Processed' });
      const [row] = await harness().read("SELECT change FROM pages WHERE url LIKE '%/lost'");
      expect(row.change).toBe('gone');
    });

    it('tells of nobody where nothing was lost, nor in a first run', async () => {
      const first = await readSite({ start: ['a'], a: [], unlinked: [] });
      expect(await orphansOf(first)).toEqual([]);
      const run = await revisit(first, { start: named(['a', 'new']) });
      expect(await orphansOf(run)).toEqual([]);
    });

    it('tells of it once: in the line of its visit, or in one of its own where there was none', async () => {
      const first = await readSite({ start: ['asked', 'unasked'], asked: [], unasked: [] });
      const spared = { statusCode: 304, bytesSaved: 50, visitedAt: Date.UTC(2026, 0, 5) };
      const run = await revisit(first, {
        start: named([]),
        asked: { facts: null, touch: touch(), visit: visited('unchanged', '304', spared) },
      });
      expect(await orphansOf(run)).toEqual(['asked', 'unasked']);
      expect(await findOrphans(run.store.history, now(), now())).toBe(0);
      const rows = await harness().read(
        `SELECT p.url, v.outcome, v.known_by, v.status_code, v.bytes_saved, v.visited_at FROM visits v
         JOIN pages p ON p.id = v.page_id WHERE v.run_id = ${run.start.runId} ORDER BY p.url`,
      );
      const orphan = { outcome: 'gone', known_by: 'orphan' };
      expect(rows).toEqual([
        {
          ...orphan,
          url: url('asked'),
          status_code: 304,
          bytes_saved: 50,
          visited_at: '2026-01-05T00:00:00.000Z',
        },
        expect.objectContaining({ url: url('start'), outcome: 'changed' }),
        {
          ...orphan,
          url: url('unasked'),
          status_code: null,
          bytes_saved: 0,
          visited_at: '2026-01-02T00:00:00.000Z',
        },
      ]);
      expect((await run.store.run.counts()).ledger).toContainEqual({
        outcome: 'gone',
        knownBy: 'orphan',
        visits: 2,
        bytesSaved: 50,
      });
      const third = await revisit(run, { start: named([]), asked: {} });
      expect(await orphansOf(third)).toEqual([]);
    });

    it('spares start URLs, pages that were not read, and pages that were read in this run for the first time', async () => {
      const first = await readSite({ start: ['a', 'dead'], a: ['start', 'late'] });
      const held = await first.lease();
      const dead = { state: PAGE_STATES.DeadLink, reason: 'http: 404', facts: facts({ statusCode: 404 }) };
      expect((await first.visit(held, dead)).url).toBe(url('dead'));
      await first.store.frontier.release(held);
      const run = await revisit(first, { start: named(['a']), a: named([]), late: {} });
      expect(await orphansOf(run)).toEqual([]);
    });

    it('takes the links of a page that vanished for lost', async () => {
      const first = await readSite({ start: ['a', 'b'], a: ['x', 'y'], b: ['y'], x: [], y: [] });
      const run = await revisit(first, { a: GONE });
      expect(await orphansOf(run)).toEqual(['x']);
    });

    it('takes the links of a page for lost whose type is refused by now, until it is a page again', async () => {
      const first = await readSite({ start: ['a', 'b'], a: ['c'], b: [], c: [] });
      const refused: Partial<Settlement> = {
        ...named([]),
        state: PAGE_STATES.ContentMismatch,
        reason: 'type: application/pdf',
        facts: facts({ contentType: 'application/pdf' }),
      };
      const second = await revisit(first, { a: refused });
      expect(await orphansOf(second)).toEqual(['c']);
      const third = await revisit(second, { a: named(['c']) });
      expect(await orphansOf(third)).toEqual([]);
      expect((await harness().read("SELECT url FROM pages WHERE change = 'gone'")).length).toBe(0);
    });

    it('takes the links of a start URL that vanished for what they were', async () => {
      const first = await readSite({ start: ['a', 'b'], a: ['start'], b: [] });
      const run = await revisit(first, { start: GONE, a: {}, b: {} });
      expect(await orphansOf(run)).toEqual([]);
      expect(await statesOf(harness())).toMatchObject({ start: 'Gone', a: 'Processed', b: 'Processed' });
      const back = await revisit(run, { start: named(['a']) });
      expect(await orphansOf(back)).toEqual(['b']);
    });

    it('takes pages that only lead to each other for lost, with all that only they lead to', async () => {
      const first = await readSite({
        start: ['island', 'kept'],
        island: ['shore', 'start', 'kept'],
        shore: ['island', 'way'],
        way: [],
        end: ['island'],
        kept: [],
      });
      const second = await revisit(first, {
        start: named(['kept']),
        way: (claim) => redirecting(claim, candidate('end')),
      });
      expect(await orphansOf(second)).toEqual(['end', 'island', 'shore', 'way']);
      // They are none that lead anywhere, whatever is new in them.
      const third = await revisit(second, { shore: named(['island', 'way', 'start']) });
      expect(await orphansOf(third)).toEqual([]);
      expect(await toldOf(third, 'shore')).toBe('changed content; gone');
      const fourth = await revisit(third, { kept: named(['shore']) });
      expect(await orphansOf(fourth)).toEqual([]);
      for (const name of ['end', 'island', 'shore'])
        expect(await toldOf(fourth, name)).toBe('changed orphan, status orphan 200; changed');
    });

    it.each([1, 2, 3])(
      'knows after every run who cannot be reached, whatever changed: seed %d',
      async (seed) => {
        const random = seededRandom(seed);
        const pages = Array.from({ length: 9 }, (_, n) => `p${n}`);
        const site: Record<string, string[]> = { start: pages };
        for (const name of pages) site[name] = [random.pick(pages), random.pick(pages)];
        let run = await readSite(site);
        for (let n = 0; n < 12; n++) {
          const found: Record<string, Partial<Settlement>> = {};
          for (const name of ['start', ...pages].filter(() => random.next() < 0.4)) {
            const most = name === 'start' ? 2 : 3;
            site[name] = Array.from({ length: random.below(most) }, () => random.pick(pages));
            found[name] = named([...new Set(site[name])]);
          }
          run = await revisit(run, found);
          await findOrphans(run.store.history, now(), now());
          const rows = await harness().read('SELECT p.url FROM orphan o JOIN pages p ON p.id = o.page_id');
          const reached = new Set(['start']);
          for (const name of reached) for (const target of site[name]) reached.add(target);
          expect(rows.map((row) => String(row.url).split('/').pop()!).sort(), `run ${n}`).toEqual(
            pages.filter((name) => !reached.has(name)),
          );
        }
      },
    );

    it('takes pages for lost that only one leads to which failed and lost its own last link', async () => {
      const first = await readSite({ start: ['way'], way: ['end'], end: [] });
      const failed: Partial<Settlement> = {
        state: PAGE_STATES.Failed,
        reason: 'http: 500',
        facts: null,
        touch: touch({ statusCode: 500, error: 'http: 500' }),
        visit: visited('failed', 'status', { statusCode: 500 }),
      };
      const second = await revisit(first, { start: named([]), way: failed });
      expect(await orphansOf(second)).toEqual(['end']);
    });

    it('takes pages that a sitemap names for a beginning, with all that they lead to', async () => {
      const first = await readSite({ start: ['a', 'b'], a: ['b'], b: ['a', 'c'], c: [] });
      const entry = {
        candidate: candidate('b'),
        lastmod: null,
        lastmodText: null,
        details: null,
        changefreq: null,
        priority: null,
        sitemap: url('sitemap.xml'),
      };
      await first.store.sitemaps.saveEntries([entry], now());
      const second = await revisit(first, { start: named([]) });
      expect(await orphansOf(second)).toEqual([]);
    });

    it('spares a page that a redirect leads to, until it leads elsewhere', async () => {
      const first = await readSite({ start: ['moved', 'target'], moved: [], target: [] });
      const second = await revisit(first, {
        start: named(['moved']),
        moved: (claim) => redirecting(claim, candidate('target')),
      });
      expect(await orphansOf(second)).toEqual([]);
      const change: PageChange = {
        parts: ['redirect'],
        fields: [{ name: 'redirect', before: url('target'), after: url('elsewhere') }],
        linksAdded: [],
        linksRemoved: [],
        text: null,
        wordsAdded: 0,
        wordsRemoved: 0,
      };
      const third = await revisit(second, {
        moved: (claim) => ({ ...redirecting(claim, candidate('elsewhere')), change }),
      });
      expect(await orphansOf(third)).toEqual(['target']);
    });

    it('takes an entry for lost when the sitemaps of its host were all read since and did not name it', async () => {
      const first = await readSite({ start: ['linked'], linked: [], listed: [], stays: [] });
      const entry = (name: string) => ({
        candidate: candidate(name),
        lastmod: 5 * DAY,
        changefreq: null,
        priority: null,
        sitemap: url('sitemap.xml'),
        lastmodText: null,
        details: null,
      });
      await first.store.sitemaps.saveEntries(['linked', 'listed', 'stays'].map(entry), now());
      const read = (
        run: OpenRun,
        method: 'sitemap' | 'not_found',
        trouble: HostDiscovery['trouble'] = null,
      ) =>
        run.store.sitemaps.saveDiscovery('a.test', {
          method,
          checkedAt: now(),
          entries: 1,
          sitemaps: [],
          trouble,
          searched: null,
          guessed: null,
        });
      await read(first, 'sitemap');
      const unread = await revisit(first, { start: named(['linked']) });
      expect(await orphansOf(unread)).toEqual([]);
      const failed = await revisit(unread, { start: named(['linked']) });
      await read(failed, 'not_found');
      expect(await orphansOf(failed)).toEqual([]);
      let last = failed;
      for (const trouble of ['lasting', 'passing'] as const) {
        last = await revisit(last, { start: named(['linked']) });
        await last.store.sitemaps.saveEntries([entry('stays')], now());
        await read(last, 'sitemap', trouble);
        expect(await orphansOf(last)).toEqual([]);
      }
      const run = await revisit(last, { start: named(['linked']) });
      await run.store.sitemaps.saveEntries([entry('stays')], now());
      await read(run, 'sitemap');
      // Whoever is cut off in the middle leaves nothing that the next call does not find.
      const cutOff = run.store.history.judgeOrphans(async (links) => {
        await links.lostTargets(now());
        throw new Error('cut off');
      });
      await expect(cutOff).rejects.toThrow('cut off');
      await run.store.flush();
      expect(await orphansOf(run)).toEqual(['listed']);
      // What was lost leads nowhere from now on: with its last link the page is one too.
      const later = await revisit(run, { start: named([]) });
      expect(await orphansOf(later)).toEqual(['linked']);
      const claims = await revisit(later, { linked: {}, stays: {} });
      expect(await orphansOf(claims)).toEqual([]);
    });

    it('takes a page for lost that failed when sitemaps ceased to name it, once it answers again', async () => {
      const first = await readSite({ start: [], listed: [] });
      const entry = {
        candidate: candidate('listed'),
        lastmod: null,
        lastmodText: null,
        details: null,
        changefreq: null,
        priority: null,
        sitemap: url('sitemap.xml'),
      };
      await first.store.sitemaps.saveEntries([entry], now());
      const second = await revisit(first, {
        start: named([]),
        listed: {
          state: PAGE_STATES.Failed,
          reason: 'http: 500',
          facts: null,
          touch: touch({ statusCode: 500, error: 'http: 500' }),
          visit: visited('failed', 'status', { statusCode: 500 }),
        },
      });
      await second.store.sitemaps.saveDiscovery('a.test', {
        method: 'sitemap',
        checkedAt: now(),
        entries: 0,
        sitemaps: [],
        trouble: null,
        searched: null,
        guessed: null,
      });
      expect(await orphansOf(second)).toEqual([]);
      const third = await revisit(second, { start: named([]), listed: {} });
      expect(await orphansOf(third)).toEqual(['listed']);
    });

    it('takes pages for lost that were found by way of an orphan only, in the run after', async () => {
      const first = await readSite({ start: ['way'], way: [] });
      const second = await revisit(first, { start: named([]), way: named(['found']) });
      const held = await second.lease();
      await second.visit(held, named([]));
      await second.store.frontier.release(held);
      expect(await orphansOf(second)).toEqual(['way']);
      const third = await revisit(second, { start: named([]), found: {} });
      expect(await orphansOf(third)).toEqual(['found']);
    });

    /** The line of a page in a run, what it says of its change, and what stands beside the page. */
    async function toldOf(run: OpenRun, name: string): Promise<string> {
      await run.store.flush();
      const where = `p.url = '${url(name)}' AND v.run_id = ${run.start.runId}`;
      const rows = await harness().read(
        `SELECT v.outcome, v.known_by, c.detail, p.change FROM visits v JOIN pages p ON p.id = v.page_id
         LEFT JOIN page_changes c ON c.page_id = v.page_id AND c.run_id = v.run_id WHERE ${where}`,
      );
      expect(rows).toHaveLength(1);
      const [{ outcome, known_by, detail, change }] = rows;
      const fields = detail === null ? [] : (JSON.parse(String(detail)) as PageChange).fields;
      const told = fields.map(({ name, before, after }) => `, ${name} ${before} ${after}`).join('');
      return `${outcome} ${known_by}${told}; ${change}`;
    }
    const UNCHANGED: Partial<Settlement> = {
      facts: null,
      touch: touch(),
      visit: visited('unchanged', '304', { statusCode: 304 }),
    };

    it('calls it gone as long as nothing leads to it, whatever its visits find', async () => {
      const first = await readSite({ start: ['a', 'lost'], a: [], lost: [] });
      const second = await revisit(first, { start: named(['a']) });
      expect(await orphansOf(second)).toEqual(['lost']);
      const third = await revisit(second, { start: UNCHANGED, lost: UNCHANGED });
      expect(await orphansOf(third)).toEqual([]);
      expect(await toldOf(third, 'lost')).toBe('unchanged 304; gone');
      const fourth = await revisit(third, { start: named(['a']), lost: {} });
      expect(await orphansOf(fourth)).toEqual([]);
      expect(await toldOf(fourth, 'lost')).toBe('changed content; gone');
      // A run that ends early does not ask who is one, and leaves it so.
      const fifth = await revisit(fourth, { lost: UNCHANGED });
      await fifth.store.run.finish('completed', now(), null);
      expect(await toldOf(fifth, 'lost')).toBe('unchanged 304; gone');
    });

    it('tells that it is back when a page leads to it again, visited or not, and then that it is lost again', async () => {
      const first = await readSite({ start: ['asked', 'unasked'], asked: [], unasked: [] });
      const second = await revisit(first, { start: named([]) });
      expect(await orphansOf(second)).toEqual(['asked', 'unasked']);
      const third = await revisit(second, { start: named(['asked', 'unasked']), asked: UNCHANGED });
      expect(await orphansOf(third)).toEqual([]);
      for (const name of ['asked', 'unasked'])
        expect(await toldOf(third, name)).toBe('changed orphan, status orphan 200; changed');
      expect((await third.store.run.counts()).ledger).toContainEqual({
        outcome: 'changed',
        knownBy: 'orphan',
        visits: 2,
        bytesSaved: 0,
      });
      const fourth = await revisit(third, { start: UNCHANGED, asked: UNCHANGED });
      expect(await orphansOf(fourth)).toEqual([]);
      expect(await toldOf(fourth, 'asked')).toBe('unchanged 304; unchanged');
      const fifth = await revisit(fourth, { start: named([]) });
      expect(await orphansOf(fifth)).toEqual(['asked', 'unasked']);
    });

    it('catches up on what runs that ended early, or a page that failed just then, left untold', async () => {
      const first = await readSite({ start: ['a', 'b'], a: [], b: [] });
      // Nobody asked at the end of this one.
      const early = await revisit(first, { start: named(['b']) });
      const second = await revisit(early, { b: UNCHANGED });
      expect(await orphansOf(second)).toEqual(['a']);
      const failed: Partial<Settlement> = {
        state: PAGE_STATES.Failed,
        reason: 'http: 503',
        facts: null,
        touch: touch({ statusCode: 503, error: 'http: 503' }),
        visit: visited('failed', 'status', { statusCode: 503 }),
      };
      const third = await revisit(second, { start: named(['a', 'b']), a: failed });
      expect(await orphansOf(third)).toEqual([]);
      const fourth = await revisit(third, { a: UNCHANGED });
      expect(await orphansOf(fourth)).toEqual([]);
      expect(await toldOf(fourth, 'a')).toBe('changed orphan, status orphan 200; changed');
    });

    it('tells beside it what else changed, and nothing of links from itself or from what is gone', async () => {
      const first = await readSite({ start: ['a', 'lost'], a: [], lost: [] });
      const second = await revisit(first, { start: named(['a']) });
      expect(await orphansOf(second)).toEqual(['lost']);
      const third = await revisit(second, { lost: named(['lost']), a: GONE });
      await orphansOf(third);
      expect(await toldOf(third, 'lost')).toBe('changed content; gone');
      const change: PageChange = {
        parts: ['title'],
        fields: [{ name: 'title', before: 'x', after: 'y' }],
        linksAdded: [],
        linksRemoved: [],
        text: null,
        wordsAdded: 0,
        wordsRemoved: 0,
      };
      const fourth = await revisit(third, { start: named(['lost']), lost: { change } });
      await orphansOf(fourth);
      expect(await toldOf(fourth, 'lost')).toBe('changed orphan, status orphan 200, title x y; changed');
    });

    it('tells that it is back when a redirect ends there, or a sitemap names it', async () => {
      const first = await readSite({ start: ['led', 'named', 'way'], led: [], named: [], way: [] });
      const second = await revisit(first, { start: named(['way']) });
      expect(await orphansOf(second)).toEqual(['led', 'named']);
      const third = await revisit(second, { way: (claim) => redirecting(claim, candidate('led')) });
      const entry = {
        candidate: candidate('named'),
        lastmod: null,
        changefreq: null,
        priority: null,
        sitemap: url('sitemap.xml'),
        lastmodText: null,
        details: null,
      };
      await third.store.sitemaps.saveEntries([entry], now());
      await orphansOf(third);
      for (const name of ['led', 'named'])
        expect(await toldOf(third, name)).toBe('changed orphan, status orphan 200; changed');
    });

    it('does not look at other projects', async () => {
      const first = await readSite({ start: ['lost'], lost: [] });
      await first.store.run.finish('completed', now(), null);
      await first.store.close();
      const other = await beginRun(harness(), { project: 'other' });
      await other.store.frontier.offer([candidate('start', { depth: 0 })]);
      await other.visit(await other.lease(), named(['lost']));
      await other.store.run.finish('completed', now(), null);
      await other.store.close();
      const run = await revisit(await beginRun(harness()), { start: named([]) });
      expect(await orphansOf(run)).toEqual(['lost']);
    });
  });
}
