/** Projects move between stores and stay what they are: SQLite and PostgreSQL, there and back. */
import { readFileSync } from 'node:fs';
import Sqlite from 'better-sqlite3';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/primitives/clock.ts';
import { COPY_TABLES, type CopyTable } from '../../src/store/copy-port.ts';
import { openCopySide, openReadSide, openStore } from '../../src/store/open-store.ts';
import type { ProjectRow } from '../../src/store/read-side.ts';
import { asked, useBench } from '../crawls/crawl-site.ts';
import { makeOlder } from '../crawls/make-older.ts';
import { sharedPostgres } from '../servers/shared-postgres.ts';
import { copy, crawlSite, KINDS, ownFacts, useStores } from './copy-bench.ts';
import { askStore, projectFacts } from './project-facts.ts';

function onFailure(error: unknown): never {
  throw error;
}

const bench = useBench();
const newStore = useStores(bench);

describe('a copied project', () => {
  it('is the same through every view, to PostgreSQL and back, though all ids differ', async () => {
    const { file } = await crawlSite(bench);
    const [database, back] = [await newStore('PostgreSQL'), bench.file()];
    // Something is there already in both, so that no id can be the same by chance.
    await copy(file.path, database, { as: 'other' });
    await copy(file.path, back.path, { as: 'other' });
    const there = await copy(file.path, database);
    await copy(database, back.path);
    const before = await projectFacts(file.path, 'site');
    expect(before.pages.length).toBeGreaterThan(12);
    expect(before.links.length).toBeGreaterThan(10);
    expect(before.runs).toHaveLength(2);
    expect(new Set(before.links.map((row) => row.discovered_run))).toEqual(new Set([1, 2]));
    expect(await projectFacts(database, 'site')).toEqual(before);
    expect(await projectFacts(back.path, 'site')).toEqual(before);
    const ids = (address: string) =>
      askStore(address, (ask) =>
        ask("SELECT min(id) AS id FROM url WHERE project_id = (SELECT id FROM project WHERE name = 'site')"),
      );
    expect(await ids(database)).not.toEqual(await ids(file.path));
    expect(await ids(back.path)).not.toEqual(await ids(file.path));
    for (const table of there!.tables) expect(table.checksumCopied).toBe(table.checksum);
    const counts = Object.fromEntries(there!.tables.map(({ table, rowsCopied }) => [table, rowsCopied]));
    expect(counts).toMatchObject({ run: 2, url: before.pages.length, request: before.requests.length });
    for (const table of [
      'host',
      'robots_txt',
      'host_queue',
      'fetched',
      'page_text',
      'link_set',
      'link_change',
      'visit',
      'page_change',
      'sitemap_entry',
      'discovery',
      'revisit',
      'orphan',
    ])
      expect(counts[table], table).toBeGreaterThan(0);
  });

  it.each(KINDS)('is copied between two stores of one kind: %s', async (kind) => {
    const { file } = await crawlSite(bench);
    const [first, second] = [await newStore(kind), await newStore(kind)];
    await copy(file.path, first);
    await copy(first, second, { as: 'again' });
    expect(await projectFacts(second, 'again')).toEqual(await projectFacts(file.path, 'site'));
  });

  it('is known by its UUID there too, and stays deleted', async () => {
    const { file } = await crawlSite(bench);
    const store = await openStore({ address: file.path, clock: systemClock, onFailure });
    const side = await openReadSide(file.path);
    const { uid } = (await side.projects())[0];
    await store.projects.changeProject(uid, { websiteUrl: 'https://a.test/' });
    await store.projects.markDeleted(uid, 5000);
    const rowsOf = (rows: ProjectRow[]) => rows.map(({ id: _, ...row }) => row);
    const before = rowsOf(await side.projects());
    await side.close();
    await store.close();
    expect(before).toMatchObject([{ uid, website_url: 'https://a.test/', deleted_at: expect.any(String) }]);
    const [database, back] = [await newStore('PostgreSQL'), bench.file()];
    await copy(file.path, database);
    await copy(database, back.path);
    expect(await copy(database, back.path)).toBeNull();
    for (const address of [database, back.path]) {
      // A second copy in one store is another project.
      await copy(file.path, address, { as: 'again' });
      const copied = await openReadSide(address);
      const [first, second] = rowsOf(await copied.projects());
      expect([first]).toEqual(before);
      expect(second).toEqual({ ...first, project: 'again', uid: expect.any(String) });
      expect(second.uid).not.toBe(uid);
      await copied.close();
    }
  });

  it.each(KINDS)('goes on being crawled in the copy, through %s', async (kind) => {
    const { file, web } = await crawlSite(bench, { stopAt: '/a' });
    const before = await projectFacts(file.path, 'site');
    expect(before.waiting.reduce((sum, row) => sum + Number(row.waiting), 0)).toBeGreaterThan(2);
    const [between, copied] = [await newStore(kind), bench.file()];
    await copy(file.path, between);
    await copy(between, copied.path);
    expect(await projectFacts(copied.path, 'site')).toEqual(before);
    web.log.length = 0;
    const config = { project: 'site', perHost: 1, concurrency: 1, anchorText: true };
    const { summary } = await bench.crawl(copied, web.url('/'), config);
    const answered = asked(web);
    web.log.length = 0;
    await bench.crawl(file, web.url('/'), config);
    // The copy asks what the original would have asked, in the same order.
    expect(answered).toEqual(asked(web));
    expect(answered.length).toBeGreaterThan(2);
    expect(summary.status).toBe('completed');
    expect(copied.states()).toEqual(file.states());
    expect(copied.links()).toEqual(file.links());
  });

  it('takes pages in flight as queued, runs under way as interrupted, and hosts that were held as to be rested', async () => {
    const { file } = await crawlSite(bench);
    const db = new Sqlite(file.path);
    db.exec(`UPDATE url SET state = 2 WHERE url LIKE '%/deep%'; UPDATE run SET status = 'running', finished_at = NULL WHERE id = 2;
      UPDATE host SET lease_owner = 'somebody', lease_until = 1, fence = 3`);
    db.close();
    for (const kind of KINDS) {
      const to = await newStore(kind);
      await copy(file.path, to);
      await askStore(to, async (ask) => {
        const waiting = 'SELECT state, count(*) AS n FROM url WHERE state IN (1, 2) GROUP BY state';
        expect(await ask(waiting)).toEqual([{ state: 1, n: 2 }]);
        expect(await ask('SELECT sum(waiting) AS n FROM host_queue')).toEqual([{ n: 2 }]);
        expect(await ask('SELECT status FROM run ORDER BY id')).toEqual([
          { status: 'completed' },
          { status: 'interrupted' },
        ]);
        expect(await ask('SELECT DISTINCT taken_over, lease_owner, fence FROM host')).toEqual([
          { taken_over: 1, lease_owner: null, fence: 0 },
        ]);
      });
      expect((await projectFacts(to, 'site')).links).toEqual((await projectFacts(file.path, 'site')).links);
    }
  });
});

