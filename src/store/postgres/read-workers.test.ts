import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { disconnect, type Sql } from './connection.ts';
import { openForWriting } from './open-database.ts';
import { workersOf } from './read-workers.ts';

let url: string;
let sql: Sql;
beforeAll(async () => {
  url = await (await sharedPostgres()).newDatabase();
  ({ sql } = await openForWriting(url, { max: 1, applicationName: 'test' }));
});
afterAll(async () => {
  if (sql !== undefined) await disconnect(sql);
  if (url !== undefined) await (await sharedPostgres()).dropDatabase(url);
});

it('tells who works by the clock of the database, and forgets who was last heard of a day ago', async () => {
  await sql`INSERT INTO project (id, name, created_at) VALUES (1, 'shop', 0)`;
  await sql`INSERT INTO run (id, project_id, started_at, status, config_hash, config) VALUES (7, 1, 0, 'running', 'h', '{}')`;
  // Seconds since it was last heard of, and since it ended.
  const workers = [
    ['ended', 60, 60],
    ['alive', 20, null],
    ['late', 40, null],
    ['forgotten', 90_000, null],
    ['long gone', 90_000, 90_000],
  ] as const;
  for (const [id, seen, ended] of workers) {
    await sql`INSERT INTO worker (id, process, run_id, started_at, seen_at, ended_at, hosts, pages, pages_per_second)
      SELECT ${id}::text, 'box:1', 7, 1000, now - ${seen}::int * 1000, now - ${ended}::int * 1000, 3, 40, 2.5
      FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS now) c`;
  }
  const rows = [];
  for await (const row of workersOf(sql)) rows.push(row);
  const known = {
    process: 'box:1',
    run: 7,
    project: 'shop',
    started_at: '1970-01-01T00:00:01.000Z',
    hosts: 3,
    pages: 40,
  };
  const seen = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  expect(rows).toEqual([
    { ...known, worker: 'alive', state: 'alive', pages_per_second: 2.5, seen_at: seen },
    { ...known, worker: 'ended', state: 'ended', pages_per_second: 0, seen_at: seen },
    { ...known, worker: 'late', state: 'late', pages_per_second: 0, seen_at: seen },
  ]);
});
