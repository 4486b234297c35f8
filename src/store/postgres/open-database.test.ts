import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { crawlALittle } from '../../../test/contracts/little-crawl.ts';
import { OLDER_PROJECTS, olderProjectsSql } from '../../../test/contracts/older-projects.ts';
import { answersOf } from '../../../test/contracts/read-side-contract.ts';
import { FakeClock } from '../../../test/fake-clock.ts';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { type PgBouncer, startPgBouncer } from '../../../test/servers/start-pgbouncer.ts';
import type { PostgresDatabases } from '../../../test/servers/start-postgres.ts';
import type { SumiError } from '../../errors.ts';
import { connect, disconnect } from './connection.ts';
import { openForReading, openForWriting } from './open-database.ts';
import { openPostgresStore } from './postgres-store.ts';
import { openPostgresReadSide } from './read-side.ts';
import { MIGRATIONS, SCHEMA_VERSION } from './schema.ts';

const OPTIONS = { max: 2, applicationName: 'test' };
let server: PostgresDatabases;
const made: string[] = [];

beforeAll(async () => {
  server = await sharedPostgres();
});
afterAll(async () => {
  for (const url of made) await server.dropDatabase(url);
});

async function newDatabase(): Promise<string> {
  const url = await server.newDatabase();
  made.push(url);
  return url;
}

const nameOf = (url: string) => new URL(url).pathname.slice(1);
const newRole = () => `role_${crypto.randomUUID().replaceAll('-', '')}`;

async function migrated(): Promise<string> {
  const url = await newDatabase();
  await disconnect((await openForWriting(url, OPTIONS)).sql);
  return url;
}

async function refusal(opening: Promise<unknown>): Promise<SumiError> {
  return opening.then(
    () => {
      throw new Error('it was opened');
    },
    (error) => error,
  );
}

/** Every table and view with its owner: what must not change when a database is refused. */
async function contentsOf(url: string): Promise<unknown[]> {
  const sql = connect(url, OPTIONS);
  try {
    return [
      ...(await sql`SELECT relname, relkind FROM pg_class WHERE relnamespace = 'public'::regnamespace ORDER BY 1`),
    ];
  } finally {
    await disconnect(sql);
  }
}

