/** What the read side tells of history, changes, sitemaps and revisits, after the little crawl. */
import { expect, it } from 'vitest';
import type { ReadSide } from '../../src/store/read-side.ts';
import { CHANGE, HASH, listed } from './little-crawl.ts';
import { url } from './store/harness.ts';

export function describeReadHistory(asked: () => ReadSide): void {
  it('tells the history of a page, newest last, in JSON types', async () => {
    const root = (await asked().page(1, url('')))!;
    const history = await asked().visits(root.id);
    expect(history).toHaveLength(2);
    expect(history[0]).toMatchObject({ run: 1, outcome: 'new', known_by: 'content', status_code: 200 });
    expect(history[1]).toEqual({
      run: 2,
      visited_at: '2026-01-01T00:01:01.000Z',
      outcome: 'changed',
      known_by: 'content',
      status_code: 200,
      etag: '"e2"',
      last_modified: 'Fri, 02 Jan 2026 00:00:00 GMT',
      content_hash: Buffer.from(HASH).toString('hex'),
      text_hash: Buffer.from(HASH).toString('hex'),
      simhash_distance: 7,
      bytes: 1234,
      bytes_saved: 0,
      duration_ms: 12.5,
    });
    expect(await asked().visits(99_999)).toEqual([]);
  });

  it('tells changes by run, then by page, what is asked for', async () => {
    const told = async (more: Partial<Parameters<ReadSide['changes']>[0]>) =>
      (await listed(asked().changes({ projectId: 1, fromRun: 1, toRun: 2, ...more }))).map(
        ({ run, outcome, url }) => `${run} ${outcome} ${url.slice('https://a.test/'.length)}`,
      );
    expect(await told({})).toEqual(['1 new ', '1 new dead', '1 new moved', '1 new target', '2 changed ']);
    expect(await told({ fromRun: 2 })).toEqual(['2 changed ']);
    expect(await told({ toRun: 1, limit: 2 })).toEqual(['1 new ', '1 new dead']);
    expect(await told({ outcomes: ['unchanged'] })).toEqual(['2 unchanged moved']);
    const root = (await asked().page(1, url('')))!;
    expect(await told({ pageId: root.id })).toEqual(['1 new ', '2 changed ']);
    const [{ projectId }] = [{ projectId: (await asked().projects())[1].id }];
    expect(await told({ projectId })).toEqual([]);
    const [change] = await listed(asked().changes({ projectId: 1, fromRun: 2, toRun: 2 }));
    expect(change).toMatchObject({
      page_id: root.id,
      title: null,
      parts: ['title', 'links'],
      change: CHANGE,
    });
  });

  it('counts visits by outcome and how it was known', async () => {
    expect(await asked().ledger(2)).toEqual([
      { outcome: 'changed', knownBy: 'content', visits: 1, bytesSaved: 0 },
      { outcome: 'unchanged', knownBy: '304', visits: 1, bytesSaved: 300 },
    ]);
    expect(await asked().ledger(99)).toEqual([]);
  });

  it('lists pages by change: their last outcome, how often, and not visited for how long', async () => {
    const names = async (filter: Parameters<ReadSide['pages']>[0]) =>
      (await listed(asked().pages({ project: 'shop', ...filter }))).map((page) => page.url.split('/').pop());
    expect(await names({ changes: ['changed', 'unchanged'] })).toEqual(['', 'moved']);
    expect(await names({ changingMoreThan: 1.4 })).toEqual(['']);
    expect(await names({ changingMoreThan: 1.5 })).toEqual([]);
    const secondRun = Date.UTC(2026, 0, 1, 0, 1);
    expect(await names({ notVisitedSince: secondRun })).toEqual(['dead', 'target']);
    expect(await asked().page(1, url(''))).toMatchObject({ change_frequency: 1.5, changes_detected: 2 });
    expect(await asked().page(1, url('fresh'))).toMatchObject({ change_frequency: 0, changes_detected: 0 });
  });

  it('lists what sitemaps say, and how hosts were found', async () => {
    const dead = (await asked().page(1, url('dead')))!;
    const entries = (await listed(asked().sitemapEntries({ project: 'shop' }))).flat();
    expect(entries).toEqual([
      {
        url: url('dead'),
        lastmod: '2025-12-31T00:00:00.000Z',
        changefreq: 'weekly',
        priority: 0.75,
        sitemap: url('sitemap.xml'),
        first_seen: '2026-01-01T00:01:01.000Z',
        last_seen: '2026-01-01T00:01:01.000Z',
        page_id: dead.id,
        lastmod_text: '2025-12-31',
        details: '{"kind":"atom"}',
      },
      expect.objectContaining({ url: url('listed'), lastmod: null, priority: null, lastmod_text: null }),
    ]);
    expect((await listed(asked().sitemapEntries({ host: 'a.test', limit: 1 }))).flat()).toEqual(
      entries.slice(0, 1),
    );
    expect((await listed(asked().sitemapEntries({ host: 'b.test' }))).flat()).toEqual([]);
    expect((await listed(asked().sitemapEntries({ project: 'other' }))).flat()).toEqual([]);
    expect(await asked().discoveries({ project: 'shop' })).toEqual([
      {
        host: 'a.test',
        method: 'sitemap',
        checked_at: '2026-01-01T00:01:01.000Z',
        entries: 2,
        sitemaps: JSON.stringify([url('sitemap.xml'), url('news.xml')]),
        trouble: 'lasting',
        looks: JSON.stringify({ [url('news.xml')]: { at: 1, entries: 2 } }),
        searched: '["a.test"]',
        guessed: '["/sitemap.xml"]',
      },
      expect.objectContaining({ host: 'b.test', method: 'not_found' }),
    ]);
    expect(await asked().discoveries({ project: 'other' })).toEqual([]);
  });

  it('gives a plan of revisits what it starts from, and what it learned', async () => {
    const pages = (await listed(asked().revisitPages(1))).flat();
    expect(pages.map((page) => page.url.split('/').pop())).toEqual([
      '',
      'dead',
      'moved',
      'later',
      'Ünï',
      'target',
      'fresh',
      'listed',
    ]);
    expect(pages[0]).toEqual({
      pageId: expect.any(Number),
      hostId: expect.any(Number),
      url: url(''),
      depth: 0,
      state: 'Processed',
      wasRead: true,
      visitedAt: Date.UTC(2026, 0, 1, 0, 1, 1),
      changeFrequency: 1.5,
      sitemapDate: null,
      learnedAt: Date.UTC(2026, 0, 1, 0, 1, 1),
      rateShape: 0.5,
      rateDays: 3.25,
      signals: 1,
      signalsInAll: 4,
      flags: 6,
    });
    expect(pages[1]).toMatchObject({ sitemapDate: Date.UTC(2025, 11, 31), learnedAt: null, rateShape: 0 });
    expect(pages[2]).toMatchObject({ learnedAt: null, flags: 0 });
    // Given up with its host before its first visit.
    expect(pages[4]).toMatchObject({ visitedAt: null, state: 'RateLimited', wasRead: false });
    expect(pages[6]).toMatchObject({ visitedAt: null, state: 'Queued' });
    expect(await listed(asked().revisitPages(1, pages[1].pageId))).toEqual([[pages[1]]]);
    expect(await asked().revisitPlan(1)).toEqual({ plan: '{"price":0.5}', learnedRun: 1 });
    expect(await asked().revisitPlan((await asked().projects())[1].id)).toEqual({
      plan: null,
      learnedRun: 0,
    });
  });

  it('replays the visits of later runs in the order of time', async () => {
    const named = async (after: number) =>
      Promise.all(
        (await listed(asked().visitsAfter(1, after))).map(
          async ({ run, pageId, outcome }) =>
            `${run} ${(await asked().pageById(pageId))!.url.split('/').pop()} ${outcome}`,
        ),
      );
    expect(await named(1)).toEqual(['2 moved unchanged', '2  changed']);
    expect((await named(0)).slice(-3)).toEqual([
      expect.stringMatching(/^1 /),
      '2 moved unchanged',
      '2  changed',
    ]);
    expect(await named(2)).toEqual([]);
    expect((await listed(asked().visitsAfter(1, 1)))[1]).toEqual({
      run: 2,
      pageId: (await asked().page(1, url('')))!.id,
      hostId: await asked().hostId('a.test'),
      visitedAt: Date.UTC(2026, 0, 1, 0, 1, 1),
      outcome: 'changed',
      knownBy: 'content',
      statusCode: 200,
      lastModified: 'Fri, 02 Jan 2026 00:00:00 GMT',
    });
  });

  it('knows how a project is to be crawled, and how a run was', async () => {
    expect(await asked().projectSettings('shop')).toBe('{"mode":"smart"}');
    expect(await asked().projectSettings('other')).toBeNull();
    expect(await asked().projectSettings('nobody')).toBeNull();
    expect(await asked().run(2)).toMatchObject({ mode: 'incremental', mode_reason: '2 of 80 changed' });
    expect(await asked().run(1)).toMatchObject({ mode: null, mode_reason: null });
  });
}
