/** A purged project leaves nothing behind, takes nothing of others with it, and can be cut short anywhere. */
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/primitives/clock.ts';
import { auditRuns } from '../../src/project/audit-runs.ts';
import { INDEX_KINDS } from '../../src/store/index-state.ts';
import { openReadSide, openStore } from '../../src/store/open-store.ts';
import type { ReadSide } from '../../src/store/read-side.ts';
import type { Store } from '../../src/store/store-port.ts';
import { useBench } from '../crawls/crawl-site.ts';
import { copy, crawlSite, KINDS, type Kind, ownFacts, useStores } from './copy-bench.ts';
import { askStore } from './project-facts.ts';
import { candidate } from './store/harness.ts';

const bench = useBench();
const newStore = useStores(bench);

function onFailure(error: unknown): never {
  throw error;
}

async function withStore<Answer>(
  address: string,
  use: (store: Store, side: ReadSide) => Promise<Answer>,
): Promise<Answer> {
  const store = await openStore({ address, clock: systemClock, onFailure });
  const side = await openReadSide(address);
  try {
    return await use(store, side);
  } finally {
    await side.close();
    await store.close();
  }
}

/** Two projects that were crawled after one another on the same hosts, with rows in every table. */
async function twoProjects(kind: Kind): Promise<{ address: string; uid: string }> {
  const { file, web } = await crawlSite(bench);
  await bench.crawl(file, web.url('/'), { project: 'other', perHost: 1, concurrency: 1 });
  const address = await newStore(kind);
  for (const project of ['other', 'site']) await copy(file.path, address, { project });
  const uid = await withStore(address, async ({ projects }, side) => {
    for (const { id, project } of await side.projects()) {
      const first = (await side.list('pages', { filter: { project }, limit: 1 })).rows[0];
      await projects.saveDepths(
        id,
        ['a.test'],
        [
          {
            ...{ count: 1, pageIds: Int32Array.of(first.id), origins: Uint16Array.of(0) },
            depths: Uint16Array.of(1),
          },
        ],
      );
      await projects.saveLook(project, 'me', { run: 0, at: 5 });
      for (const index of INDEX_KINDS) await projects.buildIndex(project, index);
    }
    return (await side.projects()).find(({ project }) => project === 'site')!.uid;
  });
  return { address, uid };
}

interface Known {
  name: string;
  project: number;
  pages: number[];
  runs: number[];
}

function knownOf(address: string, name: string): Promise<Known> {
  return askStore(address, async (ask) => {
    const [{ id }] = await ask(`SELECT id FROM project WHERE name = '${name}'`);
    const ids = async (table: string) =>
      (await ask(`SELECT id FROM ${table} WHERE project_id = ${id}`)).map((row) => Number(row.id));
    return { name, project: Number(id), pages: await ids('url'), runs: await ids('run') };
  });
}

const COLUMNS: Record<Kind, string> = {
  SQLite: `SELECT m.name AS "table", c.name AS "column" FROM sqlite_schema m, pragma_table_info(m.name) c
    WHERE m.type = 'table' AND m.name NOT LIKE 'page_words%'`,
  PostgreSQL: `SELECT c.relname AS "table", a.attname AS "column" FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
    WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND a.attnum > 0`,
};

/** How many rows of each table name the project, one of its pages or one of its runs. */
function rowsOf(
  address: string,
  kind: Kind,
  { name, project, pages, runs }: Known,
): Promise<Record<string, number>> {
  const lists: [columns: RegExp, ids: number[]][] = [
    [/^project_id$/, [project]],
    [/^(page_id|target_id|source_id|referrer_id|redirect_to)$/, pages],
    [/^(run_id|discovered_run|lost_run|left_run)$/, runs],
  ];
  return askStore(address, async (ask) => {
    const found: Record<string, number> = {};
    for (const { table, column } of await ask(COLUMNS[kind])) {
      const ids = lists.find(([names]) => names.test(String(column)))?.[1];
      if (ids === undefined) continue;
      const [{ n }] = await ask(`SELECT count(*) AS n FROM ${table} WHERE ${column} IN (${ids.join(', ')})`);
      if (Number(n) > 0) found[`${table}.${column}`] = Number(n);
    }
    const words = kind === 'SQLite' ? 'rowid' : 'page_id';
    const [{ n }] = await ask(`SELECT count(*) AS n FROM page_words WHERE ${words} IN (${pages.join(', ')})`);
    if (Number(n) > 0) found.page_words = Number(n);
    const meta = await ask('SELECT key FROM meta');
    for (const { key } of meta)
      if (key === `unprepared:${project}` || key === `copied:${name}`) found[`meta ${key}`] = 1;
    return found;
  });
}

const audit = (side: ReadSide) => auditRuns({ side, storeLabel: 'x' }, undefined);

/** Aborted when it was looked at so often: a purge that is cut short at any of its steps. */
const cutAfter = (looks: number) => {
  let left = looks;
  return {
    get aborted() {
      return left-- <= 0;
    },
  } as AbortSignal;
};