describe('opening for a worker', () => {
  it('names projects by the ports of their start URLs, where nobody gave them a name', async () => {
    const url = await newDatabase();
    const sql = connect(url, OPTIONS);
    await sql.unsafe(`${MIGRATIONS.slice(0, 8).join('\n')}; ${olderProjectsSql()};
      INSERT INTO meta VALUES ('application', 'sumi-ripple'), ('schema_version', '8'), ('hash_key', '${'0'.repeat(32)}')`);
    await disconnect(sql);
    const opened = await openForWriting(url, OPTIONS);
    const rows = await opened.sql`SELECT name FROM project ORDER BY id`;
    await disconnect(opened.sql);
    expect(rows.map(({ name }) => name)).toEqual(OLDER_PROJECTS.map(({ after }) => after));
  });

  it('makes the tables once, whoever comes first of ten at once', async () => {
    const url = await newDatabase();
    const opened = await Promise.all(Array.from({ length: 10 }, () => openForWriting(url, OPTIONS)));
    try {
      expect(new Set(opened.map(({ hashKey }) => hashKey)).size).toBe(1);
      expect(opened[0].hashKey).toMatch(/^[0-9a-f]{32}$/);
      const meta = await opened[0].sql`SELECT key, value FROM meta ORDER BY key`;
      expect([...meta]).toEqual([
        { key: 'application', value: 'sumi-ripple' },
        { key: 'hash_key', value: opened[0].hashKey },
        { key: 'schema_version', value: String(SCHEMA_VERSION) },
      ]);
    } finally {
      for (const { sql } of opened) await disconnect(sql);
    }
    const again = await openForWriting(url, OPTIONS);
    expect(again.hashKey).toBe(opened[0].hashKey);
    await disconnect(again.sql);
    const other = await openForWriting(await newDatabase(), OPTIONS);
    expect(other.hashKey).not.toBe(again.hashKey);
    await disconnect(other.sql);
  });

  it.each([
    ['a table of its own', 'CREATE TABLE customers (id int)', 'customers'],
    ['a meta that looks different', 'CREATE TABLE meta (id int, body json)', 'meta'],
    [
      'a meta that looks like ours',
      `CREATE TABLE meta (key text, value text); INSERT INTO meta VALUES ('application', 'x')`,
      'meta',
    ],
    ['a view', 'CREATE VIEW pages AS SELECT 1 AS id', 'pages'],
  ])('refuses a database of another program and leaves it alone: %s', async (_, statements, table) => {
    const url = await newDatabase();
    await server.run(statements, url);
    const before = await contentsOf(url);
    for (const open of [openForWriting, openForReading]) {
      const error = await refusal(open(url, OPTIONS));
      expect(error).toMatchObject({ code: 'store-foreign', exitCode: 4 });
      expect(error.message).toContain(`"${table}"`);
    }
    expect(await contentsOf(url)).toEqual(before);
  });

  it('does not take an extension for another program', async () => {
    const url = await newDatabase();
    await server.run('CREATE EXTENSION pg_stat_statements', url);
    await disconnect((await openForWriting(url, OPTIONS)).sql);
  });

  it('refuses a newer schema', async () => {
    const url = await migrated();
    await server.run(`UPDATE meta SET value = '${SCHEMA_VERSION + 1}' WHERE key = 'schema_version'`, url);
    for (const open of [openForWriting, openForReading]) {
      const error = await refusal(open(url, OPTIONS));
      expect(error).toMatchObject({ code: 'store-newer', exitCode: 4 });
      expect(error.message).toContain(String(SCHEMA_VERSION + 1));
    }
  });

  it('brings a database of the version before up to date, with a history made of its request log', async () => {
    const request = (run: number, page: number, at: number, status: number, hash: string | null, kind = 0) =>
      `(${run}, 1, ${page}, ${kind}, ${at}, ${at}.25, ${at}.75, 0, 1, ${status}, ${status === 200 ? 500 : 9}, ${hash === null ? 'NULL' : `'\\x${hash}'`})`;
    const url = await newDatabase();
    await server.run(
      `${MIGRATIONS[0]}
      CREATE VIEW runs AS SELECT id FROM run;
      CREATE VIEW visits AS SELECT id, run_id FROM request;
      INSERT INTO meta VALUES ('application', 'sumi-ripple'), ('schema_version', '1'), ('hash_key', '${'0'.repeat(32)}');
      INSERT INTO project (name, created_at) VALUES ('old', 0);
      INSERT INTO run (project_id, started_at, status, config_hash, config) SELECT 1, 0, 'completed', '', '{}' FROM generate_series(1, 5);
      INSERT INTO host (name) VALUES ('a.test');
      INSERT INTO url (host_id, project_id, identity, state, rank, priority, depth, discovered_run, discovered_at, url)
        SELECT 1, 1, gen_random_uuid(), 3, 1, 1, 0, 1, 0, 'https://a.test/' || n FROM generate_series(1, 2) n;
      INSERT INTO fetched (page_id, host_id, run_id, visited_at, noindex, nofollow) VALUES (1, 1, 3, 0, 0, 0), (2, 1, 1, 0, 0, 0);
      INSERT INTO request (run_id, host_id, page_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes, content_hash)
      VALUES ${[
        request(1, 1, 1000, 503, null),
        request(1, 1, 2000, 200, 'aa'),
        request(1, 2, 3000, 404, null),
        request(1, 1, 3500, 200, null, 1),
        request(2, 1, 4000, 200, 'aa'),
        request(3, 1, 5000, 0, null),
        request(4, 1, 6000, 200, 'aa'),
        request(5, 1, 7000, 200, 'bb'),
      ].join(', ')}`,
      url,
    );
    expect(await refusal(openForReading(url, OPTIONS))).toMatchObject({ code: 'store-older', exitCode: 4 });
    const { sql } = await openForWriting(url, OPTIONS);
    try {
      const visits =
        await sql`SELECT run_id, page_id, outcome, known_by, status_code, content_hash, wire_bytes,
        duration_ms FROM visits ORDER BY run_id, page_id`.values();
      expect([...visits]).toEqual([
        [1, 1, 'new', 'content', 200, 'aa', 500, 1],
        [1, 2, 'failed', 'status', 404, null, 9, 1],
        [2, 1, 'unchanged', 'hash', 200, 'aa', 500, 1],
        [3, 1, 'failed', 'network', null, null, 9, 1],
        [4, 1, 'unchanged', 'hash', 200, 'aa', 500, 1],
        [5, 1, 'changed', 'content', 200, 'bb', 500, 1],
      ]);
      const fetched = await sql`SELECT page_id, wire_bytes FROM fetched ORDER BY page_id`.values();
      expect([...fetched]).toEqual([
        [1, 500],
        [2, 0],
      ]);
      const uid = expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f-]{21}$/);
      expect([...(await sql`SELECT uid, updated_at FROM project`)]).toEqual([{ uid, updated_at: 0 }]);
      expect([...(await sql`SELECT project, "new" FROM runs WHERE id = 1`)]).toEqual([
        { project: 'old', new: 1 },
      ]);
    } finally {
      await disconnect(sql);
    }
  });

  it('bounds the change frequencies of a database that knew no bound', async () => {
    const url = await newDatabase();
    await server.run(
      `${MIGRATIONS.slice(0, 8).join('\n')}
      INSERT INTO meta VALUES ('application', 'sumi-ripple'), ('schema_version', '8'), ('hash_key', '${'0'.repeat(32)}');
      INSERT INTO fetched (page_id, host_id, run_id, visited_at, change_frequency, noindex, nofollow)
        VALUES (1, 1, 1, 5, 432, 0, 0), (2, 1, 1, 5, 2.5, 0, 0);`,
      url,
    );
    const { sql } = await openForWriting(url, OPTIONS);
    try {
      const kept = await sql`SELECT change_frequency FROM fetched ORDER BY page_id`.values();
      expect([...kept]).toEqual([[24], [2.5]]);
    } finally {
      await disconnect(sql);
    }
  });

  it("names an operator's own view that stands in the way, and changes nothing until it is gone", async () => {
    const url = await newDatabase();
    await server.run(
      `${MIGRATIONS[0]}; CREATE VIEW pages AS SELECT id FROM url; CREATE VIEW my_report AS SELECT id FROM pages;
      INSERT INTO meta VALUES ('application', 'sumi-ripple'), ('schema_version', '1'), ('hash_key', '${'0'.repeat(32)}')`,
      url,
    );
    const before = await contentsOf(url);
    const error = await refusal(openForWriting(url, OPTIONS));
    expect(error).toMatchObject({ code: 'store-failed' });
    expect(error.message).toContain('view my_report depends on view pages');
    expect(await contentsOf(url)).toEqual(before);
    await server.run('DROP VIEW my_report', url);
    await disconnect((await openForWriting(url, OPTIONS)).sql);
  });

  it('crawls a database of the version before', async () => {
    const url = await newDatabase();
    await server.run(
      `${MIGRATIONS[0]};
      INSERT INTO meta VALUES ('application', 'sumi-ripple'), ('schema_version', '1'), ('hash_key', '${'0'.repeat(32)}')`,
      url,
    );
    const clock = new FakeClock();
    const readTime = async () => clock.now();
    const openStore = () => openPostgresStore({ address: url, clock, patienceMs: 0, readTime, onFailure });
    const openReadSide = () => openPostgresReadSide(url);
    await crawlALittle({ clock, openStore, openReadSide, cleanUp: async () => {} });
    const side = await openReadSide();
    try {
      expect((await answersOf(side)).runs).toHaveLength(3);
    } finally {
      await side.close();
    }
  });

  it('tells a reader of an empty database that there is nothing yet', async () => {
    const url = await newDatabase();
    expect(await refusal(openForReading(url, OPTIONS))).toMatchObject({ code: 'store-empty', exitCode: 4 });
    expect(await contentsOf(url)).toEqual([]);
  });

  it('tells a wrong password and a missing database apart, without the password', async () => {
    const role = newRole();
    await server.run(`CREATE ROLE ${role} LOGIN PASSWORD 'right' IN ROLE guarded`);
    const url = await newDatabase();
    const wrong = await refusal(openForWriting(server.urlOf(nameOf(url), role, 'hush-hush'), OPTIONS));
    expect(wrong).toMatchObject({ code: 'store-login', exitCode: 4 });
    const missing = await refusal(openForReading(server.urlOf('no_such_one', role, 'right'), OPTIONS));
    expect(missing).toMatchObject({ code: 'store-no-database', exitCode: 4 });
    const shown = [wrong, missing].map(({ message, stack, details, cause }) => [
      message,
      stack,
      details,
      cause,
    ]);
    expect(JSON.stringify(shown)).not.toMatch(/hush-hush|right@/);
  });
});

