import type { DuckDBConnection } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { useDuckFolder } from '../../../test/sql/duck-folder.ts';
import { openTarget } from './check-target.ts';
import { type KnownBatch, readKnown } from './read-known.ts';

const folder = useDuckFolder();

async function read(connection: DuckDBConnection): Promise<KnownBatch[]> {
  const target = { catalog: null, schema: null, table: 'pages' };
  const plan = await openTarget(connection, { target, extracted: [] });
  const batches: KnownBatch[] = [];
  for await (const batch of readKnown(connection, plan)) batches.push(structuredClone(batch));
  return batches;
}

async function connect(...statements: string[]): Promise<DuckDBConnection> {
  const connection = await (await folder.open(null)).connect();
  for (const statement of statements) await connection.run(statement);
  return connection;
}

describe('what a table knows', () => {
  it('comes in batches of at most 10,000 URLs, those without a URL left out', async () => {
    const connection = await connect(
      'CREATE TABLE pages (url VARCHAR)',
      `INSERT INTO pages SELECT CASE WHEN i % 10 = 0 THEN NULL ELSE 'u' || i END FROM range(50000) r(i)`,
    );
    const batches = await read(connection);
    const urls = batches.flatMap((batch) => batch.urls);
    expect([urls.length, new Set(urls).size, urls.includes('u10')]).toEqual([45_000, 45_000, false]);
    for (const { urls: some, isPassing, crawledAt } of batches) {
      expect(some.length).toBeLessThanOrEqual(10_000);
      expect([isPassing.length, crawledAt.length]).toEqual([some.length, some.length]);
    }
    expect(batches.length).toBeLessThan(8);
  });

  it('is nothing for a table that is empty', async () => {
    expect(await read(await connect('CREATE TABLE pages (url VARCHAR)'))).toEqual([]);
  });

  it('has a mark for failures that may be over: by the word, or by the status', async () => {
    const rows = [
      ['network_timeout', 'NULL', 1],
      ['network_error', 'NULL', 1],
      ['http_server_error', '503', 1],
      ['http_rate_limited', '429', 1],
      ['http_client_error', '404', 0],
      ['robots_disallowed', 'NULL', 0],
      ['invalid_url', 'NULL', 0],
      [null, '200', 0],
      [null, '500', 1],
    ] as const;
    const values = rows.map(
      ([word, status], index) => `('u${index}', ${word === null ? 'NULL' : `'${word}'`}, ${status})`,
    );
    const connection = await connect(
      'CREATE TABLE pages (url VARCHAR, error_type VARCHAR, http_status INTEGER)',
      `INSERT INTO pages VALUES ${values.join(', ')}`,
    );
    const [{ urls, isPassing }] = await read(connection);
    expect(urls).toEqual(rows.map((_, index) => `u${index}`));
    expect([...isPassing]).toEqual(rows.map(([, , passing]) => passing));
    await connection.run('ALTER TABLE pages DROP COLUMN error_type');
    expect([...(await read(connection))[0].isPassing]).toEqual([0, 0, 1, 1, 0, 0, 0, 0, 1]);
    await connection.run('ALTER TABLE pages DROP COLUMN http_status');
    expect([...(await read(connection))[0].isPassing]).toEqual(rows.map(() => 0));
  });

  it('has the moment of each row in UTC, 0 where there is none', async () => {
    const noon = Date.UTC(2024, 5, 1, 12);
    const connection = await connect(`SET TimeZone = 'Asia/Tokyo'`);
    for (const type of ['TIMESTAMP', 'TIMESTAMP_S', 'TIMESTAMP_MS', 'TIMESTAMP_NS', 'TIMESTAMPTZ']) {
      const moment =
        type === 'TIMESTAMPTZ' ? `TIMESTAMPTZ '2024-06-01 12:00:00+00'` : `'2024-06-01 12:00:00'::${type}`;
      await connection.run(`CREATE OR REPLACE TABLE pages AS SELECT 'u' AS url, ${moment} AS crawl_time`);
      await connection.run(`INSERT INTO pages VALUES ('v', NULL)`);
      expect([...(await read(connection))[0].crawledAt], type).toEqual([noon, 0]);
    }
  });
});
