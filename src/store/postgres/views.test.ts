import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { disconnect, type Sql } from './connection.ts';
import { openForWriting } from './open-database.ts';

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

it('shows a robots.txt that is no UTF-8 rather than failing', async () => {
  await sql`INSERT INTO host (id, name) VALUES (1, 'a.test'), (2, 'b.test')`;
  await sql`INSERT INTO robots_txt (origin, host_id, status, body, fetched_at, expires_at) VALUES
    ('https://a.test', 1, 200, ${Buffer.from([0x61, 0xff, 0x00])}, 1, 2),
    ('https://b.test', 2, 200, ${Buffer.from('Ü')}, 1, 2)`;
  expect([...(await sql`SELECT robots_txt FROM domains ORDER BY id`)]).toEqual([
    { robots_txt: 'a\\377\\000' },
    { robots_txt: 'Ü' },
  ]);
});
