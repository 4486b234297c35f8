/** SQL of attackers: each attempt is refused, and nothing is read, written or requested. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { REFUSED_FUNCTIONS, TABLE_FUNCTIONS } from '../../src/sql/queries/allowed-names.ts';
import { lockedInstance } from '../../src/sql/queries/locked-instance.ts';
import { useBench } from '../crawls/crawl-site.ts';
import { eachStore } from '../crawls/each-store.ts';
import { addressOf, crawlSmallSite, errorOf, useAsking } from './ask-queries.ts';

const bench = useBench();
const STORES = eachStore(bench);
const asking = useAsking();

describe('what attacks', () => {
  /** A file and a server that hold a secret, and what was asked of the server. */
  async function guarded() {
    const place = await STORES.SQLite();
    await crawlSmallSite(bench, place);
    const folder = bench.file().folder;
    const secret = join(folder, 'secret.csv');
    writeFileSync(secret, 'name\nSESAME\n');
    const asked: string[] = [];
    const server = createServer((request, response) => {
      asked.push(String(request.url));
      response.end('name\nSESAME\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { address: addressOf(place), folder, secret, asked, server, origin };
  }

  function attacks({ secret, folder, origin, address }: Awaited<ReturnType<typeof guarded>>): string[] {
    const readers = ['read_csv', 'read_csv_auto', 'read_text', 'read_blob', 'read_json', 'read_json_auto'];
    const more = ['read_ndjson', 'read_parquet', 'parquet_scan', 'parquet_metadata', 'sniff_csv', 'glob'];
    const ofUs = ['crawl', 'fetch', 'sitemap', 'links', 'robots_check', 'sumi_crawl', 'sumi_fetch', 'crawls'];
    return [
      ...[...readers, ...more, 'read_duckdb'].flatMap((reader) => [
        `SELECT * FROM ${reader}('${secret}')`,
        `FROM pages, ${reader}('${origin}/x.csv')`,
        `WITH a AS MATERIALIZED (FROM ${reader.toUpperCase()}('${secret}')) SELECT 1`,
        `SELECT (SELECT count(*) FROM "${reader}"('${secret}')) FROM pages`,
      ]),
      `FROM '${secret}'`,
      `FROM "${secret}"`,
      `SUMMARIZE '${secret}'`,
      `DESCRIBE '${secret}'`,
      `DESCRIBE FROM read_csv('${secret}')`,
      `EXPLAIN ANALYZE FROM read_csv('${secret}')`,
      `EXPLAIN ANALYZE COPY pages TO '${folder}/out.csv'`,
      `EXPLAIN (FORMAT json) INSERT INTO pages VALUES (1)`,
      `FROM query('FROM read_csv(''${secret}'')')`,
      `FROM query_table('${secret}')`,
      `FROM json_execute_serialized_sql(json_serialize_sql('FROM read_csv(''${secret}'')'))`,
      `PRAGMA json_execute_serialized_sql('{}')`,
      `COPY pages TO '${folder}/out.csv'`,
      `COPY (SELECT 1) TO '${folder}/out.parquet' (FORMAT parquet)`,
      `COPY pages FROM '${secret}'`,
      `EXPORT DATABASE '${folder}/out'`,
      `IMPORT DATABASE '${folder}'`,
      `ATTACH '${folder}/new.duckdb'`,
      `ATTACH '${address}' AS other (TYPE sumi)`,
      `ATTACH '${address}' AS other (TYPE sqlite)`,
      `ATTACH 'postgres://localhost/x' AS other (TYPE postgres)`,
      `DETACH site`,
      `USE memory`,
      `INSTALL httpfs`,
      `INSTALL httpfs FROM '${origin}'`,
      `LOAD httpfs`,
      `LOAD '${folder}/x.duckdb_extension'`,
      `UPDATE EXTENSIONS`,
      `SET enable_external_access = true`,
      `SET GLOBAL memory_limit = '100GB'`,
      `RESET lock_configuration`,
      `PRAGMA enable_profiling`,
      `PRAGMA database_list`,
      `CALL duckdb_settings()`,
      `CALL enable_logging(storage = 'file', storage_path = '${folder}/log')`,
      `FROM enable_logging(storage := 'file', storage_path := '${folder}/log')`,
      `FROM enable_profiling(save_location := '${folder}/profile.json')`,
      `FROM checkpoint()`,
      `CHECKPOINT`,
      `VACUUM`,
      `SELECT getenv('PATH')`,
      `SELECT current_setting('secret_directory')`,
      `FROM duckdb_settings()`,
      `FROM duckdb_secrets()`,
      `FROM duckdb_databases`,
      `FROM duckdb_extensions()`,
      `FROM pg_catalog.pg_settings`,
      `FROM pg_settings`,
      `FROM (WITH pg_settings AS (SELECT 1) SELECT 1) a, pg_settings`,
      `FROM system.information_schema.tables`,
      `FROM memory.main.pages`,
      `FROM temp.main.pages`,
      `SHOW DATABASES`,
      `SHOW VARIABLES`,
      `FROM sumi_site(1, 'pages')`,
      `FROM sumi_site(2, 'pages')`,
      ...ofUs.map((name) => `FROM ${name}('${origin}/')`),
      `SELECT fetch('${origin}/')`,
      `SELECT sumi_fetch('${origin}/')`,
      `CRAWL (SELECT '${origin}/') INTO stolen`,
      `EXPLAIN CRAWL (SELECT '${origin}/') INTO stolen`,
      `STOP CRAWL`,
      `SHOW CRAWLS`,
      `INSERT INTO pages VALUES (1)`,
      `UPDATE pages SET title = 'x'`,
      `DELETE FROM pages`,
      `DROP VIEW pages`,
      `CREATE OR REPLACE VIEW pages AS SELECT 1`,
      `CREATE TABLE x AS SELECT 1`,
      `CREATE MACRO f() AS 1`,
      `CREATE SECRET (TYPE s3, KEY_ID 'x', SECRET 'y')`,
      `ALTER VIEW pages RENAME TO other`,
      `MERGE INTO pages USING pages p ON true WHEN MATCHED THEN DELETE`,
      `WITH x AS (DELETE FROM pages RETURNING *) FROM x`,
      `PIVOT pages ON state`,
      `BEGIN`,
      `COMMIT`,
      `PREPARE p AS SELECT 1`,
      `EXECUTE p`,
      `SELECT 1; SELECT 2`,
      `SELECT 1; COPY pages TO '${folder}/out.csv'`,
      `;`,
      ``,
      `SELECT nextval('x')`,
      `SELECT sleep_ms(100000)`,
      `SELECT write_log('x')`,
      `SELECT setseed(0.5)`,
      `SELECT 1e400::DOUBLE, (SELECT count(*) FROM read_csv('${secret}'))`,
      `SELECT '\u0000', (SELECT count(*) FROM read_csv('${secret}'))`,
      `FROM pages WHERE url IN (FROM read_text('${secret}') SELECT content)`,
      `SELECT list_transform([1], x -> (SELECT content FROM read_text('${secret}')))`,
      `FROM pages ORDER BY (SELECT content FROM read_text('${secret}'))`,
      `VALUES ((SELECT content FROM read_text('${secret}')))`,
      `FROM range((SELECT length(content) FROM read_text('${secret}')))`,
      `SELECT * REPLACE ((SELECT content FROM read_text('${secret}')) AS url) FROM pages`,
      `FROM pages LIMIT (SELECT count(*) FROM read_text('${secret}'))`,
      `FROM pages UNION ALL BY NAME FROM read_text('${secret}')`,
      `WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1 FROM read_text('${secret}')) FROM r`,
      `SELECT count(*) OVER (ORDER BY (SELECT content FROM read_text('${secret}'))) FROM pages`,
      `FROM pages TABLESAMPLE 10% JOIN read_text('${secret}') ON true`,
      `FROM pages PIVOT (count(*) FOR state IN (FROM read_text('${secret}') SELECT content))`,
    ];
  }

  it('is refused, each and every one; nothing is read, written or asked', async () => {
    const guard = await guarded();
    const ask = asking(guard.address);
    const before = readdirSync(guard.folder).sort();
    try {
      for (const sql of attacks(guard)) {
        const error = await errorOf(ask(sql));
        expect(error.code, sql).toMatch(/^(query-|sql-)/);
        expect(error.httpStatus, sql).toBe(400);
        expect(`${error.message} ${error.hint}`, sql).not.toContain('SESAME');
      }
      expect(guard.asked).toEqual([]);
      expect(readdirSync(guard.folder).sort()).toEqual(before);
      expect(readFileSync(guard.secret, 'utf8')).toBe('name\nSESAME\n');
      expect((await ask('SELECT count(*) FROM pages')).rows).toEqual([[3]]);
    } finally {
      guard.server.close();
    }
  });

  it('would be refused by DuckDB itself, too, where our check let it through', async () => {
    const guard = await guarded();
    guard.server.close();
    const { connection, close } = await lockedInstance(async () => {});
    const leaks = [
      `FROM read_text('${guard.secret}')`,
      `FROM '${guard.secret}'`,
      `COPY (SELECT 1) TO '${guard.folder}/out.csv'`,
      `ATTACH '${guard.folder}/new.duckdb'`,
      'LOAD httpfs',
      'SET enable_external_access = true',
    ];
    for (const sql of leaks) await expect(connection.runAndReadAll(sql), sql).rejects.toThrow();
    close();
  });

  it('finds every function of DuckDB known here that makes rows or has effects', async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    const found = await connection.runAndReadAll(
      `SELECT DISTINCT function_name FROM duckdb_functions()
       WHERE function_type = 'scalar' AND has_side_effects AND function_name NOT IN
         ('random', 'uuid', 'uuidv4', 'uuidv7', 'gen_random_uuid', 'error', 'current_query', 'stats')`,
    );
    const effects = found.getRows().map(([name]) => String(name));
    expect(effects.length).toBeGreaterThan(5);
    expect(effects.filter((name) => !REFUSED_FUNCTIONS.has(name))).toEqual([]);
    expect([...TABLE_FUNCTIONS].sort()).toEqual([
      'generate_series',
      'json_each',
      'json_tree',
      'range',
      'repeat',
      'unnest',
    ]);
    connection.closeSync();
    instance.closeSync();
  });
});
