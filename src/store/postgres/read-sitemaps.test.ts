import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { disconnect, type Sql } from './connection.ts';
import { openForWriting } from './open-database.ts';
import { createSitemapReader, entriesQuery } from './read-sitemaps.ts';

const ENTRIES = 20_000;
const OF_OTHERS = 5000;
let address: string;
let sql: Sql;

beforeAll(async () => {
  address = await (await sharedPostgres()).newDatabase();
  ({ sql } = await openForWriting(address, { max: 1, applicationName: 'test' }));
  await sql`INSERT INTO project (id, name, created_at) VALUES (1, 'other', 0), (2, 'shop', 0)`;
  await sql`INSERT INTO host (id, name) VALUES (1, 'a.test')`;
  await sql`INSERT INTO url (id, project_id, host_id, state, priority, rank, depth, attempts, discovered_run, discovered_at, url, identity)
    SELECT n, CASE WHEN n <= ${OF_OTHERS} THEN 1 ELSE 2 END, 1, 0, 1, 1, 1, 0, 1, 0, 'https://a.test/' || n, md5(n::text)::uuid
    FROM generate_series(1, ${ENTRIES}::int) n`;
  await sql`INSERT INTO sitemap_entry (page_id, host_id, sitemap, first_seen, last_seen)
    SELECT n, 1, 's', 0, 0 FROM generate_series(1, ${ENTRIES}::int) n`;
  await sql`ANALYZE`;
});
afterAll(async () => {
  await disconnect(sql);
  await (await sharedPostgres()).dropDatabase(address);
});

interface PlanNode {
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

function mostRows(node: PlanNode): number {
  const own = (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  return Math.max(own, ...(node.Plans ?? []).map(mostRows));
}

it('reads no more for a batch of entries than the batch', async () => {
  const { text, values } = entriesQuery({ project: 'shop' });
  for (const after of [0, 10_000]) {
    const rows = await sql.unsafe(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [after, 1000, ...values]);
    const [{ Plan }] = rows[0]['QUERY PLAN'] as { Plan: PlanNode }[];
    expect(mostRows(Plan)).toBeLessThanOrEqual(1001);
  }
});

it('goes on behind entries of other projects, up to the number that is wanted', async () => {
  const urls = async (filter: Parameters<typeof entriesQuery>[0]) => {
    const found: string[] = [];
    const { sitemapEntries } = createSitemapReader(sql);
    for await (const rows of sitemapEntries(filter)) found.push(...rows.map(({ url }) => url));
    return found;
  };
  const ofShop = Array.from({ length: ENTRIES - OF_OTHERS }, (_, i) => `https://a.test/${OF_OTHERS + 1 + i}`);
  expect(await urls({ project: 'shop' })).toEqual(ofShop);
  expect(await urls({ project: 'shop', limit: 1500 })).toEqual(ofShop.slice(0, 1500));
  expect(await urls({ project: 'shop', host: 'b.test' })).toEqual([]);
  expect(await urls({})).toHaveLength(ENTRIES);
});
