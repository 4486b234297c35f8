/** The life of projects and runs: begin, go on after a crash, take part, be opened to be judged anew. */
import type { Database } from 'better-sqlite3';
import { sumiError } from '../../errors.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { PAGE_TABLES } from '../page-tables.ts';
import type { RunRequest, RunStart } from '../run-port.ts';
import type { JoinedRun } from '../store-port.ts';
import { isUnfinished } from '../unfinished-run.ts';
import { dropPageWords } from './full-text.ts';
import type { KnownUrls } from './known-urls.ts';
import { openProjectRow } from './project-rows.ts';
import type { OpenFile, Session } from './session.ts';
import type { WaitingPages } from './waiting-pages.ts';

interface RunRow {
  id: number;
  status: string;
  config_hash: string;
  metadata: string | null;
  pages: number;
  requests: number;
  bytes: number;
}

/** A run and its project, as rows name them. */
interface RunKey {
  readonly projectId: number;
  readonly runId: number;
}

/** A run to be worked on by a session that is still to be made. */
export interface OpenedRun {
  readonly start: RunStart;
  readonly isFirstRun: boolean;
}

/** Nobody changes under a session what it works on. */
export function refuseLive({ live }: Pick<OpenFile, 'live'>, projectId: number, project: string): void {
  for (const session of live)
    if (session.projectId === projectId) throw sumiError('run-under-way', { project, run: session.runId });
}

function refuseToGoOn(db: Database, runId: number): never {
  const status = db.prepare('SELECT status FROM run WHERE id = ?').pluck().get(runId) as string;
  throw sumiError('run-not-steerable', { run: runId, status, order: 'resume', allowed: 'paused' });
}

function isFirstOf(db: Database, projectId: number): boolean {
  return db.prepare('SELECT count(*) FROM run WHERE project_id = ?').pluck().get(projectId) === 1;
}

export function beginRun(file: OpenFile, request: RunRequest): OpenedRun {
  const { db, window, rows } = file;
  window.commit();
  const projectId = openProjectRow(db, request.project, request.now, request.goesOn);
  refuseLive(file, projectId, request.project);
  if (request.fresh) {
    clearProject(db, projectId, request.now);
    rows.followRows();
  }
  const last = db
    .prepare(
      'SELECT id, status, config_hash, metadata, pages, requests, bytes FROM run WHERE project_id = ? ORDER BY id DESC LIMIT 1',
    )
    .get(projectId) as RunRow | undefined;
  const goesOn = last !== undefined && isUnfinished(last);
  if (request.goesOn !== undefined && !(goesOn && last.id === request.goesOn))
    refuseToGoOn(db, request.goesOn);
  if (!goesOn) closeRuns(db, projectId, request.now);
  const unprepared = goesOn ? readUnprepared(db, { projectId, runId: last.id }) : null;
  const runId = goesOn ? last.id : newRun(db, projectId, request);
  const resumed = goesOn && unprepared?.isNew !== true;
  const previousHash = unprepared === null ? (last?.config_hash ?? null) : unprepared.previousHash;
  const isChanged = previousHash !== request.configHash;
  if (!resumed || isChanged) setUnprepared(db, { projectId, runId }, !resumed, previousHash);
  if (resumed && isChanged) reopenLimitedHosts(db, projectId);
  if (goesOn) {
    db.prepare(
      `UPDATE run SET status = 'running', finished_at = NULL, config_hash = ?, config = ?,
         metadata = COALESCE(?, metadata) WHERE id = ?`,
    ).run(request.configHash, request.config, request.metadata, last.id);
  }
  window.commit();
  return {
    isFirstRun: isFirstOf(db, projectId),
    start: {
      ...{ runId, projectId, resumed, previousConfigHash: previousHash, knownUrls: 0 },
      pagesDone: resumed ? last.pages : 0,
      requestsDone: resumed ? last.requests : 0,
      bytesDone: resumed ? last.bytes : 0,
    },
  };
}

/** The project's last run, opened for its pages to be judged anew without a crawl. Null when there is none. */
export function openRun(file: OpenFile, request: RunRequest): RunKey | null {
  const { db, window } = file;
  window.commit();
  const last = db
    .prepare(
      `SELECT r.id AS runId, r.project_id AS projectId FROM run r JOIN project p ON p.id = r.project_id WHERE p.name = ?
       ORDER BY r.id DESC LIMIT 1`,
    )
    .get(request.project) as RunKey | undefined;
  if (last === undefined) return null;
  refuseLive(file, last.projectId, request.project);
  db.prepare('UPDATE run SET config_hash = ?, config = ? WHERE id = ?').run(
    request.configHash,
    request.config,
    last.runId,
  );
  reopenLimitedHosts(db, last.projectId);
  // The queue is built anew from the pages, which tell also how many wait.
  db.prepare('UPDATE url SET state = 1 WHERE project_id = ? AND state = 2').run(last.projectId);
  return last;
}

