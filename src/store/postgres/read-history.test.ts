import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { disconnect, type Sql } from './connection.ts';
import { openForWriting } from './open-database.ts';
import { createHistoryReader } from './read-history.ts';

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

it('asks for the changes of a page in the runs that visited it, not in each of the thousands that a watch makes', async () => {
  await sql`INSERT INTO project (id, name, created_at) VALUES (1, 'shop', 0)`;
  await sql`INSERT INTO host (id, name) VALUES (1, 'a.test')`;
  await sql`INSERT INTO url (id, project_id, host_id, state, priority, rank, depth, attempts, discovered_run, discovered_at, url, identity)
    VALUES (7, 1, 1, 3, 1, 1, 0, 0, 1, 0, 'https://a.test/', md5('7')::uuid)`;
  await sql`INSERT INTO run (id, project_id, started_at, status, config_hash, config)
    SELECT n, 1, 0, 'completed', 'h', '{}' FROM generate_series(1, 400) n`;
  await sql`INSERT INTO visit (run_id, page_id, visited_at, host_id, outcome, known_by, wire_bytes, bytes_saved)
    VALUES (3, 7, 1, 1, 0, 5, 0, 0), (90, 7, 2, 1, 2, 3, 0, 0), (91, 7, 3, 1, 1, 5, 0, 0), (400, 7, 4, 1, 1, 5, 0, 0)`;
  let asked = 0;
  const counted = new Proxy(sql, {
    get(target, name) {
      if (name === 'unsafe') asked++;
      return Reflect.get(target, name);
    },
  });
  const told: string[] = [];
  const filter = { projectId: 1, pageId: 7, fromRun: 2, toRun: 399 };
  for await (const { run, outcome } of createHistoryReader(counted).changes(filter))
    told.push(`${run} ${outcome}`);
  expect(told).toEqual(['3 new', '91 changed']);
  expect(asked).toBeLessThan(10);
});