describe.each(KINDS)('a purge on %s', (kind) => {
  it('leaves no row of the project in any table, and every row of another', async () => {
    const { address, uid } = await twoProjects(kind);
    const [known, others] = [await knownOf(address, 'site'), await knownOf(address, 'other')];
    const before = await rowsOf(address, kind, known);
    for (const name of ['fetched.page_id', 'visit.page_id', 'request.run_id', 'reverse_link_set.page_id'])
      expect(before[name], name).toBeGreaterThan(0);
    for (const name of [
      'page_words',
      'reader_look.project_id',
      'index_state.project_id',
      'page_depth.page_id',
    ])
      expect(before[name], name).toBeGreaterThan(0);
    const [facts, rows] = [await ownFacts(address, 'other'), await rowsOf(address, kind, others)];
    await withStore(address, async ({ projects }, side) => {
      const hosts = await side.list('hosts', {});
      const audited = await audit(side);
      expect(audited).toMatchObject({ violations: 0, cleared_until: null });
      await projects.purgeProject(uid, { batch: 4 });
      expect(await side.projectByUid(uid)).toBeNull();
      const after = await audit(side);
      expect(after).toMatchObject({ violations: 0, cleared_until: expect.any(String) });
      expect((await side.list('hosts', {})).rows.map(({ host }) => host)).toEqual(
        hosts.rows.map(({ host }) => host),
      );
    });
    expect(await rowsOf(address, kind, known)).toEqual({});
    expect(await rowsOf(address, kind, others)).toEqual(rows);
    expect(await ownFacts(address, 'other')).toEqual(facts);
    const robots = await askStore(address, (ask) => ask('SELECT origin FROM robots_txt'));
    expect(robots.length).toBeGreaterThan(0);
  });

  it('can be cut short anywhere, and goes on with what is left', async () => {
    const { address, uid } = await twoProjects(kind);
    const [known, facts] = [await knownOf(address, 'site'), await ownFacts(address, 'other')];
    let cuts = 0;
    for (; ; cuts++) {
      // Each time another process.
      const isOver = await withStore(address, async ({ projects }, side) => {
        await projects.purgeProject(uid, { batch: 5, signal: cutAfter(3 + cuts) });
        expect(await audit(side)).toMatchObject({ violations: 0 });
        expect((await side.projects()).map(({ project }) => project)).toEqual(['other']);
        return (await projects.hiddenProjects()).length === 0;
      });
      if (isOver) break;
      expect(await ownFacts(address, 'other')).toEqual(facts);
    }
    expect(cuts).toBeGreaterThan(3);
    expect(await rowsOf(address, kind, known)).toEqual({});
    expect(await ownFacts(address, 'other')).toEqual(facts);
  });

  it('lets others be crawled beside it, though ids of its pages may be given to theirs', async () => {
    const { address, uid } = await twoProjects(kind);
    await withStore(address, async (store, side) => {
      const crawl = await store.begin({
        ...{ owner: 'me', configHash: 'h', config: '{}', fresh: false, metadata: null },
        ...{ project: 'third', now: systemClock.now() },
      });
      const ids: number[] = [];
      let isOver = false;
      const purge = store.projects.purgeProject(uid, { batch: 2 }).then(() => {
        isOver = true;
      });
      for (let i = 0; !isOver || i < 20; i++) {
        ids.push(...(await crawl.frontier.offer([candidate(`p${i}`), candidate(`q${i}`)])));
        await new Promise((resolve) => setImmediate(resolve));
      }
      await purge;
      await crawl.flush();
      expect(new Set(ids).size).toBe(ids.length);
      for (const [i, id] of ids.entries())
        expect(await side.pageById(id)).toMatchObject({
          url: candidate(`${i % 2 === 0 ? 'p' : 'q'}${i >> 1}`).url,
          title: null,
          status_code: null,
        });
      await crawl.leave();
    });
  });

  it('lets a run that was there before number its pages after those that are left', async () => {
    const { address, uid } = await twoProjects(kind);
    await withStore(address, async (store, side) => {
      const crawl = await store.begin({
        ...{ owner: 'me', configHash: 'h', config: '{}', fresh: false, metadata: null },
        ...{ project: 'third', now: systemClock.now() },
      });
      await store.projects.purgeProject(uid, { batch: 1000 });
      const [id] = await crawl.frontier.offer([candidate('first')]);
      await crawl.flush();
      expect(await side.pageById(id)).toMatchObject({ url: candidate('first').url, title: null });
      await crawl.leave();
    });
  });

  it('leaves one mark on a host, however many projects were purged', async () => {
    const { address, uid } = await twoProjects(kind);
    await withStore(address, async ({ projects }, side) => {
      await projects.purgeProject(uid, { batch: 3 });
      const [{ uid: other }] = await side.projects();
      await projects.purgeProject(other, { batch: 1000 });
      expect(await audit(side)).toMatchObject({ violations: 0, requests: 0 });
    });
    const marks = await askStore(address, (ask) => ask('SELECT host_id, run_id FROM request'));
    expect(marks.length).toBeGreaterThan(0);
    expect(new Set(marks.map((row) => row.host_id)).size).toBe(marks.length);
    expect(marks.every((row) => row.run_id === 0)).toBe(true);
  });
});