/** A run whose pages wait again goes on with the next `begin`. */
export function leaveOpen(db: Database, runId: number): void {
  db.prepare("UPDATE run SET status = 'interrupted', error = NULL WHERE id = ?").run(runId);
}

export type JoinedFileRun = OpenedRun & Pick<JoinedRun, 'project' | 'config' | 'metadata'>;

/** The file has one writer, so to take part in a run under way is to go on with one that was left as it is. */
export function joinRun(file: OpenFile, runId: number): JoinedFileRun | null {
  const { db, window } = file;
  window.commit();
  const row = db
    .prepare(
      `SELECT r.id, r.project_id, p.name AS project, r.config, r.metadata, r.config_hash, r.pages, r.requests, r.bytes
       FROM run r JOIN project p ON p.id = r.project_id
       WHERE r.id = ? AND r.status = 'running' AND p.deleted_at IS NULL`,
    )
    .get(runId) as (RunRow & { project_id: number; project: string; config: string }) | undefined;
  if (row === undefined) return null;
  const { project_id: projectId, project, config, metadata } = row;
  refuseLive(file, projectId, project);
  // Whoever began it has not judged the known pages yet, and only he may.
  if (readUnprepared(db, { projectId, runId }) !== null) return null;
  return {
    ...{ project, config, metadata },
    isFirstRun: isFirstOf(db, projectId),
    start: {
      ...{ runId, projectId, resumed: true, previousConfigHash: row.config_hash, knownUrls: 0 },
      ...{ pagesDone: row.pages, requestsDone: row.requests, bytesDone: row.bytes },
    },
  };
}

/** The limit may be another one now; where it is not, the next request finds that out. */
function reopenLimitedHosts(db: Database, projectId: number): void {
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

function readUnprepared(db: Database, { projectId, runId }: RunKey): Unprepared | null {
  const json = db.prepare('SELECT value FROM meta WHERE key = ?').pluck().get(`unprepared:${projectId}`);
  const found = json === undefined ? null : (JSON.parse(json as string) as Unprepared);
  return found?.run === runId ? found : null;
}

function setUnprepared(
  db: Database,
  { projectId, runId }: RunKey,
  isNew: boolean,
  previousHash: string | null,
): void {
  const isEmpty = db.prepare('SELECT 1 FROM url WHERE project_id = ? LIMIT 1').get(projectId) === undefined;
  if (isEmpty) return;
  const value: Unprepared = { run: runId, isNew, previousHash };
  db.prepare('INSERT OR REPLACE INTO meta VALUES (?, ?)').run(
    `unprepared:${projectId}`,
    JSON.stringify(value),
  );
}

export function setPrepared(session: Pick<Session, 'db' | 'projectId' | 'isPrepared'>): void {
  if (session.isPrepared) return;
  session.db.prepare('DELETE FROM meta WHERE key = ?').run(`unprepared:${session.projectId}`);
  session.isPrepared = true;
}

function newRun(db: Database, projectId: number, request: RunRequest): number {
  db.prepare(
    'UPDATE host_queue SET requests = 0, closed_state = NULL, closed_reason = NULL WHERE project_id = ?',
  ).run(projectId);
  // Whoever was given up in the last run is asked again in this one. A host that is leased is its holder's to write.
  db.prepare('UPDATE host SET probes = 0 WHERE probes > 0 AND lease_owner IS NULL').run();
  return Number(
    db
      .prepare(
        "INSERT INTO run (project_id, started_at, status, config_hash, config, metadata) VALUES (?, ?, 'running', ?, ?, ?)",
      )
      .run(projectId, request.now, request.configHash, request.config, request.metadata).lastInsertRowid,
  );
}

/** Pages that were in flight when the project's run was left: they wait again. */
export function requeueInFlight({ db, projectId }: Session, waiting: WaitingPages): void {
  db.prepare(
    `INSERT INTO host_queue (project_id, host_id, waiting) SELECT project_id, host_id, count(*) FROM url
     WHERE project_id = ? AND state = 2
     GROUP BY host_id ON CONFLICT DO UPDATE SET waiting = waiting + excluded.waiting`,
  ).run(projectId);
  const lost = db
    .prepare('UPDATE url SET state = 1 WHERE project_id = ? AND state = 2 RETURNING id, host_id, priority')
    .all(projectId) as {
    id: number;
    host_id: number;
    priority: number;
  }[];
  for (const row of lost) waiting.add(row.host_id, row.priority, row.id);
}

/** Nobody else writes to the file: a run that no session works on, and with which nobody goes on, is over. */
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
  dropPageWords(db, projectId);
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
