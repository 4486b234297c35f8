import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SumiError } from '../../errors.ts';
import { openForReading, openForWriting, storeError } from './open-database.ts';
import { SCHEMA_VERSION } from './schema.ts';

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
    openForWriting(path).close();
    makeWith(`DROP VIEW runs; DROP VIEW page_depths; DROP TABLE origin; DROP TABLE page_depth; ALTER TABLE run DROP COLUMN metadata; CREATE VIEW runs AS SELECT id FROM run;
      INSERT INTO project (id, name, created_at) VALUES (1, 'old', 0);
      INSERT INTO run (project_id, started_at, status, config_hash, config) VALUES (1, 0, 'completed', '', '{}');
      PRAGMA user_version = 1`);
    openForWriting(path).close();
    const db = new Sqlite(path, { readonly: true });
    expect(db.pragma('user_version', { simple: true })).toBe(SCHEMA_VERSION);
    expect(db.prepare('SELECT project, status, metadata FROM runs').all()).toEqual([
      { project: 'old', status: 'completed', metadata: null },
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
    expect(codeOf(() => openForWriting(path))).toBe('db-locked');
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