describe('texts and numbers', () => {
  it('keep every sign and bit; only what PostgreSQL cannot hold is replaced', async () => {
    const { file } = await crawlSite(bench);
    const db = new Sqlite(file.path);
    const signs = 'tab\tline\nreturn\r back\\slash \\N \\. "quote" {brace},NULL é 猫 😀 \u0001 end';
    const [{ id }] = db.prepare("SELECT id FROM url WHERE url LIKE '%/a'").all() as { id: number }[];
    db.prepare(
      'UPDATE fetched SET title = ?, h1 = ?, description = ?, simhash = ?, response_ms = 1.23456789012345 WHERE page_id = ?',
    ).run(signs, 'with\0nul', '', -9223372036854775808n, id);
    db.prepare('UPDATE link_set SET anchors = ? WHERE page_id = ?').run(
      JSON.stringify([signs, null, 'half \ud83d pair, \0']),
      id,
    );
    db.close();
    const [database, back] = [await newStore('PostgreSQL'), bench.file()];
    await copy(file.path, database);
    await copy(database, back.path);
    for (const address of [database, back.path]) {
      const [row] = await askStore(address, (ask) =>
        ask(
          `SELECT f.title, f.h1, f.description, CAST(f.simhash AS text) AS simhash, f.response_ms
           FROM fetched f JOIN url u ON u.id = f.page_id WHERE u.url LIKE '%/a'`,
        ),
      );
      expect(row).toEqual({
        title: signs,
        h1: 'with\ufffdnul',
        description: '',
        simhash: '-9223372036854775808',
        response_ms: 1.23456789012345,
      });
      const { links } = await projectFacts(address, 'site');
      const anchors = links
        .filter(({ from_page_id: from }) => String(from).endsWith('/a'))
        .map(({ anchor }) => anchor);
      expect(anchors).toEqual([signs, null, 'half \ufffd pair, \ufffd']);
    }
  });
});