describe('a role with the least rights', () => {
  const page = readFileSync(new URL('../../../docs/postgresql.md', import.meta.url), 'utf8');
  const grants = page.match(/```sql\n(CREATE ROLE sumi_worker[\s\S]*?)```/)![1];

  /** The documented statements, for roles whose names no other test has. */
  async function grantIn(url: string): Promise<{ worker: string; reader: string }> {
    const [worker, reader] = [newRole(), newRole()];
    await server.run(grants.replaceAll('sumi_worker', worker).replaceAll('sumi_reader', reader), url);
    return { worker: server.urlOf(nameOf(url), worker), reader: server.urlOf(nameOf(url), reader) };
  }

  it('as documented opens what its owner made', async () => {
    const url = await migrated();
    const { worker, reader } = await grantIn(url);
    const { sql } = await openForWriting(worker, OPTIONS);
    try {
      await sql`INSERT INTO host (name) VALUES ('a.test')`;
      await sql`INSERT INTO url (host_id, project_id, identity, state, rank, priority, depth, discovered_run, discovered_at, url)
        VALUES (1, 1, gen_random_uuid(), 1, 1, 1, 0, 1, 0, 'https://a.test/')`;
      await expect(sql`CREATE TABLE mine (id int)`).rejects.toMatchObject({ code: '42501' });
    } finally {
      await disconnect(sql);
    }
    const looking = await openForReading(reader, OPTIONS);
    try {
      expect([...(await looking`SELECT url FROM pages`)]).toEqual([{ url: 'https://a.test/' }]);
      await expect(looking`DELETE FROM host`).rejects.toMatchObject({ code: '42501' });
    } finally {
      await disconnect(looking);
    }
  });

  it('as documented crawls and reads', async () => {
    const url = await migrated();
    const { worker, reader } = await grantIn(url);
    const clock = new FakeClock();
    await crawlALittle({
      clock,
      openStore: () =>
        openPostgresStore({
          address: worker,
          clock,
          patienceMs: 0,
          readTime: async () => clock.now(),
          onFailure,
        }),
      openReadSide: () => openPostgresReadSide(reader),
      cleanUp: async () => {},
    });
    const [looking, owner] = [await openPostgresReadSide(reader), await openPostgresReadSide(url)];
    try {
      expect(await answersOf(looking)).toEqual(await answersOf(owner));
    } finally {
      await looking.close();
      await owner.close();
    }
  });

  it('keeps its rights when the owner brings the database up to date', async () => {
    const url = await newDatabase();
    await server.run(
      `${MIGRATIONS[0]}; CREATE VIEW pages AS SELECT id FROM url;
      INSERT INTO meta VALUES ('application', 'sumi-ripple'), ('schema_version', '1'), ('hash_key', '${'0'.repeat(32)}')`,
      url,
    );
    const { worker, reader } = await grantIn(url);
    expect(await refusal(openForWriting(worker, OPTIONS))).toMatchObject({ code: 'store-older' });
    await disconnect((await openForWriting(url, OPTIONS)).sql);
    await disconnect((await openForWriting(worker, OPTIONS)).sql);
    const looking = await openForReading(reader, OPTIONS);
    try {
      expect([...(await looking`SELECT count(*) AS n FROM pages, visits, sitemap_entries`)]).toEqual([
        { n: 0 },
      ]);
    } finally {
      await disconnect(looking);
    }
  });

  it('is told all that is missing, as soon as it opens', async () => {
    const url = await migrated();
    const { worker, reader } = await grantIn(url);
    const role = new URL(worker).username;
    await server.run(`REVOKE DELETE ON url FROM ${role}; REVOKE USAGE ON SEQUENCE url_id FROM ${role}`, url);
    const error = await refusal(openForWriting(worker, OPTIONS));
    expect(error).toMatchObject({ code: 'store-denied', exitCode: 4 });
    expect(error.message).toContain('DELETE on url, USAGE on url_id');
    expect(await refusal(openForWriting(reader, OPTIONS))).toMatchObject({ code: 'store-denied' });
  });

  it('cannot make the tables, and is told so', async () => {
    const url = await newDatabase();
    const role = newRole();
    await server.run(`CREATE ROLE ${role} LOGIN`, url);
    const error = await refusal(openForWriting(server.urlOf(nameOf(url), role), OPTIONS));
    expect(error).toMatchObject({ code: 'store-denied', exitCode: 4 });
    expect(await contentsOf(url)).toEqual([]);
  });

  it('with no right at all is told so, also when it only reads', async () => {
    const url = await migrated();
    const role = newRole();
    await server.run(`CREATE ROLE ${role} LOGIN`, url);
    for (const open of [openForWriting, openForReading]) {
      const error = await refusal(open(server.urlOf(nameOf(url), role), OPTIONS));
      expect(error).toMatchObject({ code: 'store-denied', exitCode: 4 });
    }
  });
});

