/**
 * Records in a file of their own beside the store's, `FILE.service`: small, written by short transactions, open to several
 * processes at once while one of them holds the store itself. Only its owner may read it. Each change is on the disk
 * before its verb resolves. Never opens the store's file.
 */
import { chmodSync, realpathSync, statSync } from 'node:fs';
import type { Database, Statement } from 'better-sqlite3';
import { sumiError } from '../../errors.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { RecordPort } from '../record-port.ts';
import {
  listStatement,
  namedRecord,
  putStatement,
  type RawRecord,
  RECORD_STATEMENTS,
  type RecordStatement,
  readRecord,
  recordTable,
  refuseNoScope,
} from '../record-statements.ts';
import Sqlite, { nativeBinding } from './driver.ts';
import { storeError } from './open-database.ts';

/** "SUMR": not the store itself. */
const APPLICATION_ID = 0x53554d52;
/** Each brings the file one version on. */
const MIGRATIONS = [recordTable('INTEGER', 'TEXT')];
const PATIENCE_MS = 5000;
const WAL_TRIES = 50;
const WAL_PAUSE_MS = 20;

export function openSqliteRecords(storePath: string, clock: Clock): RecordPort {
  const path = pathOfRecords(storePath);
  const db = openFile(path);
  const prepared = new Map<string, Statement>();
  const prepare = (sql: string): Statement => {
    const known = prepared.get(sql) ?? db.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  let isClosed = false;
  const guard = <Answer>(work: () => Answer): Answer => {
    if (isClosed) throw sumiError('store-closed', { store: path });
    try {
      return work();
    } catch (error) {
      throw storeError(error, path);
    }
  };
  const all = <Row>({ sql, values }: RecordStatement) => guard(() => prepare(sql).all(values) as Row[]);
  const now = () => Math.round(clock.now());

  return {
    async get<Value>(...name: Parameters<RecordPort['get']>) {
      const values = { ...namedRecord(...name), now: now() };
      const [row] = all<RawRecord>({ sql: RECORD_STATEMENTS.get, values });
      return row === undefined ? null : readRecord<Value>(row);
    },
    async list<Value>(query: Parameters<RecordPort['list']>[0]) {
      return all<RawRecord>(listStatement(query, now())).map((row) => readRecord<Value>(row));
    },
    async put(kind, scope, key, value, options = {}) {
      const record = namedRecord(kind, scope, key);
      const [row] = all<{ version: number }>(putStatement(record, value, options, { now: now(), call: '' }));
      return row?.version ?? null;
    },
    async remove(kind, scope, key, ifVersion) {
      const values = { ...namedRecord(kind, scope, key), now: now() };
      const { remove, removeKnown } = RECORD_STATEMENTS;
      const statement =
        ifVersion === undefined
          ? { sql: remove, values }
          : { sql: removeKnown, values: { ...values, ifVersion } };
      return all(statement).length > 0;
    },
    async removeScope(scope) {
      refuseNoScope(scope);
      guard(() => prepare(RECORD_STATEMENTS.removeScope).run({ scope }));
    },
    async removeExpired() {
      return all({ sql: RECORD_STATEMENTS.removeExpired, values: { now: now() } }).length;
    },
    async close() {
      isClosed = true;
      db.close();
    },
  };
}

/** Beside the file that a link leads to, so that there is one for all its names. */
function pathOfRecords(storePath: string): string {
  if (storePath === ':memory:') return storePath;
  try {
    return `${realpathSync(storePath)}.service`;
  } catch {
    // The store is not there yet, or cannot be: opening says so.
    return `${storePath}.service`;
  }
}

function openFile(path: string): Database {
  let db: Database;
  try {
    db = new Sqlite(path, { timeout: PATIENCE_MS, nativeBinding });
  } catch (error) {
    const { message } = error as Error;
    // The driver's own word for a folder that is not there is no error of SQLite's.
    throw error instanceof TypeError
      ? sumiError('db-not-writable', { file: path, reason: message }, error)
      : storeError(error, path);
  }
  try {
    refuseForeign(db, path);
    if (path !== ':memory:') closeToOthers(path);
    useLog(db);
    db.pragma('synchronous = FULL');
    db.transaction(() => migrate(db, path)).immediate();
    return db;
  } catch (error) {
    db.close();
    throw storeError(error, path);
  }
}

function refuseForeign(db: Database, path: string): void {
  const ours = db.pragma('application_id', { simple: true }) === APPLICATION_ID;
  if (!ours && db.prepare('SELECT count(*) FROM sqlite_schema').pluck().get() !== 0)
    throw sumiError('db-foreign', { file: path });
  refuseNewer(db, path);
}

function refuseNewer(db: Database, path: string): number {
  const found = db.pragma('user_version', { simple: true }) as number;
  if (found > MIGRATIONS.length) throw sumiError('db-newer', { file: path, found, known: MIGRATIONS.length });
  return found;
}

/** Before anything is in it; SQLite gives its own files beside it the same mode. */
function closeToOthers(path: string): void {
  if ((statSync(path).mode & 0o077) === 0) return;
  try {
    chmodSync(path, 0o600);
  } catch (error) {
    throw sumiError('db-not-writable', { file: path, reason: (error as Error).message }, error);
  }
}

/** Whoever else opens the file in this moment keeps it for a moment, and SQLite does not wait for him here. */
function useLog(db: Database): void {
  for (let tries = 1; ; tries++) {
    try {
      if (db.pragma('journal_mode', { simple: true }) !== 'wal') db.pragma('journal_mode = WAL');
      return;
    } catch (error) {
      const isBusy = error instanceof Sqlite.SqliteError && error.code.startsWith('SQLITE_BUSY');
      if (!isBusy || tries === WAL_TRIES) throw error;
    }
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAL_PAUSE_MS);
  }
}

function migrate(db: Database, path: string): void {
  const found = refuseNewer(db, path);
  for (let version = found; version < MIGRATIONS.length; version++) db.exec(MIGRATIONS[version]);
  if (found === MIGRATIONS.length) return;
  db.pragma(`user_version = ${MIGRATIONS.length}`);
  db.pragma(`application_id = ${APPLICATION_ID}`);
}
