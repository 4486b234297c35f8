/**
 * The contract of lists: random questions are answered by walking all cursors to the end and back, and have to give what
 * a plain model gives. Every adapter runs it whole.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PAGE_STATES, type PageState } from '../../src/frontier/page-state.ts';
import { REQUEST_KINDS } from '../../src/store/host-port.ts';
import {
  LIST_SORTS,
  type ListName,
  type ListQuery,
  type ListRow,
  type PageListFilter,
} from '../../src/store/list-queries.ts';
import type { PageRow, ReadSide } from '../../src/store/read-side.ts';
import { seededRandom } from '../seeded-random.ts';
import {
  fitsPage,
  fitsRequest,
  fitsVisit,
  type ModelRequest,
  type ModelVisit,
  sortedBy,
} from './list-model.ts';
import { listed, type ReadHarness } from './little-crawl.ts';
import { crawlAtRandom, HOSTS } from './random-crawl.ts';
import { candidate, refused } from './store/harness.ts';

type Random = () => number;
const pick = <T>(random: Random, list: readonly T[]): T => list[Math.floor(random() * list.length)];
const some = <T>(random: Random, list: readonly T[]): T[] => list.filter(() => random() < 0.4);

/** All rows by `next`, and all rows again by `previous` from the end; the pages of both ways are given too. */
export async function walkBothWays<Name extends ListName>(
  side: ReadSide,
  name: Name,
  query: ListQuery<Name>,
  between: () => Promise<void> = async () => {},
) {
  const there: ListRow<Name>[][] = [];
  const back: ListRow<Name>[][] = [];
  let answer = await side.list(name, query);
  expect(answer.previous).toBeNull();
  there.push(answer.rows);
  while (answer.next !== null) {
    await between();
    answer = await side.list(name, { ...query, cursor: answer.next });
    there.push(answer.rows);
  }
  back.unshift(answer.rows);
  while (answer.previous !== null) {
    await between();
    answer = await side.list(name, { ...query, cursor: answer.previous });
    back.unshift(answer.rows);
    expect(answer.next).not.toBeNull();
  }
  return { there, back };
}

function randomFilter(random: Random, pages: readonly PageRow[]): PageListFilter {
  const page = pick(random, pages);
  const states = Object.keys(PAGE_STATES) as PageState[];
  const all: (() => PageListFilter)[] = [
    () => ({ project: pick(random, ['shop', 'other']) }),
    () => ({ urlPart: page.url.slice(8, 8 + Math.floor(random() * 14)).toUpperCase() }),
    () => ({ urlPart: pick(random, ['DOCS', '/p1', '?n=', '%', '_']) }),
    () => ({ statusCodes: some(random, [200, 301, 404, 500]) }),
    () => ({ statusClasses: some(random, [1, 2, 3, 4, 5] as const) }),
    () => ({ contentTypes: some(random, ['text/html', 'application/pdf']) }),
    () => ({ minDepth: Math.floor(random() * 4) }),
    () => ({ maxDepth: Math.floor(random() * 5) }),
    () => ({ section: pick(random, ['docs', '/docs/', '/docs/api', 'blog', 'shop', 'doc', '/']) }),
    () => ({ hosts: some(random, [...HOSTS, 'c.test', 'nowhere.test']) }),
    () => ({ states: some(random, states) }),
    () => ({ statuses: some(random, ['success', 'failed', 'skipped'] as const) }),
    () => ({ statusIn: { codes: some(random, [200, 404]), classes: some(random, [3, 5] as const) } }),
    () => ({ search: page.url.slice(10, 12 + Math.floor(random() * 6)) }),
    () => ({ reason: pick(random, ['robots', 'http: 4', 'exclude: /cart/', 'depth']) }),
    () => ({ changes: some(random, ['new', 'changed', 'unchanged', 'gone', 'failed'] as const) }),
    () => ({ noindex: random() < 0.5 }),
    () => ({ visitedRun: 1 + Math.floor(random() * 4) }),
    () => ({ discoveredRun: 1 + Math.floor(random() * 4) }),
  ];
  return Object.assign({}, ...Array.from({ length: Math.floor(random() * 3) }, () => pick(random, all)()));
}

