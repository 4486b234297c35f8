import { afterAll, beforeAll, expect, it } from 'vitest';
import { sharedPostgres } from '../../../test/servers/shared-postgres.ts';
import { disconnect, type Sql } from './connection.ts';
import { openForWriting } from './open-database.ts';
import { createHeadReader } from './read-heads.ts';
import type { Session } from './session.ts';

const HOSTS = 300;
let address: string;
let sql: Sql;
let asked = 0;

/** As much of one as a reader of heads needs. */
const session = () =>
  ({
    projectId: 1,
    isFirstRun: false,
    async attempt<T>(work: (runner: Sql) => Promise<T>) {
      asked++;
      return work(sql);
    },
  }) as Partial<Session> as Session;

beforeAll(async () => {
  address = await (await sharedPostgres()).newDatabase();
  ({ sql } = await openForWriting(address, { max: 2, applicationName: 'test' }));
  await sql`INSERT INTO host (id, name) SELECT n, 'h' || n FROM generate_series(1, ${HOSTS}::int) n`;
  // Of each host's pages the tenth is the best, and every third waits for its time.
  await sql`INSERT INTO url (host_id, project_id, identity, state, priority, rank, depth, discovered_run, discovered_at, url, retry_at)
    SELECT h, 1, gen_random_uuid(), 1, 1, CASE n WHEN 10 THEN 0 ELSE 1 END, 1, 1, 0, 'http://h' || h || '/' || n,
      CASE WHEN n % 3 = 0 THEN 1000 + n END
    FROM generate_series(1, ${HOSTS}::int) h, generate_series(1, 10) n`;
  await sql`INSERT INTO host_queue (project_id, host_id, waiting) SELECT 1, n, 10 FROM generate_series(1, ${HOSTS - 1}::int) n`;
});
afterAll(async () => {
  await disconnect(sql);
  await (await sharedPostgres()).dropDatabase(address);
});

it('answers all who ask in one turn together, each with its own', async () => {
  const readHead = createHeadReader(session());
  const heads = await Promise.all(Array.from({ length: HOSTS }, (_, i) => readHead(i + 1, (i % 4) + 1)));
  expect(asked).toBe(2);
  for (const [i, { pages, retryAt, counted }] of heads.entries()) {
    const wanted = [10, 1, 2, 4].slice(0, (i % 4) + 1).map((n) => `http://h${i + 1}/${n}`);
    expect(pages.map(({ url }) => url)).toEqual(wanted);
    expect([retryAt, counted]).toEqual([1003, i + 1 === HOSTS ? 0 : 10]);
  }
});

it('answers one who asks twice twice', async () => {
  const readHead = createHeadReader(session());
  const [one, two] = await Promise.all([readHead(7, 1), readHead(7, 2)]);
  expect([one.pages.length, two.pages.length]).toEqual([1, 2]);
});

it('tells everybody of a failure', async () => {
  const broken = { ...session(), attempt: () => Promise.reject(new Error('away')) };
  const readHead = createHeadReader(broken);
  const both = await Promise.allSettled([readHead(1, 1), readHead(2, 1)]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
});
