/** The life of projects and runs: begin, go on after a crash, take part, be opened to be judged anew. */
import type { Database } from 'better-sqlite3';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { REQUEST_KINDS } from '../host-port.ts';
import { PAGE_TABLES } from '../page-tables.ts';
import type { RunRequest, RunStart } from '../run-port.ts';
import type { JoinedRun } from '../store-port.ts';
import { isUnfinished } from '../unfinished-run.ts';
import type { KnownUrls } from './known-urls.ts';
import type { Session } from './session.ts';
import type { WaitingPages } from './waiting-pages.ts';

const GAP = REQUEST_KINDS.indexOf('gap');
const CLEARED = REQUEST_KINDS.indexOf('cleared');

interface RunRow {
  id: number;
  status: string;
  config_hash: string;
  metadata: string | null;
  pages: number;
  requests: number;
  bytes: number;
}

export function beginRun(session: Session, waiting: WaitingPages, request: RunRequest): RunStart {
  const { db } = session;
  db.prepare('INSERT OR IGNORE INTO project (name, created_at) VALUES (?, ?)').run(
    request.project,
    request.now,
  );
  const projectId = db
    .prepare('SELECT id FROM project WHERE name = ?')
    .pluck()
    .get(request.project) as number;
  session.projectId = projectId;
  if (request.fresh) clearProject(db, projectId, request.now);
  const last = db
    .prepare(
      'SELECT id, status, config_hash, metadata, pages, requests, bytes FROM run WHERE project_id = ? ORDER BY id DESC LIMIT 1',
    )
    .get(projectId) as RunRow | undefined;
  const goesOn = last !== undefined && isUnfinished(last);
  if (!goesOn) closeRuns(db, projectId, request.now);
  const unprepared = goesOn ? readUnprepared(session, last.id) : null;
  session.runId = goesOn ? last.id : newRun(session, request);
  const runs = db.prepare('SELECT count(*) FROM run WHERE project_id = ?').pluck().get(projectId);
  session.isFirstRun = runs === 1;
  session.isPrepared = false;
  const resumed = goesOn && unprepared?.isNew !== true;
  const previousHash = unprepared === null ? (last?.config_hash ?? null) : unprepared.previousHash;
  const isChanged = previousHash !== request.configHash;
  if (!resumed || isChanged) setUnprepared(session, !resumed, previousHash);
  if (resumed && isChanged) reopenLimitedHosts(session);
  if (goesOn) {
    db.prepare(
      `UPDATE run SET status = 'running', finished_at = NULL, config_hash = ?, config = ?,
         metadata = COALESCE(?, metadata) WHERE id = ?`,
    ).run(request.configHash, request.config, request.metadata, last.id);
  }
  recoverLeases(session, waiting, request.now);
  session.window.commit();
  return {
    runId: session.runId,
    projectId,
    resumed,
    previousConfigHash: previousHash,
    pagesDone: resumed ? last.pages : 0,
    requestsDone: resumed ? last.requests : 0,
    bytesDone: resumed ? last.bytes : 0,
    knownUrls: session.known.size,
  };
}

/** The project's last run, opened for its pages to be judged anew without a crawl. False when there is none. */
export function openRun(session: Session, waiting: WaitingPages, request: RunRequest): boolean {
  const { db } = session;
  const last = db
    .prepare(
      `SELECT r.id, r.project_id FROM run r JOIN project p ON p.id = r.project_id WHERE p.name = ?
       ORDER BY r.id DESC LIMIT 1`,
    )
    .get(request.project) as { id: number; project_id: number } | undefined;
  if (last === undefined) return false;
  session.projectId = last.project_id;
  session.runId = last.id;
  session.isFirstRun = false;
  session.isPrepared = false;
  db.prepare('UPDATE run SET config_hash = ?, config = ? WHERE id = ?').run(
    request.configHash,
    request.config,
    last.id,
  );
  reopenLimitedHosts(session);
  recoverLeases(session, waiting, request.now);
  return true;
}

/** A run whose pages wait again goes on with the next `begin`. */
export function leaveOpen({ db, runId }: Session): void {
  db.prepare("UPDATE run SET status = 'interrupted', error = NULL WHERE id = ?").run(runId);
}

export type JoinedFileRun = Pick<JoinedRun, 'start' | 'project' | 'config' | 'metadata'>;

