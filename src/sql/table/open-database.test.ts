import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { DuckDBInstance, version } from '@duckdb/node-api';
import { describe, expect, it } from 'vitest';
import { askStock, rowsOf, startChild, useDuckFolder } from '../../../test/sql/duck-folder.ts';
import { SumiError } from '../../errors.ts';
import { openDatabase } from './open-database.ts';

const folder = useDuckFolder();

/** What opening it says. */
async function refusal(name: string, isReadOnly = false): Promise<SumiError> {
  const error = await folder.open(name, isReadOnly).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(SumiError);
  return error as SumiError;
}

async function make(name: string, sql = 'CREATE TABLE t AS SELECT 1 AS i'): Promise<void> {
  const database = await folder.open(name);
  await (await database.connect()).run(sql);
  await database.close();
}

describe('a session file', () => {
  it('is where every connection begins, under the name that DuckDB gives it', async () => {
    for (const [name, catalog] of [
      ['pages.db', 'pages'],
      ['my-data.db', 'my-data'],
      [`it's "so".duckdb`, `it's "so"`],
      ['a.b.c.db', 'a'],
      ['select.db', 'select'],
      ['main.db', 'main_db'],
      ['temp.db', 'temp_db'],
      ['memory.db', 'memory_db'],
    ]) {
      const database = await folder.open(name);
      expect(database.catalog).toBe(catalog);
      for (const connection of [await database.connect(), await database.connect()]) {
        expect(await rowsOf(connection, 'SELECT current_catalog(), current_schema()')).toEqual([
          [catalog, 'main'],
        ]);
        await connection.run('CREATE TABLE IF NOT EXISTS t AS SELECT 7 AS i');
      }
      await database.close();
      expect(await askStock(folder.path(name), 'SELECT i FROM t')).toEqual([[7]]);
    }
  });

  it('is an ordinary one for a stock DuckDB, which may write to it in turn', async () => {
    await make('pages.db', `CREATE TABLE t (i INTEGER, body VARCHAR USING COMPRESSION zstd)`);
    await askStock(folder.path('pages.db'), `INSERT INTO t VALUES (1, 'one'), (2, 'two')`);
    const connection = await (await folder.open('pages.db')).connect();
    expect(await rowsOf(connection, 'SELECT i, body FROM t ORDER BY i')).toEqual([
      [1, 'one'],
      [2, 'two'],
    ]);
  });

  it('that a stock DuckDB made keeps its format', async () => {
    await askStock(folder.path('stock.db'), 'CREATE TABLE t AS SELECT range AS i FROM range(300000)');
    const format = `SELECT tags['storage_version'] FROM duckdb_databases() WHERE NOT internal AND path IS NOT NULL`;
    const before = await askStock(folder.path('stock.db'), format);
    const database = await folder.open('stock.db');
    const connection = await database.connect();
    await connection.run('INSERT INTO t SELECT i FROM t');
    await connection.run('CHECKPOINT');
    expect(await rowsOf(connection, 'SELECT count(*) FROM t')).toEqual([[600_000n]]);
    await database.close();
    expect(await askStock(folder.path('stock.db'), format)).toEqual(before);
  });

  it('has small row groups, rare checkpoints and the time zone of the user', async () => {
    const database = await folder.open('pages.db');
    const connection = await database.connect();
    await connection.run('CREATE TABLE t AS SELECT range AS i FROM range(10000)');
    await connection.run('CHECKPOINT');
    expect(await rowsOf(connection, `SELECT max(count) FROM pragma_storage_info('t')`)).toEqual([[4096n]]);
    const [settings] = await rowsOf(
      connection,
      `SELECT current_setting('checkpoint_threshold'), current_setting('TimeZone')`,
    );
    expect(settings[0]).toMatch(/^(64\.0 MB|61\.0 MiB)$/);
    const stock = await (await DuckDBInstance.create()).connect();
    expect(await rowsOf(stock, `SELECT current_setting('TimeZone')`)).toEqual([[settings[1]]]);
  });

  it('may be absent: everything is in memory then', async () => {
    for (const file of [null, ':memory:']) {
      const database = await openDatabase({ file, isReadOnly: false });
      await (await database.connect()).run('CREATE TABLE t AS SELECT 1 AS i');
      const connection = await database.connect();
      expect(await rowsOf(connection, 'SELECT i, current_catalog() FROM t')).toEqual([[1, database.catalog]]);
      expect(database.file).toBeNull();
      await database.close();
    }
  });

  it('is given free when the session closes, also by connections that were closed before', async () => {
    const database = await folder.open('pages.db');
    (await database.connect()).closeSync();
    await (await database.connect()).run('CREATE TABLE t AS SELECT 1 AS i');
    await database.close();
    expect(existsSync(folder.path('pages.db.wal'))).toBe(false);
    expect(await askStock(folder.path('pages.db'), 'FROM t')).toEqual([[1]]);
    await (await folder.open('pages.db')).connect();
  });

  it('can be read only, as it is in the file and in the log of a process that was killed', async () => {
    const killed = startChild('test/sql/append-batches.ts', [folder.path('pages.db')]);
    await killed.line();
    await killed.kill();
    expect(existsSync(folder.path('pages.db.wal'))).toBe(true);
    const before = readFileSync(folder.path('pages.db'));
    const database = await folder.open('pages.db', true);
    const connection = await database.connect();
    const [[rows]] = await rowsOf(connection, 'SELECT count(*) FROM pages');
    expect(rows).toBeGreaterThan(0n);
    await expect(connection.run('CREATE TABLE u (i INTEGER)')).rejects.toThrow('read-only');
    await database.close();
    expect(readFileSync(folder.path('pages.db')).equals(before)).toBe(true);
  });
});