describe('through PgBouncer in transaction mode', () => {
  let pooler: PgBouncer;
  beforeAll(async () => {
    pooler = await startPgBouncer(server);
  });
  afterAll(() => pooler?.stop());

  it('ten workers migrate at once, over two sessions', async () => {
    const url = await newDatabase();
    const address = `${pooler.through(url)}?pgbouncer=true`;
    const opened = await Promise.all(Array.from({ length: 10 }, () => openForWriting(address, OPTIONS)));
    try {
      expect(new Set(opened.map(({ hashKey }) => hashKey)).size).toBe(1);
      const counts = await Promise.all(
        opened.map(
          ({ sql }, i) => sql`SELECT ${i}::int AS i, ${['x', 'y']}::text[] AS words FROM meta LIMIT 1`,
        ),
      );
      expect(counts.map(([row]) => row)).toEqual(opened.map((_, i) => ({ i, words: ['x', 'y'] })));
    } finally {
      for (const { sql } of opened) await disconnect(sql);
    }
  });

  it('without being told says what to add', async () => {
    const url = await migrated();
    const error = await refusal(openForReading(pooler.through(url), OPTIONS));
    expect(error).toMatchObject({ code: 'store-pooler', exitCode: 4 });
    expect(error.hint).toContain('pgbouncer=true');
  });

  it('a database that is missing is told as without it', async () => {
    const missing = `${pooler.through(server.urlOf('no_such_one'))}?pgbouncer=true`;
    expect(await refusal(openForReading(missing, OPTIONS))).toMatchObject({
      code: 'store-no-database',
      exitCode: 4,
    });
  });

  it('a crawl is written and read back', async () => {
    const url = await newDatabase();
    const address = `${pooler.through(url)}?pgbouncer=true`;
    const clock = new FakeClock();
    const openStore = () =>
      openPostgresStore({ address, clock, patienceMs: 0, readTime: async () => clock.now(), onFailure });
    const openReadSide = () => openPostgresReadSide(address);
    await crawlALittle({ clock, openStore, openReadSide, cleanUp: async () => {} });
    const [pooled, straight] = [await openReadSide(), await openPostgresReadSide(url)];
    try {
      const answers = await answersOf(pooled);
      expect(answers.runs).toHaveLength(3);
      expect(answers).toEqual(await answersOf(straight));
    } finally {
      await pooled.close();
      await straight.close();
    }
  });
});

function onFailure(error: unknown): never {
  throw error;
}
