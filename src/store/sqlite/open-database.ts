/**
 * Opens the SQLite file, for one writer or for any number of readers. Every way in which that can go wrong is told
 * apart here, before anything is written.
 *
 * The writer keeps a write transaction open all its life (commit-window.ts), so that SQLite's own lock keeps a second
 * crawler out, and vanishes with the process however it dies.
 */
import { randomBytes } from 'node:crypto';
import { accessSync, constants, realpathSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { SumiError, sumiError } from '../../errors.ts';
import { isAlive } from '../../primitives/process-life.ts';
import Sqlite, { nativeBinding } from './driver.ts';
import { migrate, SCHEMA_VERSION } from './schema.ts';
import { isShut, openInShutFolder, tidiedAfterwards } from './tidy-reading.ts';

/** "SUMI" in the file's header tells our databases from others'. */
const APPLICATION_ID = 0x53554d49;
const CACHE_KIB = 32 * 1024;
/** Twice the default: rows come in order and texts are long, so fewer pages cost less. */
const PAGE_BYTES = 8192;
/** One page of the smallest size. */
const LEAST_BYTES = 512;
const CHECKPOINT_BYTES = 4 * 1024 * 1024;

/** Tells this process from one with the same number, in another container. */
const MARK = randomBytes(8).toString('hex');

/** A reader that tidies up has the file for a moment; whoever crawls into it has it for good. */
const LOCK_TRIES = 5;
const LOCK_PAUSE_MS = 40;

export function openForWriting(path: string, cacheKib = CACHE_KIB): Database {
  if (path !== ':memory:') refuseUnusable(path, true);
  for (let tries = 1; ; tries++) {
    try {
      return openWriter(path, cacheKib);
    } catch (error) {
      if (!(error instanceof SumiError) || error.code !== 'db-locked' || tries === LOCK_TRIES) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOCK_PAUSE_MS);
  }
}

function openWriter(path: string, cacheKib: number): Database {
  const db = openFile(path, false);
  try {
    refuseForeign(db, path);
    db.pragma(`cache_size = -${cacheKib}`);
    takeWriteLock(db, path);
    return db;
  } catch (error) {
    db.close();
    throw storeError(error, path);
  }
}

/**
 * For a copy of what it holds: shown as this version has it, and left as it is, because the transaction in which it is
 * brought on is never committed. Whoever has the file keeps us out, and we him, until it is closed.
 */
export function openAsSource(path: string): Database {
  refuseUnusable(path, true);
  const db = openFile(path, false);
  try {
    refuseForeign(db, path);
    db.pragma(`cache_size = -${CACHE_KIB}`);
    db.pragma('temp_store = MEMORY');
    lock(db, path);
    migrate(db, path);
    return db;
  } catch (error) {
    db.close();
    throw storeError(error, path);
  }
}

/** Leaves nothing beside the file, however the process ends: `tidy-reading.ts`. */
export function openForReading(path: string): Database {
  refuseUnusable(path, false);
  // SQLite's own files stand beside the file that a link leads to.
  const real = realpathSync(path);
  if (isShut(real)) return openInShutFolder(real, (copy) => openReader(copy, path));
  return tidiedAfterwards(openReader(real, path), real);
}

/** `shown` stands for the file in errors. */
function openReader(path: string, shown: string): Database {
  const db = openFile(path, true, shown);
  try {
    refuseForeign(db, shown);
    return db;
  } catch (error) {
    db.close();
    throw storeError(error, shown, true);
  }
}

/** Anything SQLite throws, as an error that says what to do. */
export function storeError(error: unknown, path: string, isReading = false): unknown {
  if (!(error instanceof Sqlite.SqliteError)) return error;
  const { code, message } = error;
  if (code === 'SQLITE_FULL' || /ENOSPC|disk is full/i.test(message))
    return sumiError('disk-full', { file: path }, error);
  if (code.startsWith('SQLITE_BUSY')) return sumiError('db-locked', { file: path }, error);
  if (code === 'SQLITE_NOTADB') return sumiError('db-not-sqlite', { file: path }, error);
  if (code.startsWith('SQLITE_READONLY') || code.startsWith('SQLITE_CANTOPEN') || code === 'SQLITE_PERM') {
    const told = isReading ? 'db-unreadable' : 'db-not-writable';
    return sumiError(told, { file: path, reason: message }, error);
  }
  return sumiError('store-failed', { file: path, reason: message }, error);
}

function openFile(path: string, readonly: boolean, shown = path): Database {
  try {
    return new Sqlite(path, {
      readonly,
      fileMustExist: readonly,
      timeout: readonly ? 5000 : 0,
      nativeBinding,
    });
  } catch (error) {
    throw storeError(error, shown, readonly);
  }
}

function refuseUnusable(path: string, forWriting: boolean): void {
  const stat = statOf(path);
  if (stat?.isDirectory()) throw sumiError('db-is-directory', { file: path });
  if (!stat && !forWriting) throw sumiError('db-missing', { file: path });
  if (forWriting) {
    const folder = dirname(resolve(path));
    refuseUnwritable(folder, path);
    if (stat) refuseUnwritable(path, path);
  }
  // SQLite would take a file of one byte for an empty one.
  if (stat && stat.size > 0 && stat.size < LEAST_BYTES) throw sumiError('db-not-sqlite', { file: path });
}

/** Undefined where there is nothing; a path that leads through a file leads nowhere, too. */
function statOf(path: string): Stats | undefined {
  try {
    return statSync(path);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw sumiError('db-not-writable', { file: path, reason: message }, error);
  }
}

function refuseUnwritable(target: string, path: string): void {
  try {
    accessSync(target, constants.W_OK);
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === 'ENOENT'
        ? `there is no folder ${target}`
        : `${target} is not writable`;
    throw sumiError('db-not-writable', { file: path, reason }, error);
  }
}

/**
 * SQLite itself says when a file is none of its own. Nothing here opens the file beside SQLite: whoever closes a file loses
 * all locks that this process has on it, a crawler's too, and others would take the journal away from under the crawl.
 */
function refuseForeign(db: Database, path: string): void {
  const version = db.pragma('user_version', { simple: true }) as number;
  const ours = db.pragma('application_id', { simple: true }) === APPLICATION_ID;
  const isEmpty = db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() === 0;
  if (!ours && !isEmpty) throw sumiError('db-foreign', { file: path });
  if (version > SCHEMA_VERSION)
    throw sumiError('db-newer', { file: path, found: version, known: SCHEMA_VERSION });
}

function takeWriteLock(db: Database, path: string): void {
  // Before the lock, because the journal mode cannot change inside a transaction.
  if (db.pragma('journal_mode', { simple: true }) !== 'wal') {
    db.pragma(`page_size = ${PAGE_BYTES}`);
    db.pragma('journal_mode = WAL');
  }
  db.pragma('synchronous = NORMAL');
  db.pragma(`wal_autocheckpoint = ${CHECKPOINT_BYTES / PAGE_BYTES}`); // small, so that no commit stalls the loop for long
  db.pragma('temp_store = MEMORY');
  lock(db, path);
  migrate(db, path);
  db.pragma(`application_id = ${APPLICATION_ID}`);
  db.prepare("INSERT OR REPLACE INTO meta VALUES ('holder', ?), ('holder_mark', ?)").run(process.pid, MARK);
  db.exec('COMMIT; BEGIN IMMEDIATE');
  db.pragma('busy_timeout = 5000');
}

function lock(db: Database, path: string): void {
  try {
    db.exec('BEGIN IMMEDIATE');
  } catch (error) {
    throw holderError(db, path) ?? storeError(error, path);
  }
}

/** The crawler that has the file, if it lives: its process id stands in the file while it crawls. */
function holderError(db: Database, path: string): SumiError | null {
  const hasMeta = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'meta'").get();
  const pid = hasMeta && db.prepare("SELECT value FROM meta WHERE key = 'holder'").pluck().get();
  if (typeof pid !== 'number' || !isAlive(pid)) return null;
  if (pid === process.pid) {
    const mark = db.prepare("SELECT value FROM meta WHERE key = 'holder_mark'").pluck().get();
    return mark === MARK ? sumiError('db-open-here', { file: path }) : null;
  }
  return sumiError('db-in-use', { file: path, pid });
}