/** The file has one writer, so to take part in a run under way is to go on with it as it is. */
export function joinRun(
  session: Session,
  waiting: WaitingPages,
  runId: number,
  now: number,
): JoinedFileRun | null {
  const row = session.db
    .prepare(
      `SELECT r.project_id, p.name AS project, r.config, r.metadata, r.config_hash, r.pages, r.requests, r.bytes
       FROM run r JOIN project p ON p.id = r.project_id WHERE r.id = ? AND r.status = 'running'`,
    )
    .get(runId) as (RunRow & { project_id: number; project: string; config: string }) | undefined;
  if (row === undefined) return null;
  session.projectId = row.project_id;
  session.runId = runId;
  // Whoever began it has not judged the known pages yet, and only he may.
  if (readUnprepared(session, runId) !== null) return null;
  const runs = session.db.prepare('SELECT count(*) FROM run WHERE project_id = ?').pluck();
  session.isFirstRun = runs.get(row.project_id) === 1;
  session.isPrepared = false;
  recoverLeases(session, waiting, now);
  session.window.commit();
  return {
    project: row.project,
    config: row.config,
    metadata: row.metadata,
    start: {
      runId,
      projectId: row.project_id,
      resumed: true,
      previousConfigHash: row.config_hash,
      pagesDone: row.pages,
      requestsDone: row.requests,
      bytesDone: row.bytes,
      knownUrls: session.known.size,
    },
  };
}

/** The limit may be another one now; where it is not, the next request finds that out. */
function reopenLimitedHosts({ db, projectId }: Session): void {
  db.prepare(
    `UPDATE host_queue SET closed_state = NULL, closed_reason = NULL WHERE project_id = ? AND closed_state = ${PAGE_STATES.RequestLimitHit}`,
  ).run(projectId);
}

/** What a crash between `begin` and the end of `reconsider` would lose: known pages are still to be judged. */
interface Unprepared {
  run: number;
  isNew: boolean;
  previousHash: string | null;
}

function readUnprepared({ db, projectId }: Session, runId: number): Unprepared | null {
  const json = db.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(`unprepared:${projectId}`);
  const found = json === undefined ? null : (JSON.parse(json as string) as Unprepared);
  return found?.run === runId ? found : null;
}

function setUnprepared({ db, projectId, runId }: Session, isNew: boolean, previousHash: string | null): void {
  const isEmpty = db.prepare('SELECT 1 FROM url WHERE project_id = ? LIMIT 1').get(projectId) === undefined;
  if (isEmpty) return;
  const value: Unprepared = { run: runId, isNew, previousHash };
  db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(
    `unprepared:${projectId}`,
    JSON.stringify(value),
  );
}

export function setPrepared(session: Session): void {
  if (session.isPrepared) return;
  session.db.prepare('DELETE FROM meta WHERE key = ?').run(`unprepared:${session.projectId}`);
  session.isPrepared = true;
}

function newRun(session: Session, request: RunRequest): number {
  const { db, projectId } = session;
  db.prepare(
    'UPDATE host_queue SET requests = 0, closed_state = NULL, closed_reason = NULL WHERE project_id = ?',
  ).run(projectId);
  // Whoever was given up in the last run is asked again in this one.
  db.prepare('UPDATE host SET probes = 0 WHERE probes > 0').run();
  return Number(
    db
      .prepare(
        "INSERT INTO run (project_id, started_at, status, config_hash, config, metadata) VALUES (?, ?, 'running', ?, ?, ?)",
      )
      .run(projectId, request.now, request.configHash, request.config, request.metadata).lastInsertRowid,
  );
}

/**
 * A last request that lies ahead of us says that the clock was set back: what hosts and pages wait for is counted from
 * now, or a crawl would rest for as long as the clock was wrong. Nobody waits less than was left after that request.
 */
function followClock(db: Database, now: number): void {
  const last = db
    .prepare(`SELECT sent_at FROM request WHERE kind <> ${CLEARED} ORDER BY id DESC LIMIT 1`)
    .pluck()
    .get();
  if (last === undefined || (last as number) <= now) return;
  for (const [table, column] of [
    ['host', 'not_before'],
    ['host', 'blocked_until'],
    ['host', 'distrusted_until'],
    ['url', 'retry_at'],
  ])
    db.prepare(
      `UPDATE ${table} SET ${column} = CAST(@now + max(0, ${column} - @last) AS INTEGER) WHERE ${column} > @now`,
    ).run({ now, last });
}

