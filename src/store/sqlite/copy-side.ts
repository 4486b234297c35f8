/**
 * An SQLite file as a side of a copy (copy-port.ts). The file's write lock keeps crawlers out as long as the copy takes,
 * and a file that one of them has is refused. The side that is read is left as it is, of whatever version.
 */
import { createHash, randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { sumiError } from '../../errors.ts';
import { REDIRECT_PRIORITY } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import {
  BATCH_ROWS,
  COPIED_COLUMNS,
  type CopiedProject,
  type CopyBatch,
  type CopyOrigin,
  type CopyProgress,
  type CopyReader,
  type CopyRequest,
  type CopyRole,
  type CopySide,
  type CopyTable,
  type CopyWriter,
  copiedKey,
  copyKey,
  createRowReader,
  isSameOrigin,
  MARKED,
  nameWhileCopied,
  originOf,
  progressToResume,
} from '../copy-port.ts';
import { PageNumbers } from '../page-numbers.ts';
import {
  createRowWriter,
  dropShared,
  isReadInWindows,
  listShared,
  prepareFind,
  prepareRead,
} from './copy-tables.ts';
import { openAsSource, openForWriting, storeError } from './open-database.ts';
import { clearPages } from './runs.ts';
import { createBlockNumbers, createWaitingPages, rebuildWaiting } from './waiting-pages.ts';

export function openSqliteCopySide(
  path: string,
  role: CopyRole,
  mostRows = Number.POSITIVE_INFINITY,
): CopySide {
  if (role === 'from' && !existsSync(path)) throw sumiError('db-missing', { file: path });
  const db = role === 'from' ? openAsSource(path) : openForWriting(path);
  const told = <T>(work: () => T): T => {
    try {
      return work();
    } catch (error) {
      throw storeError(error, path);
    }
  };
  return {
    label: path,
    async identity() {
      const key = db.prepare("SELECT value FROM meta WHERE key = 'hash_key'").pluck().get();
      return createHash('sha256')
        .update((key as Buffer | undefined) ?? path)
        .digest('hex')
        .slice(0, 32);
    },
    projects: async () =>
      db.prepare('SELECT id, name FROM project WHERE purged_at IS NULL ORDER BY id').all() as {
        id: number;
        name: string;
      }[],
    // The lock that openForWriting took is the answer.
    async refuseBusy() {},
    read: async (projectId) => told(() => createReader(db, path, projectId, mostRows)),
    write: async (request) => told(() => createWriter(db, path, request, told)),
    async close() {
      // Whatever is worth keeping was committed; what is open may be half of a batch.
      if (db.inTransaction) db.exec('ROLLBACK');
      if (role === 'to') db.prepare("DELETE FROM meta WHERE key = 'holder'").run();
      db.close();
    },
  };
}

function createReader(db: Database, path: string, projectId: number, mostRows: number): CopyReader {
  listShared(db, projectId);
  const runs = runIds(db, projectId);
  const pages = new PageNumbers();
  const ids = db.prepare('SELECT id FROM url WHERE project_id = ? ORDER BY id').pluck();
  for (const id of ids.iterate(projectId) as Iterable<number>) pages.add(id);

  async function* batches(table: CopyTable, after: number): AsyncGenerator<CopyBatch> {
    const read = prepareRead(db, table);
    const toRow = createRowReader(table, { pages, runs }, path);
    const limit = Math.min(BATCH_ROWS[table], mostRows);
    if (isReadInWindows(table)) {
      for (let at = after; at < pages.size; at += limit) {
        const last = Math.min(at + limit, pages.size);
        const window = { project: projectId, low: pages.idOf(at + 1), high: pages.idOf(last) };
        yield { rows: (read.all(window) as unknown[][]).map(toRow), after: last };
      }
      return;
    }
    for (let at = after; ; ) {
      const found = read.all(inScope(table, projectId, at, limit)) as unknown[][];
      if (found.length === 0) return;
      at = found.at(-1)!.at(-1) as number;
      yield { rows: found.map(toRow), after: at };
    }
  }

  return {
    project: readProject(db, projectId, runs),
    pages: pages.size,
    mark: markOf(db, projectId, pages),
    batches,
    async end() {
      dropShared(db);
    },
  };
}

/** Hosts and robots.txt are listed already, and SQLite refuses a name that the statement does not have. */
function inScope(table: CopyTable, project: number, after: number, limit: number): Record<string, number> {
  return table === 'host' || table === 'robots_txt' ? { after, limit } : { project, after, limit };
}

function runIds(db: Database, projectId: number): number[] {
  return db.prepare('SELECT id FROM run WHERE project_id = ? ORDER BY id').pluck().all(projectId) as number[];
}

function unpreparedKey(projectId: number): string {
  return `unprepared:${projectId}`;
}

function readMeta<T>(db: Database, key: string): T | null {
  const json = db.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(key) as string | undefined;
  return json === undefined ? null : (JSON.parse(json) as T);
}

function writeMeta(db: Database, key: string, value: unknown): void {
  db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(key, JSON.stringify(value));
}

function dropMeta(db: Database, key: string): void {
  db.prepare('DELETE FROM meta WHERE key = ?').run(key);
}

function readProject(db: Database, projectId: number, runs: readonly number[]): CopiedProject {
  const { created_at, ...kept } = db
    .prepare(`SELECT created_at, ${COPIED_COLUMNS} FROM project WHERE id = ?`)
    .get(projectId) as { created_at: number } & Omit<CopiedProject, 'createdAt' | 'unprepared'>;
  const unprepared = readMeta<NonNullable<CopiedProject['unprepared']>>(db, unpreparedKey(projectId));
  const run = runs.indexOf(unprepared?.run ?? 0) + 1;
  return {
    ...kept,
    createdAt: Math.round(created_at),
    unprepared: unprepared === null || run === 0 ? null : { ...unprepared, run },
  };
}

function markOf(db: Database, projectId: number, pages: PageNumbers): string {
  const runs = db
    .prepare(
      `SELECT id, status, config_hash, pages, requests, bytes, finished_at FROM run WHERE project_id = ? ORDER BY id`,
    )
    .raw()
    .all(projectId);
  const last = pages.size === 0 ? 0 : pages.idOf(pages.size);
  // Kept without a crawl.
  const kept = db
    .prepare(
      'SELECT settings, learned_run FROM project WHERE id = ? AND (settings IS NOT NULL OR learned_run > 0)',
    )
    .raw()
    .all(projectId);
  const marked = db.prepare(`${MARKED} = ?`).raw().all(projectId);
  return createHash('sha256')
    .update(JSON.stringify([pages.size, last, runs, ...kept, ...marked]))
    .digest('hex')
    .slice(0, 32);
}

function createWriter(
  db: Database,
  path: string,
  request: CopyRequest,
  told: <T>(work: () => T) => T,
): CopyWriter | null {
  const { name, reader } = request;
  const copied = readMeta<CopyOrigin>(db, copiedKey(name));
  if (hasProject(db, name) && copied !== null && isSameOrigin(copied, originOf(request))) return null;
  refuseExisting(db, name, path);
  const key = copyKey(name);
  const found = readMeta<CopyProgress>(db, key);
  const resumed = progressToResume(found, request, path);
  if (found !== null && resumed === null) discard(db, found.projectId, key);
  let progress = resumed ?? begin(db, request);
  writeMeta(db, key, progress);
  commit(db);
  const { projectId } = progress;
  const pages = PageNumbers.of(progress.ids);
  let writing: { table: CopyTable; rows: ReturnType<typeof createRowWriter> } | null = null;

  return {
    projectId,
    resumed: resumed === null ? null : { table: resumed.table, after: resumed.after },
    async write(table, batch) {
      told(() => {
        if (writing?.table !== table) {
          const numbering = { pages, runs: runIds(db, projectId) };
          writing = { table, rows: createRowWriter(db, table, projectId, numbering) };
        }
        writing.rows(batch.rows);
        progress = { ...progress, table, after: batch.after };
        writeMeta(db, key, progress);
        commit(db);
      });
    },
    async find(table, keys) {
      const read = prepareFind(db, table);
      const toRow = createRowReader(table, { pages, runs: [] }, path);
      const rows = keys.map((one) => read.get(one) as unknown[] | undefined);
      return rows
        .filter((raw) => raw !== undefined)
        .map((raw) => ({ row: toRow(raw), isInUse: raw.at(-1) === 1 }));
    },
    async finish() {
      told(() => {
        refuseExisting(db, name, path);
        queueWaiting(db, projectId);
        const { unprepared, settings, websiteUrl, updatedAt, deletedAt } = reader.project;
        if (unprepared !== null) {
          const run = runIds(db, projectId)[unprepared.run - 1];
          writeMeta(db, unpreparedKey(projectId), { ...unprepared, run });
        }
        db.prepare(
          'UPDATE project SET name = ?, settings = ?, website_url = ?, updated_at = ?, deleted_at = ? WHERE id = ?',
        ).run(name, settings, websiteUrl, updatedAt, deletedAt, projectId);
        dropMeta(db, key);
        writeMeta(db, copiedKey(name), originOf(request));
        commit(db);
      });
    },
  };
}

function commit(db: Database): void {
  db.exec('COMMIT');
  db.exec('BEGIN IMMEDIATE');
}

function hasProject(db: Database, name: string): boolean {
  return db.prepare('SELECT 1 FROM project WHERE name = ?').get(name) !== undefined;
}

function refuseExisting(db: Database, name: string, path: string): void {
  if (hasProject(db, name)) throw sumiError('copy-exists', { project: name, store: path });
}

/** Ids follow those that are there. The last one gets a row at once, so that a crawl in between gives none of them away. */
function begin(db: Database, request: CopyRequest): CopyProgress {
  const { name, reader } = request;
  const { uid, createdAt } = reader.project;
  const isTaken = db.prepare('SELECT 1 FROM project WHERE uid = ?').get(uid) !== undefined;
  const projectId = Number(
    db
      .prepare('INSERT INTO project (name, created_at, uid) VALUES (?, ?, ?)')
      .run(nameWhileCopied(name), createdAt, uid !== null && !isTaken ? uid : randomUUID()).lastInsertRowid,
  );
  const highest = (db.prepare('SELECT max(id) FROM url').pluck().get() as number | null) ?? 0;
  if (reader.pages > 0) {
    db.prepare(
      `INSERT INTO url (id, project_id, host_id, state, priority, depth, attempts, discovered_run, discovered_at, url)
       VALUES (?, ?, 0, ${PAGE_STATES.Discovered}, 0, 0, 0, 0, 0, '')`,
    ).run(highest + reader.pages, projectId);
  }
  return {
    ...originOf(request),
    projectId,
    ids: reader.pages === 0 ? [] : [[highest + 1, reader.pages]],
    table: 'run',
    after: 0,
  };
}

/** Removes what an interrupted copy wrote, but for hosts and robots.txt, which are everybody's. */
function discard(db: Database, projectId: number, key: string): void {
  clearPages(db, projectId);
  db.prepare('DELETE FROM request WHERE run_id IN (SELECT id FROM run WHERE project_id = ?)').run(projectId);
  for (const table of ['url', 'host_queue', 'wait_block', 'origin', 'discovery', 'reader_look', 'run'])
    db.prepare(`DELETE FROM ${table} WHERE project_id = ?`).run(projectId);
  db.prepare('DELETE FROM project WHERE id = ?').run(projectId);
  dropMeta(db, key);
}

/** Counts and blocks are made from the pages that wait, and those at the end of a redirect go first again. */
function queueWaiting(db: Database, projectId: number): void {
  db.prepare(
    `INSERT INTO host_queue (project_id, host_id, waiting) SELECT project_id, host_id, count(*) FROM url
     WHERE project_id = ? AND state = ${PAGE_STATES.Queued} GROUP BY host_id
     ON CONFLICT DO UPDATE SET waiting = excluded.waiting`,
  ).run(projectId);
  const waiting = createWaitingPages({ db, projectId, nextBlock: createBlockNumbers(db) });
  rebuildWaiting({ db, projectId }, waiting);
  const hurried = db
    .prepare(
      `SELECT id, host_id FROM url WHERE project_id = ? AND state = ${PAGE_STATES.Queued} AND retry_at IS NULL AND hops > 0
       ORDER BY id`,
    )
    .raw()
    .all(projectId) as [number, number][];
  for (const [id, hostId] of hurried) waiting.add(hostId, REDIRECT_PRIORITY, id);
  waiting.flush();
}