describe('a file that cannot be the session file', () => {
  it('is open in another process, which is named', async () => {
    await make('pages.db');
    const other = startChild('test/sql/stock-duck.ts', [folder.path('pages.db'), 'hold']);
    const pid = await other.line();
    const error = await refusal('pages.db');
    expect(error).toMatchObject({ code: 'sql-file-locked', exitCode: 4 });
    expect(error.message).toContain(`PID ${pid}`);
    await other.end();
    await folder.open('pages.db');
  });

  it('is open in this process, under whatever name and by whatever library', async () => {
    await make('pages.db');
    mkdirSync(folder.path('sub'));
    symlinkSync(folder.path('pages.db'), folder.path('soft.db'));
    linkSync(folder.path('pages.db'), folder.path('hard.db'));
    const names = ['pages.db', 'sub/../pages.db', 'soft.db', 'hard.db'];
    const first = await folder.open('pages.db');
    for (const name of names)
      expect(await refusal(name)).toMatchObject({ code: 'sql-file-open', exitCode: 4 });
    await first.close();
    const stock = await DuckDBInstance.create(folder.path('pages.db'));
    const connection = await stock.connect();
    for (const name of names) expect(await refusal(name), name).toMatchObject({ code: 'sql-file-open' });
    connection.closeSync();
    stock.closeSync();
    await folder.open('soft.db');
  });

  it('is being opened already, though nobody has made it yet', async () => {
    const results = await Promise.allSettled([folder.open('new.db'), folder.open('./new.db')]);
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('is in a folder that does not exist', async () => {
    const error = await refusal('no/such/pages.db');
    expect(error).toMatchObject({ code: 'sql-no-folder', exitCode: 4 });
    expect(error.message).toContain(folder.path('no/such'));
  });

  it('is a folder, or is absent in a session that reads only', async () => {
    mkdirSync(folder.path('sub'));
    expect(await refusal('sub')).toMatchObject({ code: 'sql-file-unusable', exitCode: 4 });
    expect((await refusal('absent.db', true)).message).toContain('does not exist');
    expect(existsSync(folder.path('absent.db'))).toBe(false);
  });

  it('is no DuckDB file, and stays what it is', async () => {
    const sqlite = `SQLite format 3\0${'\0'.repeat(5000)}`;
    for (const [name, content, found] of [
      ['text.db', 'words '.repeat(1000), 'no DuckDB file'],
      ['short.db', 'x', 'no DuckDB file'],
      ['empty.db', '', 'empty'],
      ['sumi.db', sqlite, 'an SQLite database'],
      ['pages.parquet', 'PAR1.....', 'a Parquet file'],
    ]) {
      writeFileSync(folder.path(name), content);
      const error = await refusal(name);
      expect(error).toMatchObject({ code: 'sql-not-duckdb', exitCode: 4 });
      expect(error.message).toContain(found);
      expect(readFileSync(folder.path(name), 'utf8')).toBe(content);
    }
  });

  it('was written by a newer DuckDB', async () => {
    await make('pages.db');
    writeFileSync(folder.path('newer.db'), withVersion(readFileSync(folder.path('pages.db')), 99n));
    const error = await refusal('newer.db');
    expect(error).toMatchObject({ code: 'sql-file-newer', exitCode: 4 });
    expect(error.message).toContain(version());
  });

  it('is damaged', async () => {
    await make('pages.db');
    writeFileSync(folder.path('pages.db'), readFileSync(folder.path('pages.db')).fill(7, 4096, 9000));
    const error = await refusal('pages.db');
    expect(error).toMatchObject({ code: 'sql-file-unusable', exitCode: 4 });
    expect(error.message).toMatch(/[Cc]orrupt/);
  });
});

/** The header of a DuckDB file is one block with a checksum in front. */
function withVersion(file: Buffer, version: bigint): Buffer {
  const [checksumAt, contentAt, versionAt, end] = [0, 8, 12, 4096];
  file.writeBigUInt64LE(version, versionAt);
  let sum = 5381n;
  for (let at = contentAt; at < end; at += 8)
    sum ^= BigInt.asUintN(64, file.readBigUInt64LE(at) * 0xbf58476d1ce4e5b9n);
  file.writeBigUInt64LE(sum, checksumAt);
  return file;
}