export function describeLists(name: string, start: () => Promise<ReadHarness>): void {
  describe(`lists on ${name}`, () => {
    let harness: ReadHarness;
    let side: ReadSide;
    let pages: PageRow[];
    beforeAll(async () => {
      harness = await start();
      await crawlAtRandom(harness, { project: 'shop', seed: 1, urls: 120 });
      await crawlAtRandom(harness, { project: 'other', seed: 2, urls: 60 });
      await crawlAtRandom(harness, { project: 'shop', seed: 3, urls: 40 });
      await crawlAtRandom(harness, { project: 'shop', seed: 4, urls: 0 });
      side = await harness.openReadSide();
      pages = await listed(side.pages({}));
    });
    afterAll(async () => {
      await side?.close();
      await harness?.cleanUp();
    });

    async function expectAsModel(seed: number, sorts: readonly (keyof PageRow)[]): Promise<void> {
      const random = seededRandom(seed).next;
      let found = 0;
      for (let round = 0; round < 150; round++) {
        const filter = randomFilter(random, pages);
        const sort = pick(random, sorts);
        const order = random() < 0.5 ? 'asc' : 'desc';
        const limit = 1 + Math.floor(random() * 40);
        const fitting = pages.filter((page) => fitsPage(page, filter));
        const keyValueOf = (page: PageRow) =>
          sort === 'visited_at' ? Date.parse(page.visited_at ?? '') : Number(page[sort] ?? Number.NaN);
        const hasValue = ({ [sort]: value, visited_run }: PageRow) =>
          value !== null && (sort !== 'change_frequency' || visited_run !== null);
        const expected = sortedBy(fitting.filter(hasValue), (page) => [keyValueOf(page), page.id], order);
        const what = JSON.stringify({ filter, sort, order, limit });
        const { there, back } = await walkBothWays(side, 'pages', { filter, sort, order, limit });
        expect(there.flat(), what).toEqual(expected);
        // All pages of results are full but the last: going back cuts the list at the same places.
        expect(back, what).toEqual(there);
        expect(await side.count('pages', filter)).toEqual({ count: fitting.length, isExact: true });
        found += expected.length > 0 ? 1 : 0;
      }
      expect(found).toBeGreaterThan(60);
    }

    it('of pages give what a model gives, there and back, by random filters', () => expectAsModel(7, ['id']));

    it('of pages are sorted by their indexes, which also find what a filter asks for', async () => {
      const opened = await harness.openStore();
      await opened.projects.prepareLists();
      await opened.close();
      await expectAsModel(70, ['id']);
      const sorts = Object.keys(LIST_SORTS.pages) as (keyof PageRow)[];
      expect(sorts).toHaveLength(8);
      await expectAsModel(71, sorts);
    });

    it('of visits and changes begin with the newest run', async () => {
      const projects = new Map(pages.map((page) => [page.id, page]));
      const visits: ModelVisit[] = [];
      for (const { id, url, project } of pages)
        for (const visit of await side.visits(id)) visits.push({ ...visit, page_id: id, url, project });
      expect(new Set(visits.map(({ run }) => run)).size).toBe(4);
      const random = seededRandom(8).next;
      const keyOf = (row: { run: number; page_id: number; visited_at: string }) => [
        row.run,
        row.page_id,
        Date.parse(row.visited_at),
      ];
      for (let round = 0; round < 40; round++) {
        const order = random() < 0.7 ? undefined : 'asc';
        const filter = Object.assign(
          {},
          random() < 0.4 ? { project: pick(random, ['shop', 'other']) } : {},
          random() < 0.4 ? { pageId: pick(random, visits).page_id } : {},
          random() < 0.3 ? { fromRun: 2 } : {},
          random() < 0.3 ? { toRun: 3 } : {},
          random() < 0.4 ? { outcomes: some(random, ['new', 'changed', 'unchanged'] as const) } : {},
        );
        const limit = 1 + Math.floor(random() * 20);
        const expected = sortedBy(
          visits.filter((visit) => fitsVisit(visit, filter)),
          keyOf,
          order ?? 'desc',
        );
        const { there, back } = await walkBothWays(side, 'visits', { filter, order, limit });
        const shown = expected.map(({ project: _, ...visit }) => visit);
        expect(there.flat(), JSON.stringify(filter)).toEqual(shown);
        expect(back).toEqual(there);
        const told = expected.filter(
          ({ outcome }) => 'outcomes' in filter || ['new', 'changed', 'gone'].includes(outcome),
        );
        const changes = (await walkBothWays(side, 'changes', { filter, order, limit })).there.flat();
        expect(changes.map(keyOf)).toEqual(told.map(keyOf));
        for (const change of changes) expect(change.title).toBe(projects.get(change.page_id)!.title);
      }
    });

    it('of links have the state and the status of their target', async () => {
      const byUrl = new Map(pages.map((page) => [`${page.project} ${page.url}`, page]));
      const byId = new Map(pages.map((page) => [page.id, page]));
      const links = (
        await Promise.all(
          ['shop', 'other'].map((project) =>
            listed(side.links({ project })).then((rows) =>
              rows.map((link) => {
                const [from, to] = [link.from_url, link.to_url].map((url) => byUrl.get(`${project} ${url}`)!);
                return {
                  ...link,
                  from_id: from.id,
                  to_id: to.id,
                  to_state: to.state,
                  to_status: to.status_code,
                };
              }),
            ),
          ),
        )
      ).flat();
      expect(links.length).toBeGreaterThan(100);
      const random = seededRandom(9).next;
      for (let round = 0; round < 60; round++) {
        const order = random() < 0.5 ? 'asc' : 'desc';
        const link = pick(random, links);
        const filter = Object.assign(
          {},
          random() < 0.4 ? { project: pick(random, ['shop', 'other']) } : {},
          random() < 0.3 ? { fromId: link.from_id } : {},
          random() < 0.4 ? { toId: link.to_id } : {},
          random() < 0.3 ? { toStates: some(random, ['Processed', 'DeadLink', 'Skipped'] as const) } : {},
          random() < 0.3 ? { toStatusClasses: some(random, [2, 4, 5] as const) } : {},
        );
        const expected = sortedBy(
          links.filter(
            (row) =>
              (filter.project === undefined || byId.get(row.from_id)!.project === filter.project) &&
              (filter.fromId === undefined || row.from_id === filter.fromId) &&
              (filter.toId === undefined || row.to_id === filter.toId) &&
              (filter.toStates === undefined || filter.toStates.includes(row.to_state as 'Processed')) &&
              (filter.toStatusClasses === undefined ||
                filter.toStatusClasses.some(
                  (first: number) => Math.floor((row.to_status ?? 0) / 100) === first,
                )),
          ),
          (row) => [row.from_id, row.to_id],
          order,
        );
        const limit = 1 + Math.floor(random() * 60);
        const { there, back } = await walkBothWays(side, 'links', { filter, order, limit });
        const direction = filter.toId === undefined ? 'out' : 'in';
        expect(there.flat(), JSON.stringify(filter)).toEqual(expected.map((row) => ({ ...row, direction })));
        expect(back).toEqual(there);
      }
    });

    it('of runs begin with the newest', async () => {
      const runs = (await listed(side.runs({}))).reverse();
      expect((await walkBothWays(side, 'runs', { limit: 3 })).there).toEqual([
        runs.slice(0, 3),
        runs.slice(3),
      ]);
      const filter = { project: 'shop', statuses: ['completed', 'failed'] };
      const wanted = runs.filter((run) => run.project === 'shop');
      expect((await side.list('runs', { filter: { statuses: ['running'] } })).rows).toEqual([]);
      expect((await side.list('runs', { filter })).rows).toEqual(wanted);
      expect(await side.count('runs', {})).toEqual({ count: 4, isExact: true });
    });

    it('of requests begin with the newest', async () => {
      const runs = new Map((await listed(side.runs({}))).map(({ run, project }) => [run, project]));
      const pagesOf = new Map<string, number>();
      for (const { id } of pages)
        for (const request of await side.requests(id)) pagesOf.set(`${request.run} ${request.sent_at}`, id);
      const log: ModelRequest[] = (await listed(side.requestLog())).map((row) => ({
        ...row,
        project: runs.get(row.run)!,
        pageId: pagesOf.get(`${row.run} ${new Date(Math.round(row.sentAt)).toISOString()}`) ?? null,
      }));
      const random = seededRandom(10).next;
      for (let round = 0; round < 40; round++) {
        const filter = Object.assign(
          {},
          random() < 0.3 ? { project: pick(random, ['shop', 'other']) } : {},
          random() < 0.3 ? { pageId: pick(random, log).pageId! } : {},
          random() < 0.3 ? { run: 1 + Math.floor(random() * 4) } : {},
          random() < 0.3 ? { host: pick(random, ['a.test', 'c.test']) } : {},
          random() < 0.2 ? { kinds: some(random, REQUEST_KINDS) } : {},
          random() < 0.3 ? { hasFailed: random() < 0.5 } : {},
        );
        const expected = sortedBy(
          log.filter((row) => fitsRequest(row, filter)),
          ({ id }) => [id],
          'desc',
        );
        const { there, back } = await walkBothWays(side, 'requests', {
          filter,
          limit: 1 + Math.floor(random() * 30),
        });
        const shown = there
          .flat()
          .map(({ id, run, host, kind, page_id }) => ({ id, run, host, kind, page_id }));
        const wanted = expected.map(({ id, run, host, kind, pageId }) => ({
          id,
          run,
          host,
          kind,
          page_id: pageId,
        }));
        expect(shown, JSON.stringify(filter)).toEqual(wanted);
        expect(back).toEqual(there);
      }
      const page = pages.find(({ id }) => log.some(({ pageId }) => pageId === id))!;
      const [newest] = (await side.list('requests', { filter: { pageId: page.id } })).rows;
      expect(newest).toMatchObject((await side.requests(page.id)).pop()!);
    });

    it('of hosts count the URLs of a small store', async () => {
      const { there, back } = await walkBothWays(side, 'hosts', { limit: 2 });
      expect(back).toEqual(there);
      expect(
        there
          .flat()
          .map(({ host }) => host)
          .sort(),
      ).toEqual(['a.test', 'b.test', 'c.test', 'd.test']);
      for (const host of there.flat()) {
        const own = pages.filter((page) => page.host === host.host);
        expect(host.urls).toMatchObject({
          known_urls: own.length,
          read: own.filter(({ state }) => state === 'Processed').length,
        });
      }
      const streamed = await listed(side.hosts({ project: 'other' }));
      for (const host of (await side.list('hosts', { filter: { project: 'other' } })).rows) {
        const own = streamed.filter((row) => row.host.replace(/:\d+$/, '') === host.host);
        expect(host).toMatchObject({ requests: own[0].requests, next_slot_at: own[0].next_slot_at });
        expect(host.urls!.known_urls).toBe(own.reduce((sum, { known_urls }) => sum + known_urls, 0));
      }
    });

    it('are empty for a project that there is none of', async () => {
      for (const list of ['pages', 'visits', 'changes', 'links', 'hosts', 'runs', 'requests'] as const) {
        const filter = { project: 'nobody' };
        expect(await side.list(list, { filter }), list).toEqual({ rows: [], next: null, previous: null });
        expect(await side.count(list, filter), list).toEqual({ count: 0, isExact: true });
      }
    });

    it('refuse a limit, a sort or a cursor that cannot be', async () => {
      for (const limit of [0, 1001, 1.5, Number.NaN])
        await expect(side.list('pages', { limit })).rejects.toMatchObject({ code: 'list-limit' });
      expect((await side.list('pages', { limit: 1000 })).rows).toHaveLength(pages.length);
      for (const sort of ['url', '__proto__', 'id; DROP TABLE url'])
        await expect(side.list('pages', { sort })).rejects.toMatchObject({ code: 'list-sort' });
      for (const list of ['pagez', '__proto__'] as unknown as 'pages'[]) {
        await expect(side.list(list, {})).rejects.toMatchObject({ code: 'list-unknown' });
        await expect(side.count(list, {})).rejects.toMatchObject({ code: 'list-unknown' });
      }
      const order = 'up' as 'asc';
      await expect(side.list('pages', { order })).rejects.toMatchObject({ code: 'list-order' });
      for (const unknown of [{ stats: ['Failed'] }, { pageId: 1 }] as object[]) {
        const expected = { code: 'list-filter', message: expect.stringContaining('states') };
        await expect(side.list('pages', { filter: unknown })).rejects.toMatchObject(expected);
        await expect(side.count('pages', unknown)).rejects.toMatchObject(expected);
      }
      const { next } = await side.list('pages', { limit: 2, filter: { project: 'shop' } });
      const refused = async (query: ListQuery<'pages'>, code: string) =>
        expect(side.list('pages', query), code).rejects.toMatchObject({ code, hint: expect.any(String) });
      const cursor = next!;
      await refused({ cursor }, 'cursor-of-other-list');
      await refused({ cursor, filter: { project: 'other' } }, 'cursor-of-other-list');
      await refused({ cursor, filter: { project: 'shop' }, order: 'desc' }, 'cursor-of-other-list');
      await expect(side.list('runs', { cursor, filter: { project: 'shop' } })).rejects.toMatchObject({
        code: 'cursor-of-other-list',
      });
      const parts = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[];
      const forged = (change: (parts: unknown[]) => unknown) =>
        Buffer.from(JSON.stringify(change([...parts]))).toString('base64url');
      const filter = { project: 'shop' };
      await refused({ filter, cursor: forged((all) => [9, ...all.slice(1)]) }, 'cursor-version');
      await refused({ filter, cursor: forged((all) => all.slice(0, 4)) }, 'cursor-unreadable');
      await refused(
        { filter, cursor: forged((all) => [...all.slice(0, 4), { id: 1 }]) },
        'cursor-unreadable',
      );
      await refused({ filter, cursor: forged(() => null) }, 'cursor-unreadable');
      await refused({ filter, cursor: 'nonsense' }, 'cursor-unreadable');
      await refused({ filter, cursor: '' }, 'cursor-unreadable');
      await expect(side.list('pages', { cursor: 'x'.repeat(100_000) })).rejects.toMatchObject({
        message: expect.stringMatching(/^.{0,200}$/),
      });
      expect((await side.list('pages', { filter, cursor, limit: 5 })).rows).toHaveLength(5);
    });

    it('go on where they were while rows are added', async () => {
      const opened = await harness.openStore();
      const store = await opened.begin({
        ...{ owner: 'me', configHash: 'h', config: '{}', fresh: false, metadata: null },
        ...{ project: 'shop', now: harness.clock.now() },
      });
      const before = await listed(side.pages({ project: 'shop' }));
      let added = 0;
      const add = async () => {
        if (added++ > 5) return;
        await store.frontier.offer([candidate(`added-${added}`), candidate(`added-too-${added}`)]);
        await store.flush();
      };
      const filter = { project: 'shop' };
      const up = await walkBothWays(side, 'pages', { filter, limit: 17 }, add);
      const all = await listed(side.pages({ project: 'shop' }));
      expect(all.length).toBeGreaterThan(before.length);
      expect(up.there.flat().map(({ id }) => id)).toEqual(all.map(({ id }) => id));
      expect(up.back.flat().map(({ id }) => id)).toEqual(all.map(({ id }) => id));
      // Newest first: what is added later stands before the first page, and shows on the way back.
      added = 0;
      const down = await walkBothWays(side, 'pages', { filter, limit: 17, order: 'desc' }, add);
      const ids = all.map(({ id }) => id).reverse();
      expect(down.there.flat().map(({ id }) => id)).toEqual(ids);
      expect(
        down.back
          .flat()
          .map(({ id }) => id)
          .slice(-ids.length),
      ).toEqual(ids);
      await store.run.finish('interrupted', harness.clock.now(), null);
      await opened.close();
    });

    it('look at no more than 20,000 rows a call, and go on from there', async () => {
      const opened = await harness.openStore();
      const store = await opened.begin({
        ...{ owner: 'me', configHash: 'h', config: '{}', fresh: false, metadata: null },
        ...{ project: 'long', now: harness.clock.now() },
      });
      const count = 41_000;
      for (let from = 0; from < count; from += 1000)
        await store.frontier.offer(
          Array.from({ length: 1000 }, (_, i) =>
            refused(`long/${from + i}`, 'Skipped', 'robots: Disallow /long'),
          ),
        );
      await store.flush();
      const rare = { project: 'long', section: '/long/40500' };
      const { there, back } = await walkBothWays(side, 'pages', { filter: rare });
      expect(there.map((rows) => rows.length)).toEqual([0, 0, 1]);
      expect(back.flat()).toEqual(there.flat());
      expect(await side.count('pages', rare)).toEqual({ count: 0, isExact: false });
      const all = await side.count('pages', {});
      expect(all).toEqual({ count: 20_000, isExact: false });
      const [host] = (await side.list('hosts', {})).rows.filter((row) => row.host === 'a.test');
      expect(host.urls).toBeNull();
      await store.run.finish('interrupted', harness.clock.now(), null);
      await opened.close();
    });
  });
}