/** We are the file's only writer, so every lease found is a dead crawler's: its hosts rest one full delay. */
function recoverLeases(session: Session, waiting: WaitingPages, now: number): void {
  const { db } = session;
  followClock(db, now);
  db.prepare(
    `INSERT INTO request (run_id, host_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes)
     SELECT ?, id, ?, ?, ?, ?, 0, 0, 0, 0 FROM host WHERE lease_owner IS NOT NULL`,
  ).run(session.runId, GAP, now, now, now);
  db.prepare(
    'UPDATE host SET taken_over = 1, lease_owner = NULL, lease_until = NULL WHERE lease_owner IS NOT NULL',
  ).run();
  db.prepare(
    `INSERT INTO host_queue (project_id, host_id, waiting) SELECT project_id, host_id, count(*) FROM url
     WHERE project_id = ? AND state = 2
     GROUP BY host_id ON CONFLICT DO UPDATE SET waiting = waiting + excluded.waiting`,
  ).run(session.projectId);
  // Other projects' pages in flight stay as they are until their own run goes on: only then are they queued again.
  const lost = db
    .prepare('UPDATE url SET state = 1 WHERE project_id = ? AND state = 2 RETURNING id, host_id, priority')
    .all(session.projectId) as {
    id: number;
    host_id: number;
    priority: number;
  }[];
  for (const row of lost) waiting.add(row.host_id, row.priority, row.id);
}

/** We are the file's only writer: a run with which nobody goes on is over. */
function closeRuns(db: Database, projectId: number, now: number): void {
  db.prepare(
    "UPDATE run SET status = 'interrupted', finished_at = COALESCE(finished_at, ?) WHERE project_id = ? AND status = 'running'",
  ).run(now, projectId);
}

function clearProject(db: Database, projectId: number, now: number): void {
  closeRuns(db, projectId, now);
  clearPages(db, projectId);
  db.prepare(
    'UPDATE request SET page_id = NULL WHERE page_id IN (SELECT id FROM url WHERE project_id = ?)',
  ).run(projectId);
  for (const table of ['url', 'host_queue', 'wait_block', 'origin', 'discovery']) {
    db.prepare(`DELETE FROM ${table} WHERE project_id = ?`).run(projectId);
  }
  db.prepare('UPDATE project SET revisit_plan = NULL, learned_run = 0 WHERE id = ?').run(projectId);
  db.prepare(
    "UPDATE run SET status = 'failed', error = 'closed by --fresh' WHERE project_id = ? AND status = 'interrupted'",
  ).run(projectId);
}

/** Drops what is kept of a project's pages and their history, but for the pages themselves. */
export function clearPages(db: Database, projectId: number): void {
  const own = '(SELECT id FROM url WHERE project_id = ?)';
  for (const table of PAGE_TABLES) db.prepare(`DELETE FROM ${table} WHERE page_id IN ${own}`).run(projectId);
  db.prepare(`DELETE FROM redirect_wait WHERE target_id IN ${own}`).run(projectId);
  db.prepare('DELETE FROM index_state WHERE project_id = ?').run(projectId);
  for (const table of ['visit', 'page_change']) {
    db.prepare(`DELETE FROM ${table} WHERE run_id IN (SELECT id FROM run WHERE project_id = ?)`).run(
      projectId,
    );
  }
}

/** Fills the seen-table from the project's rows: a thousand joined to one text, because a row each costs three times as much. */
export function loadKnownUrls(db: Database, projectId: number, known: KnownUrls): void {
  const read = db
    .prepare(
      `SELECT max(id), group_concat(id || ' ' || depth || ' ' || url, char(10))
       FROM (SELECT id, depth, url FROM url WHERE project_id = ? AND id > ? ORDER BY id LIMIT 1000)`,
    )
    .raw();
  for (let after = 0; ; ) {
    const [last, text] = read.get(projectId, after) as [number | null, string];
    if (last === null) return;
    for (const line of text.split('\n')) {
      const first = line.indexOf(' ');
      const second = line.indexOf(' ', first + 1);
      known.find(line.slice(second + 1));
      known.addLast(Number(line.slice(0, first)), Number(line.slice(first + 1, second)));
    }
    after = last;
  }
}