describe('the tables of a copy', () => {
  /** Columns that are made anew in the target or belong to its workers. */
  const LEFT_OUT: Record<string, readonly string[]> = {
    run: ['project_id', 'closed_pages'],
    host: ['id', 'lease_owner', 'lease_until', 'fence'],
    host_queue: ['project_id', 'waiting', 'ready_at', 'leased_until'],
    url: ['project_id', 'identity', 'rank'],
    lowering: ['project_id'],
    origin: ['project_id'],
    fetched: ['project_id'],
    discovery: ['project_id'],
    request: ['id'],
  };
  /** Tables that belong to the store as a whole, its workers or its queue. */
  const NOT_COPIED = [
    ...['meta', 'project', 'worker', 'wait_block', 'reader_look'],
    // Indexes are built in each store for itself.
    ...['reverse_link_set', 'index_state', 'facet_count', 'section_count'],
    // Secrets among them, and of the service of one store.
    'service_record',
  ];

  it.each(KINDS)('are all that %s has, with every column', async (kind) => {
    const to = await newStore(kind);
    await (await openCopySide(to, 'to')).close();
    const columns = await askStore(to, (ask) =>
      ask(
        kind === 'SQLite'
          ? `SELECT t.name AS "table", c.name AS "column" FROM sqlite_schema t, pragma_table_info(t.name) c
             WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`
          : `SELECT c.relname AS "table", a.attname AS "column" FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
             WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
               AND a.attnum > 0 AND NOT a.attisdropped`,
      ),
    );
    expect(columns.length).toBeGreaterThan(80);
    const missing = columns.filter(({ table, column }) => {
      if (NOT_COPIED.includes(String(table)) || LEFT_OUT[String(table)]?.includes(String(column)))
        return false;
      return !Object.hasOwn(COPY_TABLES[table as CopyTable] ?? {}, String(column));
    });
    expect(missing).toEqual([]);
  });
});

