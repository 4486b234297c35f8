import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OLDER_PROJECTS, olderProjectsSql } from '../../../test/contracts/older-projects.ts';
import { SumiError } from '../../errors.ts';
import { REQUEST_KINDS } from '../host-port.ts';
import { openAsSource, openForReading, openForWriting, storeError } from './open-database.ts';
import { openSqliteReadSide } from './read-side.ts';
import { MIGRATIONS, SCHEMA_VERSION } from './schema.ts';
import { VIEWS } from './views.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sumi-open-'));
  path = join(folder, 'x.db');
});
afterEach(() => rmSync(folder, { recursive: true }));

function codeOf(open: () => { close(): void }): string {
  try {
    open().close();
  } catch (error) {
    if (error instanceof SumiError) return error.code;
    throw error;
  }
  return 'none';
}

function makeWith(sql: string): void {
  const db = new Sqlite(path);
  db.exec(sql);
  db.close();
}

/** A file as an older program left it. */
function makeOfVersion(version: number, rows: string): void {
  makeWith(
    `${MIGRATIONS.slice(0, version).join('\n')}; ${rows}; PRAGMA application_id = ${0x53554d49}; PRAGMA user_version = ${version}`,
  );
}

describe('opening for writing', () => {
  it('makes a database of the current version and marks it as ours', () => {
    openForWriting(path).close();
    const db = new Sqlite(path, { readonly: true });
    expect(db.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION);
    expect(db.pragma('application_id', { simple: true })).toBe(0x53554d49);
    expect(db.pragma('journal_mode', { simple: true })).toBe('wal');
    expect(db.prepare('SELECT count(*) AS n FROM pages').get()).toEqual({ n: 0 });
    db.close();
  });

  it('opens its own database again', () => {
    openForWriting(path).close();
    expect(codeOf(() => openForWriting(path))).toBe('none');
  });

  it('brings a file of the first version on: rows stay, views are made anew', () => {
    makeOfVersion(
      1,
      `CREATE VIEW runs AS SELECT id FROM run;
      INSERT INTO project (id, name, created_at) VALUES (1, 'old', 0);
      INSERT INTO run (project_id, started_at, status, config_hash, config) VALUES (1, 0, 'completed', '', '{}')`,
    );
    openForWriting(path).close();
    const db = new Sqlite(path, { readonly: true });
    expect(db.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION);
    expect(db.prepare('SELECT project, status, metadata, mode, "new" FROM runs').all()).toEqual([
      { project: 'old', status: 'completed', metadata: null, mode: null, new: 0 },
    ]);
    db.close();
  });

  it('gives the projects of an older file a UUID each, and their making as the time of their last change', () => {
    const rows = Array.from({ length: 50 }, (_, i) => `(${i + 1}, 'p${i}', ${i + 5})`);
    makeOfVersion(SCHEMA_VERSION - 1, `${VIEWS}; INSERT INTO project (id, name, created_at) VALUES ${rows}`);
    openForWriting(path).close();
    const db = new Sqlite(path, { readonly: true });
    const uids = db.prepare('SELECT uid FROM project').pluck().all() as string[];
    expect(new Set(uids).size).toBe(50);
    for (const uid of uids)
      expect(uid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(db.prepare('SELECT count(*) FROM project WHERE updated_at <> created_at').pluck().get()).toBe(0);
    db.close();
  });

  it('bounds the change frequencies of a file that knew no bound, and reading shows them bounded', async () => {
    makeOfVersion(
      10,
      `${VIEWS}; INSERT INTO project (id, name, created_at) VALUES (1, 'old', 0);
       INSERT INTO host (id, name) VALUES (1, 'a.test');
       INSERT INTO url (id, host_id, project_id, state, priority, depth, discovered_run, discovered_at, url, hops, attempts)
         VALUES (1, 1, 1, 3, 1, 0, 1, 0, 'https://a.test/', '', 0), (2, 1, 1, 3, 1, 0, 1, 0, 'https://a.test/b', '', 0);
       INSERT INTO fetched (page_id, run_id, visited_at, change_frequency, noindex, nofollow)
         VALUES (1, 1, 5, 432, 0, 0), (2, 1, 5, 2.5, 0, 0)`,
    );
    const side = openSqliteReadSide(path);
    expect([(await side.pageById(1))!.change_frequency, (await side.pageById(2))!.change_frequency]).toEqual([
      24, 2.5,
    ]);
    await side.close();
    openForWriting(path).close();
    const db = new Sqlite(path, { readonly: true });
    expect(db.prepare('SELECT change_frequency FROM fetched ORDER BY page_id').pluck().all()).toEqual([
      24, 2.5,
    ]);
    db.close();
  });

  it('names projects by the ports of their start URLs, where nobody gave them a name', async () => {
    makeOfVersion(10, olderProjectsSql());
    const side = openSqliteReadSide(path);
    expect((await side.projects()).map(({ project }) => project)).toEqual(
      OLDER_PROJECTS.map(({ after }) => after),
    );
    await side.close();
    openForWriting(path).close();
    const db = new Sqlite(path, { readonly: true });
    expect(db.prepare('SELECT name FROM project ORDER BY id').pluck().all()).toEqual(
      OLDER_PROJECTS.map(({ after }) => after),
    );
    db.close();
  });

  it('makes history of the request log of a file that had none', () => {
    const request = (run: number, page: number, at: number, status: number, hash: string | null, kind = 0) =>
      `(${run}, 1, ${page}, ${kind}, ${at}, ${at}.25, ${at}.75, 0, 1, ${status}, ${status === 200 ? 500 : 9}, ${hash === null ? 'NULL' : `x'${hash}'`})`;
    makeOfVersion(
      3,
      `INSERT INTO fetched (page_id, run_id, visited_at, noindex, nofollow) VALUES (1, 3, 0, 0, 0), (2, 1, 0, 0, 0);
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
    );
    openForWriting(path).close();
    const db = new Sqlite(path, { readonly: true });
    const visits = db.prepare(
      'SELECT run_id, page_id, outcome, known_by, status_code, content_hash, wire_bytes, duration_ms FROM visits ORDER BY run_id, page_id',
    );
    expect(visits.raw().all()).toEqual([
      [1, 1, 'new', 'content', 200, 'aa', 500, 1],
      [1, 2, 'failed', 'status', 404, null, 9, 1],
      [2, 1, 'unchanged', 'hash', 200, 'aa', 500, 1],
      [3, 1, 'failed', 'network', null, null, 9, 1],
      [4, 1, 'unchanged', 'hash', 200, 'aa', 500, 1],
      [5, 1, 'changed', 'content', 200, 'bb', 500, 1],
    ]);
    expect(db.prepare('SELECT page_id, wire_bytes FROM fetched ORDER BY page_id').raw().all()).toEqual([
      [1, 500],
      [2, 0],
    ]);
    db.close();
  });

  it('takes an empty file for a new database', () => {
    writeFileSync(path, '');
    expect(codeOf(() => openForWriting(path))).toBe('none');
  });

  it('refuses a folder, a text file, somebody else’s database, a newer version, a missing folder', () => {
    expect(codeOf(() => openForWriting(folder))).toBe('db-is-directory');
    writeFileSync(path, 'Dear diary, today I did not use SQLite.');
    expect(codeOf(() => openForWriting(path))).toBe('db-not-sqlite');
    rmSync(path);
    makeWith('CREATE TABLE recipes (name TEXT)');
    expect(codeOf(() => openForWriting(path))).toBe('db-foreign');
    rmSync(path);
    openForWriting(path).close();
    makeWith(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`);
    expect(codeOf(() => openForWriting(path))).toBe('db-newer');
    expect(codeOf(() => openForWriting(join(folder, 'no', 'x.db')))).toBe('db-not-writable');
  });

  it.each([1, 15, 100, 511, 4096, 70_000])('refuses a file of %d bytes that is no database', (size) => {
    writeFileSync(path, 'x'.repeat(size));
    for (const open of [openForWriting, openForReading, openAsSource])
      expect(codeOf(() => open(path))).toBe('db-not-sqlite');
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(size));
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('writes nothing into what it refuses', () => {
    makeWith('CREATE TABLE recipes (name TEXT)');
    const before = readFileSync(path);
    expect(codeOf(() => openForWriting(path))).toBe('db-foreign');
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(existsSync(`${path}-wal`)).toBe(false);
  });

  it('refuses a folder that it may not write to', () => {
    const locked = join(folder, 'locked');
    mkdirSync(locked);
    chmodSync(locked, 0o500);
    const expected = process.getuid?.() === 0 ? 'none' : 'db-not-writable'; // root may write anywhere
    expect(codeOf(() => openForWriting(join(locked, 'x.db')))).toBe(expected);
    chmodSync(locked, 0o700);
  });

  it('keeps a second writer out while the first lives, and lets him in afterwards', () => {
    const first = openForWriting(path);
    expect(codeOf(() => openForWriting(path))).toBe('db-open-here');
    first.close();
    expect(codeOf(() => openForWriting(path))).toBe('none');
  });

  it('names the process that has the file', () => {
    const first = openForWriting(path);
    // A process that certainly lives and is not this one: our parent.
    first.prepare("UPDATE meta SET value = ? WHERE key = 'holder'").run(process.ppid);
    first.exec('COMMIT; BEGIN IMMEDIATE');
    try {
      openForWriting(path);
      expect.unreachable('opened twice');
    } catch (error) {
      expect(error).toMatchObject({
        code: 'db-in-use',
        message: expect.stringContaining(String(process.ppid)),
      });
    }
    first.close();
  });

  it('takes no process of another container for itself, though both have the same number', () => {
    const first = openForWriting(path);
    first.exec("UPDATE meta SET value = 'another' WHERE key = 'holder_mark'; COMMIT; BEGIN IMMEDIATE");
    expect(codeOf(() => openForWriting(path))).toBe('db-locked');
    first.close();
  });
});

describe('opening as the source of a copy', () => {
  it.each(Array.from({ length: SCHEMA_VERSION }, (_, i) => i + 1))(
    'shows what this version has and leaves the file to the byte as it was: version %d',
    (version) => {
      makeOfVersion(
        version,
        `INSERT INTO project (id, name, created_at) VALUES (1, 'old', 0);
         INSERT INTO run (project_id, started_at, status, config_hash, config) VALUES (1, 5000, 'completed', 'h', '{}');
         INSERT INTO request (run_id, host_id, page_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes)
           VALUES (1, 1, 7, ${REQUEST_KINDS.indexOf('GET')}, 0, 5001, 5002, 0, 1, 200, 9)`,
      );
      const before = readFileSync(path);
      const db = openAsSource(path);
      expect(db.prepare('SELECT robots_other FROM fetched').all()).toEqual([]);
      // Files without a history get theirs from the request log.
      expect(db.prepare('SELECT count(*) FROM visit').pluck().get()).toBe(version < 4 ? 1 : 0);
      db.close();
      expect(readFileSync(path).equals(before)).toBe(true);
    },
  );

  it('keeps crawlers out until it is closed, and is kept out by them', () => {
    openForWriting(path).close();
    const source = openAsSource(path);
    expect(codeOf(() => openForWriting(path))).toBe('db-open-here');
    expect(codeOf(() => openForReading(path))).toBe('none');
    source.close();
    const crawler = openForWriting(path);
    expect(codeOf(() => openAsSource(path))).toBe('db-open-here');
    crawler.close();
  });

  it('refuses what is not ours', () => {
    makeWith('CREATE TABLE theirs (x)');
    expect(codeOf(() => openAsSource(path))).toBe('db-foreign');
  });
});

describe('opening for reading', () => {
  it('is allowed while somebody writes, and sees what was committed', () => {
    const writer = openForWriting(path);
    writer.exec("INSERT INTO project (name, created_at) VALUES ('p', 1)");
    const reader = openForReading(path);
    const count = reader.prepare('SELECT count(*) FROM project').pluck();
    expect(count.get()).toBe(0);
    writer.exec('COMMIT; BEGIN IMMEDIATE');
    expect(count.get()).toBe(1);
    expect(() => reader.exec('DELETE FROM project')).toThrow(/readonly/);
    reader.close();
    writer.close();
  });

  it('never makes a file', () => {
    expect(codeOf(() => openForReading(path))).toBe('db-missing');
    expect(existsSync(path)).toBe(false);
  });

  it('refuses what is not ours', () => {
    makeWith('CREATE TABLE recipes (name TEXT)');
    expect(codeOf(() => openForReading(path))).toBe('db-foreign');
  });

  it('tells of a file that it may not read, and of one beside which SQLite may not write', () => {
    openForWriting(path).close();
    chmodSync(path, 0o000);
    const isRoot = process.getuid?.() === 0; // root may read and write anything
    expect(codeOf(() => openForReading(path))).toBe(isRoot ? 'none' : 'db-unreadable');
    chmodSync(path, 0o600);
    const cause = new Sqlite.SqliteError('it happened', 'SQLITE_READONLY_CANTINIT');
    expect(storeError(cause, path, true)).toMatchObject({ code: 'db-unreadable', cause });
  });
});

describe('errors of SQLite', () => {
  it('are told in our words, with the file and the cause', () => {
    const cases = [
      ['SQLITE_FULL', 'disk-full'],
      ['SQLITE_BUSY_SNAPSHOT', 'db-locked'],
      ['SQLITE_NOTADB', 'db-not-sqlite'],
      ['SQLITE_READONLY_DBMOVED', 'db-not-writable'],
      ['SQLITE_CORRUPT', 'store-failed'],
    ] as const;
    for (const [code, expected] of cases) {
      const cause = new Sqlite.SqliteError('it happened', code);
      expect(storeError(cause, 'x.db')).toMatchObject({ code: expected, cause });
      expect((storeError(cause, 'x.db') as Error).message).toContain('x.db');
    }
  });

  it('leave other errors as they are', () => {
    const error = new TypeError('ours');
    expect(storeError(error, 'x.db')).toBe(error);
  });
});
