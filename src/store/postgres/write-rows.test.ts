import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { disconnect, type Sql } from './connection.ts';
import { openForWriting } from './open-database.ts';
import { findByKey } from './session.ts';
import { PUT_REQUEST_COUNTS } from './write-rows.ts';

const HOSTS = 2000;
let address: string;
let sql: Sql;

beforeAll(async () => {
  address = await (await sharedPostgres()).newDatabase();
  ({ sql } = await openForWriting(address, { max: 1, applicationName: 'test' }));
  await sql`INSERT INTO host (id, name) SELECT n, 'h' || n FROM generate_series(1, ${HOSTS}::int) n`;
  await sql`INSERT INTO host_queue (project_id, host_id) SELECT 1, n FROM generate_series(1, ${HOSTS}::int) n`;
});
afterAll(async () => {
  await disconnect(sql);
  await (await sharedPostgres()).dropDatabase(address);
});

it('finds the queues of a group by their keys, also where PostgreSQL has not counted them yet', async () => {
  const rows = JSON.stringify(Array.from({ length: 50 }, (_, i) => ({ h: i + 1, q: 3 })));
  const plan = await sql.begin(async (tx) => {
    await findByKey(tx);
    return tx.unsafe(`EXPLAIN (ANALYZE, FORMAT JSON) ${PUT_REQUEST_COUNTS}`, [rows, 1]);
  });
  const scans = JSON.stringify(plan).match(/Index Cond[^,}]*/g);
  expect(scans).toEqual([expect.stringContaining('(host_id = r.h) AND (project_id = r.j)')]);
  const [{ n }] = await sql`SELECT count(*)::int AS n FROM host_queue WHERE requests = 3`;
  expect(n).toBe(50);
});