describe('what is in the target already', () => {
  it.each(KINDS)('is never changed: a project of the name is refused, in %s', async (kind) => {
    const [{ file }, { file: second }] = [await crawlSite(bench), await crawlSite(bench)];
    const to = await newStore(kind);
    await copy(file.path, to);
    const before = await ownFacts(to, 'site');
    await expect(copy(second.path, to)).rejects.toMatchObject({ code: 'copy-exists' });
    await expect(copy(second.path, to, { restart: true })).rejects.toMatchObject({ code: 'copy-exists' });
    expect(await ownFacts(to, 'site')).toEqual(before);
    await copy(second.path, to, { as: 'second' });
    expect(await ownFacts(to, 'second')).toEqual(await ownFacts(second.path, 'site'));
    expect(await ownFacts(to, 'site')).toEqual(before);
    // Asked for once more it is there, and that is all.
    expect(await copy(file.path, to)).toBeNull();
  });

  it.each(KINDS)('has hosts and robots.txt that keep the later of both times, in %s', async (kind) => {
    const { file } = await crawlSite(bench);
    const to = await newStore(kind);
    await copy(file.path, to);
    const change = (statements: string) => {
      const db = new Sqlite(file.path);
      db.exec(statements);
      db.close();
    };
    const [host] = file.rows<{ not_before: number }>('SELECT not_before FROM host ORDER BY id');
    const [robots] = file.rows<{ fetched_at: number }>('SELECT fetched_at FROM robots_txt ORDER BY host_id');
    const hostThere = () =>
      askStore(to, (ask) =>
        ask('SELECT not_before, blocked_until, adaptive_ms FROM host ORDER BY id LIMIT 1'),
      );
    const robotsThere = () =>
      askStore(to, (ask) => ask('SELECT fetched_at, status FROM robots_txt ORDER BY host_id LIMIT 1'));
    change(
      `UPDATE host SET not_before = not_before + 5, blocked_until = 77, adaptive_ms = 900; UPDATE robots_txt SET fetched_at = fetched_at + 9, status = 503`,
    );
    await copy(file.path, to, { as: 'later' });
    expect(await hostThere()).toEqual([
      { not_before: host.not_before + 5, blocked_until: 77, adaptive_ms: 900 },
    ]);
    expect(await robotsThere()).toEqual([{ fetched_at: robots.fetched_at + 9, status: 503 }]);
    change(
      `UPDATE host SET not_before = 1, blocked_until = 1, adaptive_ms = 1; UPDATE robots_txt SET fetched_at = 1, status = 200`,
    );
    await copy(file.path, to, { as: 'earlier' });
    expect(await hostThere()).toEqual([
      { not_before: host.not_before + 5, blocked_until: 77, adaptive_ms: 900 },
    ]);
    expect(await robotsThere()).toEqual([{ fetched_at: robots.fetched_at + 9, status: 503 }]);
  });
});

describe('the file that is copied', () => {
  it.each(KINDS)('is the same afterwards to the byte, also one of an older version: to %s', async (kind) => {
    const { file } = await crawlSite(bench);
    const db = new Sqlite(file.path);
    // Opened for crawling, such a file is brought on.
    makeOlder(db, 7);
    db.close();
    const before = readFileSync(file.path);
    const to = await newStore(kind);
    await copy(file.path, to);
    expect(readFileSync(file.path).equals(before)).toBe(true);
    expect((await projectFacts(to, 'site')).pages.length).toBeGreaterThan(12);
  });
});

describe('a source that is in use', () => {
  it('is refused: a file that a crawler has open', async () => {
    const { file, web } = await crawlSite(bench);
    const begun = await bench.begin(file, web.url('/'), { project: 'site', delay: 10 });
    await expect(copy(file.path, bench.file().path)).rejects.toMatchObject({ code: 'db-open-here' });
    begun.stop();
    await begun.finished;
  });

  it('is refused: a project with workers on PostgreSQL that are alive, as long as they are', async () => {
    const { file } = await crawlSite(bench);
    const [from, to] = [await newStore('PostgreSQL'), bench.file()];
    await copy(file.path, from);
    const { run } = await sharedPostgres();
    const seen = (ago: number) => `(extract(epoch FROM clock_timestamp()) * 1000)::bigint - ${ago}`;
    await run(
      `INSERT INTO worker (id, process, run_id, started_at, seen_at) VALUES ('w', 'p', 1, 0, ${seen(100)})`,
      from,
    );
    await expect(copy(from, to.path)).rejects.toMatchObject({
      code: 'copy-busy',
      message: expect.stringContaining('one worker'),
    });
    await run(`UPDATE worker SET seen_at = ${seen(600_000)}`, from);
    await copy(from, to.path);
    expect(await projectFacts(to.path, 'site')).toEqual(await projectFacts(file.path, 'site'));
  });
});
