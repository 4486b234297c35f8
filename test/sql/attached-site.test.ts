/** Stores attached to DuckDB: the rows of their own views with real types, read-only, and no column that nobody asked for. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { openReadSide } from '../../src/store/open-store.ts';
import Sqlite from '../../src/store/sqlite/driver.ts';
import { listed } from '../contracts/little-crawl.ts';
import { useBench } from '../crawls/crawl-site.ts';
import { eachStore, type StorePlace } from '../crawls/each-store.ts';
import { crawlLittleWeb, littleWeb, type TestDuckDb, useSiteBench } from './site-bench.ts';

const bench = useBench();
const sites = useSiteBench();
const STORES = eachStore(bench);

const addressOf = ({ options }: StorePlace) => String(options.db ?? options.store);

async function crawled(store: keyof typeof STORES = 'SQLite'): Promise<StorePlace> {
  const { pages, change } = littleWeb();
  const web = await bench.web({ pages });
  const place = await STORES[store]();
  await crawlLittleWeb(place, web.origin, change);
  return place;
}

async function attached(
  store: keyof typeof STORES = 'SQLite',
): Promise<{ place: StorePlace; duck: TestDuckDb }> {
  const place = await crawled(store);
  const duck = await sites.duckDb(store === 'PostgreSQL');
  await duck.attach('site', addressOf(place));
  return { place, duck };
}

const OWN_VIEWS = ['pages', 'links', 'visits', 'page_changes', 'runs', 'sitemap_entries'];

describe.each(['SQLite', 'PostgreSQL'] as const)('a crawl on %s, attached', (store) => {
  it('has the rows of the store’s own views', async () => {
    const { place, duck } = await attached(store);
    for (const view of OWN_VIEWS) {
      const expected = await place.rows(`SELECT * FROM ${view} ORDER BY id`);
      expect(expected.length, view).toBeGreaterThan(0);
      const found = await duck.rows(`SELECT * FROM site.${view} ORDER BY id`);
      const without = found.map(({ redirect_to: _, ...row }) => row);
      expect(without, view).toEqual(expected);
      if (view !== 'links') expect(Object.keys(without[0]), view).toEqual(Object.keys(expected[0]));
    }
    const side = await openReadSide(addressOf(place));
    const hosts = await listed(side.hosts({}));
    await side.close();
    expect(await duck.rows('SELECT * FROM site.hosts')).toEqual(hosts);
  });

  it('tells links with what is known of each', async () => {
    const { place, duck } = await attached(store);
    await place.change("UPDATE url SET priority = 7 WHERE url LIKE '%/hub'");
    const links = await duck.rows('SELECT * FROM site.links');
    expect(links.some(({ anchor }) => anchor !== null)).toBe(true);
    expect(new Set(links.map(({ discovered_run: run }) => run))).toEqual(new Set([1, 2]));
    expect(links.filter(({ nofollow }) => nofollow === 1).length).toBeGreaterThan(0);
    expect(await duck.rows("SELECT priority FROM site.pages WHERE url LIKE '%/hub'")).toEqual([
      { priority: 7 },
    ]);
  });

  it('has times, booleans and JSON as what they are', async () => {
    const { duck } = await attached(store);
    const types = async (view: string) =>
      Object.fromEntries((await duck.texts(`DESCRIBE site.${view}`)).map(([name, type]) => [name, type]));
    expect(await types('pages')).toMatchObject({
      id: 'BIGINT',
      url: 'VARCHAR',
      status_code: 'INTEGER',
      noindex: 'BOOLEAN',
      nofollow: 'BOOLEAN',
      visited_at: 'TIMESTAMP',
      discovered_at: 'TIMESTAMP',
      simhash: 'BIGINT',
      content_length: 'BIGINT',
    });
    expect(await types('links')).toMatchObject({
      to_page_id: 'BIGINT',
      nofollow: 'BOOLEAN',
      anchor: 'VARCHAR',
    });
    expect(await types('page_changes')).toMatchObject({ detail: 'JSON', visited_at: 'TIMESTAMP' });
    expect(await types('runs')).toMatchObject({ started_at: 'TIMESTAMP', metadata: 'JSON', new: 'BIGINT' });
    expect(await types('sitemap_entries')).toMatchObject({ lastmod: 'TIMESTAMP', details: 'JSON' });
    expect(await types('hosts')).toMatchObject({ robots_fetched_at: 'TIMESTAMP', known_urls: 'BIGINT' });
    expect(await duck.texts("SELECT metadata->>'for' FROM site.runs LIMIT 1")).toEqual([['tests']]);
    expect(
      await duck.texts(
        'SELECT count(*) FROM site.visits WHERE visited_at > now()::TIMESTAMP - INTERVAL 1 HOUR',
      ),
    ).not.toEqual([['0']]);
  });

  it('reads 64 bits of a simhash exactly', async () => {
    const { place, duck } = await attached(store);
    const exact = '-9007199254740993';
    await place.change(`UPDATE fetched SET simhash = ${exact}`);
    expect(await duck.texts('SELECT DISTINCT simhash FROM site.pages WHERE simhash IS NOT NULL')).toEqual([
      [exact],
    ]);
  });

  it('calls live what answers now, and nothing else', async () => {
    const { duck } = await attached(store);
    const paths = await duck.texts("SELECT regexp_extract(url, '[^/]*$') FROM site.live ORDER BY 1");
    expect(paths.flat()).toEqual(['', 'a', 'a?x=1', 'alone', 'b', 'c', 'hub', 'later', 'new']);
  });

  it('shows one project where one is named, and says which there are', async () => {
    const place = await crawled(store);
    const { pages } = littleWeb();
    const other = await bench.web({ pages });
    await crawlLittleWeb(
      { ...place, options: { ...place.options, project: 'second' } },
      other.origin,
      () => {},
    );
    const duck = await sites.duckDb(store === 'PostgreSQL');
    await duck.attach('everything', addressOf(place));
    await duck.attach('second', addressOf(place), 'second');
    const origin = other.origin.slice('http://'.length);
    for (const view of ['pages', 'live', 'cc_index', 'sitemap_entries', 'page_changes']) {
      if (view === 'page_changes') continue;
      const hosts = `SELECT DISTINCT split_part(url, '/', 3) AS host FROM second.${view}`;
      expect(
        (await duck.texts(hosts)).flat().filter((host) => host !== 'elsewhere.test'),
        view,
      ).toEqual([origin]);
    }
    expect(await duck.texts('SELECT count(*) FROM everything.runs')).toEqual([['4']]);
    expect(await duck.texts('SELECT DISTINCT project FROM second.runs')).toEqual([['second']]);
    expect(await duck.texts('SELECT DISTINCT run_id FROM second.visits ORDER BY 1')).toEqual([['3'], ['4']]);
    const strangers = `SELECT count(*) FROM second.links WHERE from_page_id NOT IN (SELECT id FROM second.pages)`;
    expect(await duck.texts(strangers)).toEqual([['0']]);
    expect((await duck.texts('SELECT host FROM second.hosts')).flat()).toContain(origin);
    await expect(duck.attach('third', addressOf(place), 'nobody')).rejects.toMatchObject({
      code: 'unknown-project',
      message: expect.stringContaining('"second"'),
    });
    expect(await duck.texts("SELECT count(*) FROM duckdb_databases() WHERE database_name = 'third'")).toEqual(
      [['0']],
    );
  });

  it('can be left in the middle of its rows', async () => {
    const { duck } = await attached(store);
    expect(await duck.rows('SELECT id FROM site.pages LIMIT 1')).toEqual([{ id: 1 }]);
    await duck.settle();
    expect((await duck.rows('SELECT id FROM site.pages')).length).toBeGreaterThan(5);
  });
});

describe('a server that goes away', () => {
  it('is told in our words, in the middle of a statement', async () => {
    const { place, duck } = await attached('PostgreSQL');
    await place.change('ALTER TABLE run RENAME TO runs_of_before');
    await expect(duck.rows('SELECT * FROM site.runs')).rejects.toThrow(/run.* does not exist/s);
  });
});

describe('two connections', () => {
  it('do not end each other’s scans', async () => {
    const { place, duck } = await attached();
    await place.change(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000)
      INSERT INTO url (project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url)
      SELECT 1, 1, 3, 1, 1, 0, 1, 0, 'https://a.test/' || i FROM n`);
    const [{ n }] = await place.rows('SELECT count(*) AS n FROM url');
    const second = await duck.connect();
    await second.run("SET streaming_buffer_size = '2B'");
    const stream = await second.stream('SELECT url FROM site.pages');
    let rows = (await stream.fetchChunk())!.rowCount;
    await duck.rows('SELECT id FROM site.pages LIMIT 1');
    await duck.settle();
    for (let chunk = await stream.fetchChunk(); chunk?.rowCount; chunk = await stream.fetchChunk())
      rows += chunk.rowCount;
    expect(rows).toBe(n);
    second.closeSync();
  });
});

describe('Common Crawl’s index', () => {
  it('has its names and types, filled with what is known', async () => {
    const { place, duck } = await attached();
    await place.change(
      `UPDATE url SET fetch_url = 'https://www.shop.example.co.uk:8443/A/b.html?x=1&y' WHERE id = 1`,
    );
    const [row] = await duck.rows("SELECT * FROM site.cc_index WHERE url LIKE 'https://www.shop%'");
    expect(row).toMatchObject({
      url_surtkey: 'uk,co,example,shop:8443)/a/b.html?x=1&y',
      url_host_name: 'www.shop.example.co.uk',
      url_host_tld: 'uk',
      url_host_2nd_last_part: 'co',
      url_host_5th_last_part: 'www',
      url_host_registry_suffix: 'co.uk',
      url_host_registered_domain: 'example.co.uk',
      url_host_private_domain: 'example.co.uk',
      url_host_name_reversed: 'uk.co.example.shop.www',
      url_protocol: 'https',
      url_port: 8443,
      url_path: '/A/b.html',
      url_query: 'x=1&y',
      fetch_status: 200,
      content_mime_type: 'text/html',
      content_charset: 'UTF-8',
      warc_filename: null,
      crawl: '2',
      subset: 'warc',
    });
    const moved = await duck.rows(
      "SELECT * FROM site.cc_index WHERE fetch_status = 301 AND url LIKE '%/old'",
    );
    expect(moved).toMatchObject([
      {
        fetch_redirect: expect.stringContaining('/new'),
        subset: 'crawldiagnostics',
        url_host_registered_domain: null,
      },
    ]);
    expect(await duck.texts('SELECT count(*) FROM site.cc_index WHERE fetch_status IS NULL')).toEqual([
      ['0'],
    ]);
    const types = await duck.texts('DESCRIBE site.cc_index');
    expect(types.map(([name, type]) => `${name} ${type}`)).toMatchInlineSnapshot(`
      [
        "url_surtkey VARCHAR",
        "url VARCHAR",
        "url_host_name VARCHAR",
        "url_host_tld VARCHAR",
        "url_host_2nd_last_part VARCHAR",
        "url_host_3rd_last_part VARCHAR",
        "url_host_4th_last_part VARCHAR",
        "url_host_5th_last_part VARCHAR",
        "url_host_registry_suffix VARCHAR",
        "url_host_registered_domain VARCHAR",
        "url_host_private_suffix VARCHAR",
        "url_host_private_domain VARCHAR",
        "url_host_name_reversed VARCHAR",
        "url_protocol VARCHAR",
        "url_port INTEGER",
        "url_path VARCHAR",
        "url_query VARCHAR",
        "fetch_time TIMESTAMP",
        "fetch_status SMALLINT",
        "fetch_redirect VARCHAR",
        "content_digest VARCHAR",
        "content_mime_type VARCHAR",
        "content_mime_detected VARCHAR",
        "content_charset VARCHAR",
        "content_languages VARCHAR",
        "content_truncated VARCHAR",
        "warc_filename VARCHAR",
        "warc_record_offset INTEGER",
        "warc_record_length INTEGER",
        "warc_segment VARCHAR",
        "crawl VARCHAR",
        "subset VARCHAR",
      ]
    `);
  });
});

describe('what is read of the store', () => {
  it('are the columns that a statement needs', async () => {
    const { duck } = await attached();
    const prepare = vi.spyOn(Sqlite.prototype, 'prepare');
    const asked = async (sql: string) => {
      prepare.mockClear();
      await duck.rows(sql);
      return prepare.mock.calls.map(([text]) => String(text).replace(/\s+FROM \(SELECT[\s\S]*/, ''));
    };
    try {
      expect(await asked('SELECT url FROM site.pages')).toEqual(['SELECT u.id, u.url']);
      expect(await asked('SELECT count(*) FROM site.pages')).toEqual(['SELECT u.id, u.id']);
      expect(await asked('SELECT to_page_id, count(*) FROM site.links GROUP BY 1')).toEqual([
        'SELECT l.page_id, l.targets',
      ]);
      expect(await asked('SELECT from_page_id FROM site.links WHERE anchor IS NOT NULL')).toEqual([
        'SELECT l.page_id, l.page_id, l.targets, l.anchors',
      ]);
      expect(await asked('SELECT url_host_name, url_path FROM site.cc_index')).toEqual([
        'SELECT u.id, f.status_code, COALESCE(u.fetch_url, u.url)',
      ]);
      const [text] = await asked('SELECT url, title FROM site.pages');
      expect(text).toBe('SELECT u.id, u.url, f.title');
      // A table that nobody needs is not joined.
      prepare.mockClear();
      await duck.rows('SELECT url FROM site.pages');
      expect(String(prepare.mock.calls[0][0])).not.toMatch(/host|fetched/);
    } finally {
      prepare.mockRestore();
    }
  });

  it('are batches: a long table is read as it is asked for', async () => {
    const place = await STORES.SQLite();
    const { pages } = littleWeb();
    const web = await bench.web({ pages });
    await crawlLittleWeb(place, web.origin, () => {});
    await place.change(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 30000)
      INSERT INTO url (project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url)
      SELECT 1, 1, 3, 1, 1, 0, 1, 0, 'https://a.test/' || i FROM n`);
    const duck = await sites.duckDb();
    await duck.attach('site', addressOf(place));
    const known = await place.rows('SELECT id FROM url ORDER BY id');
    const all = vi.fn();
    const prepare = Sqlite.prototype.prepare;
    const spy = vi.spyOn(Sqlite.prototype, 'prepare').mockImplementation(function (
      this: InstanceType<typeof Sqlite>,
      text,
    ) {
      const statement = prepare.call(this, text);
      const own = statement.all.bind(statement) as (...values: unknown[]) => unknown[];
      statement.all = (...values: unknown[]) => {
        all();
        return own(...values);
      };
      return statement;
    });
    try {
      expect((await duck.rows('SELECT id FROM site.pages')).map(({ id }) => id)).toEqual(
        known.map(({ id }) => id),
      );
      expect(all.mock.calls.length).toBe(15);
      all.mockClear();
      await duck.run("SET streaming_buffer_size = '2B'");
      const stream = await duck.connection.stream('SELECT url FROM site.pages');
      await stream.fetchChunk();
      expect(all.mock.calls.length).toBeLessThan(5);
      all.mockClear();
      await duck.rows('SELECT url FROM site.pages LIMIT 1');
      expect(all.mock.calls.length).toBeLessThan(5);
    } finally {
      spy.mockRestore();
    }
  });
});

describe('an attached store', () => {
  it('cannot be changed', async () => {
    const { duck } = await attached();
    for (const sql of [
      'CREATE TABLE site.x (i INTEGER)',
      'CREATE VIEW site.x AS SELECT 1',
      'CREATE OR REPLACE VIEW site.pages AS SELECT 1',
      'DROP VIEW site.pages',
      'INSERT INTO site.runs (id) VALUES (9)',
      "UPDATE site.pages SET title = 'x'",
      'DELETE FROM site.links',
      'CREATE SCHEMA site.more',
    ])
      await expect(duck.run(sql), sql).rejects.toThrow();
    expect(await duck.texts('SELECT count(*) > 5 FROM site.pages')).toEqual([[true]]);
  });

  it('is not changed by being read, and leaves nothing behind', async () => {
    const { place, duck } = await attached();
    const folder = join(addressOf(place), '..');
    await duck.rows('SELECT * FROM site.pages, site.hosts');
    await duck.rows('SELECT failure FROM site.visits');
    await duck.run('DETACH site');
    await duck.settle();
    expect(readdirSync(folder)).toEqual(['sumi.db']);
    await expect(duck.rows('SELECT * FROM site.pages')).rejects.toThrow(/site/);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith('sumi-site-'))).toEqual([]);
    await duck.attach('site', addressOf(place));
    expect(await duck.texts('SELECT count(*) FROM site.runs')).toEqual([['2']]);
  });

  it('stands beside others, under a name that is free', async () => {
    const { place, duck } = await attached();
    await duck.attach('other "site"', addressOf(place));
    expect(await duck.texts('SELECT count(*) FROM site.runs a, "other ""site""".runs b')).toEqual([['4']]);
    await expect(duck.attach('site', addressOf(place))).rejects.toThrow(/already exists/);
    expect(await duck.texts('SELECT count(*) FROM site.runs')).toEqual([['2']]);
  });

  it('may be attached and left inside a transaction', async () => {
    const { place, duck } = await attached();
    await duck.run('BEGIN; CREATE TABLE kept AS SELECT url FROM site.pages');
    await duck.attach('more', addressOf(place));
    await duck.run('INSERT INTO kept SELECT url FROM more.pages; COMMIT; DETACH more');
    await duck.settle();
    expect(await duck.texts('SELECT count(*) > 10 FROM kept')).toEqual([[true]]);
  });

  it('shows a crawl that is under way, and does not let another into it', async () => {
    const { pages, change } = littleWeb();
    let goOn: () => void = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const web = await bench.web({
      pages: { ...pages, '/later': (exchange) => void held.then(() => exchange.response.end('later')) },
    });
    change();
    const file = bench.file();
    const begun = await bench.begin(file, web.origin);
    await web.asked('/later');
    const duck = await sites.duckDb();
    await vi.waitFor(
      async () => {
        await duck.attach('site', file.path);
      },
      { timeout: 30_000 },
    );
    await vi.waitFor(
      async () => {
        expect(await duck.texts("SELECT state FROM site.pages WHERE url LIKE '%/hub'")).toEqual([
          ['Processed'],
        ]);
      },
      { timeout: 30_000 },
    );
    await duck.run('DETACH site');
    await duck.settle();
    // Still the crawl's, for another process too: closing the file here did not take its lock away.
    const stranger = `const db = new (require('better-sqlite3'))(process.argv[1], { timeout: 0 });
      try { db.exec('BEGIN IMMEDIATE'); console.log('has it'); } catch ({ code }) { console.log(code); }`;
    const said = execFileSync(process.execPath, ['-e', stranger, file.path], { encoding: 'utf8' });
    expect(said.trim()).toBe('SQLITE_BUSY');
    goOn();
    expect((await begun.finished).status).toBe('completed');
  });
});

describe('what cannot be attached', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sumi-bad-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('is said before anything is attached', async () => {
    const duck = await sites.duckDb(true);
    const place = await crawled();
    await place.change('PRAGMA user_version = 999');
    writeFileSync(join(folder, 'text.db'), 'no database at all'.repeat(100));
    const wrong: Record<string, string> = {
      [join(folder, 'missing.db')]: 'db-missing',
      [folder]: 'db-is-directory',
      [join(folder, 'text.db')]: 'db-not-sqlite',
      [addressOf(place)]: 'db-newer',
      'postgres://nobody@127.0.0.1:1/nowhere': 'store-unreachable',
    };
    for (const [address, code] of Object.entries(wrong))
      await expect(duck.attach('site', address), address).rejects.toMatchObject({ code });
    expect(await duck.texts("SELECT count(*) FROM duckdb_databases() WHERE database_name = 'site'")).toEqual([
      ['0'],
    ]);
  });

  it('is a file that DuckDB itself has open: its lock stays', async () => {
    const duck = await sites.duckDb();
    const path = join(folder, 'own.duckdb');
    await duck.run(`ATTACH '${path}' AS own`);
    await expect(duck.attach('site', path)).rejects.toMatchObject({ code: 'db-not-sqlite' });
    await duck.run('DETACH own');
  });

  it('has no function for others to call', async () => {
    const duck = await sites.duckDb();
    await expect(duck.rows("SELECT * FROM sumi_site(1, 'pages')")).rejects.toThrow(/attached stores only/);
  });
});

describe('a file of an older version', () => {
  it('is shown as this one would have it', async () => {
    const place = await crawled();
    await place.change(`DROP TABLE reverse_link_set; DROP TABLE index_state; DROP INDEX robots_txt_host;
      PRAGMA user_version = 11`);
    const duck = await sites.duckDb();
    await duck.attach('site', addressOf(place));
    expect((await duck.rows('SELECT * FROM site.pages')).length).toBeGreaterThan(5);
  });
});
