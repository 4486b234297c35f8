/** The life of projects and runs: begin, go on, take part, be opened to be judged anew, finish. */
import type { Sql, TransactionSql } from 'postgres';
import { sumiError } from '../../errors.ts';
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import { PAGE_TABLES } from '../page-tables.ts';
import type { ModeDecision, RunEnd, RunRequest, RunStart } from '../run-port.ts';
import type { JoinedRun } from '../store-port.ts';
import { isForOne, isUnfinished } from '../unfinished-run.ts';
import { dropPageWords } from './full-text.ts';
import { KEEP_GONE } from './orphans.ts';
import { type Attempting, ask, type OpenDatabase, type Session, together, transaction } from './session.ts';
import { endVanished, LATE_MS, registerWorker } from './workers.ts';

/** Beyond this nobody wants to know exactly, and counting takes its time. */
const MAX_COUNTED = 1_000_000;

interface RunRow {
  id: number;
  project_id: number;
  status: string;
  config_hash: string;
  config: string;
  metadata: string | null;
  pages: number;
  requests: number;
  bytes: number;
}

const RUN = 'SELECT id, project_id, status, config_hash, config, metadata, pages, requests, bytes FROM run';

export async function beginRun(database: Attempting, request: RunRequest): Promise<RunStart> {
  const { owner } = request;
  const now = Math.round(request.now);
  return transaction(database, async (tx) => {
    // Of several that begin the same project at once, one makes the run and the others find it.
    const [, , projectId] = await together([
      lockProject(tx, request.project),
      endVanished(tx, now),
      projectOf(tx, request, now),
    ]);
    if (request.fresh) await clearProject(tx, projectId, request.project, now);
    const [[last], knownUrls] = await together([
      ask<RunRow>(tx, `${RUN} WHERE project_id = $1 ORDER BY id DESC LIMIT 1`, [projectId]),
      countUrls(tx, projectId),
    ]);
    const goesOn = last !== undefined && isUnfinished(last);
    if (request.goesOn !== undefined && !(goesOn && last.id === request.goesOn))
      await refuseToGoOn(tx, request.goesOn);
    // Workers of a run that was stopped skip what waits in the project when they leave.
    if (last?.status === 'stopped') await refuseBusy(tx, projectId, request.project, now);
    const unprepared = goesOn ? await readUnprepared(tx, projectId, last.id) : null;
    if (!goesOn) await ask(tx, CLOSE_LEFT, [projectId, now, now - LATE_MS]);
    const runId = goesOn ? last.id : await newRun(tx, projectId, request);
    const resumed = goesOn && unprepared?.isNew !== true;
    const previousHash = unprepared === null ? (last?.config_hash ?? null) : unprepared.previousHash;
    const isChanged = previousHash !== request.configHash;
    if (knownUrls > 0 && (!resumed || isChanged)) {
      const value: Unprepared = { run: runId, isNew: !resumed, previousHash };
      await ask(tx, PUT_META, [unpreparedKey(projectId), JSON.stringify(value)]);
    }
    if (resumed && isChanged) await ask(tx, REOPEN_LIMITED, [projectId]);
    if (goesOn) await ask(tx, GO_ON, [runId, request.configHash, request.config, request.metadata]);
    await together([
      registerWorker(tx, owner, runId, now),
      ask(tx, PUT_META, [openKey(runId, owner), owner]),
      ask(tx, 'SELECT pg_notify($1, $2)', [RUN_CHANNEL, String(runId)]),
    ]);
    const done = resumed ? last : { pages: 0, requests: 0, bytes: 0 };
    return {
      runId,
      projectId,
      resumed,
      previousConfigHash: previousHash,
      pagesDone: done.pages,
      requestsDone: done.requests,
      bytesDone: done.bytes,
      knownUrls,
    };
  });
}

async function refuseToGoOn(tx: TransactionSql, runId: number): Promise<never> {
  const [{ status }] = await ask<{ status: string }>(tx, 'SELECT status FROM run WHERE id = $1', [runId]);
  throw sumiError('run-not-steerable', { run: runId, status, order: 'resume', allowed: 'paused' });
}

async function lockProject(tx: TransactionSql, project: string): Promise<void> {
  await ask(tx, 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`sumi project ${project}`]);
}

/** The channel on which waiting workers hear that a run began. */
export const RUN_CHANNEL = 'sumi_runs';

export async function joinRun(
  database: OpenDatabase,
  runId: number,
  owner: string,
): Promise<Pick<JoinedRun, 'start' | 'project' | 'config' | 'metadata'> | null> {
  const now = Math.round(database.clock.now());
  return transaction(database, async (tx) => {
    await endVanished(tx, now);
    const [run] = await ask<RunRow & { project: string }>(
      tx,
      `SELECT r.*, p.name AS project FROM run r JOIN project p ON p.id = r.project_id
       WHERE r.id = $1 AND r.status = 'running' AND p.deleted_at IS NULL FOR SHARE OF p`,
      [runId],
    );
    if (run === undefined || isForOne(run)) return null;
    // Its first worker is still putting known pages before the scope.
    if ((await readUnprepared(tx, run.project_id, runId)) !== null) return null;
    await registerWorker(tx, owner, runId, now);
    const knownUrls = await countUrls(tx, run.project_id);
    const start: RunStart = {
      runId,
      projectId: run.project_id,
      resumed: true,
      previousConfigHash: run.config_hash,
      pagesDone: run.pages,
      requestsDone: run.requests,
      bytesDone: run.bytes,
      knownUrls,
    };
    return { start, project: run.project, config: run.config, metadata: run.metadata };
  });
}

// Nobody is at work on the project: what is in flight was left behind.
const PUT_BACK = `
UPDATE url SET state = ${PAGE_STATES.Queued} WHERE project_id = $1 AND state = ${PAGE_STATES.Fetching}`;

/** The project's last run, opened for its pages to be judged anew without a crawl. Null when there is none. */
export async function openRun(
  tx: TransactionSql,
  request: RunRequest,
): Promise<{ runId: number; projectId: number } | null> {
  const now = Math.round(request.now);
  await lockProject(tx, request.project);
  await endVanished(tx, now);
  const [last] = await ask<{ runId: number; projectId: number }>(
    tx,
    `SELECT r.id AS "runId", r.project_id AS "projectId" FROM run r JOIN project p ON p.id = r.project_id
     WHERE p.name = $1 ORDER BY r.id DESC LIMIT 1`,
    [request.project],
  );
  if (last === undefined) return null;
  await refuseBusy(tx, last.projectId, request.project, now);
  await ask(tx, 'UPDATE run SET config_hash = $2, config = $3 WHERE id = $1', [
    last.runId,
    request.configHash,
    request.config,
  ]);
  await ask(tx, REOPEN_LIMITED, [last.projectId]);
  await ask(tx, PUT_BACK, [last.projectId]);
  return last;
}

/** A run whose pages wait again goes on with the next `begin`. */
export async function leaveOpen(tx: TransactionSql, runId: number): Promise<void> {
  await ask(tx, "UPDATE run SET status = 'interrupted', error = NULL WHERE id = $1", [runId]);
}

/** What a session must know of its project before it works on it. */
export async function enter(session: Session, { projectId, knownUrls }: RunStart): Promise<void> {
  session.mayLower = knownUrls > 0;
  const [[{ runs }], waiting] = await Promise.all([
    session.attempt((sql) =>
      ask<{ runs: number }>(sql, 'SELECT count(*)::int AS runs FROM run WHERE project_id = $1', [projectId]),
    ),
    countQueued(session),
  ]);
  session.isFirstRun = runs === 1;
  session.waiting = waiting;
}

export async function countQueued(session: Session): Promise<number> {
  const [{ n }] = await session.attempt((sql) =>
    ask<{ n: number }>(
      sql,
      'SELECT COALESCE(sum(waiting), 0)::int AS n FROM host_queue WHERE project_id = $1 AND waiting > 0',
      [session.projectId],
    ),
  );
  let inFlight = 0;
  for (const holding of session.held.values()) inFlight += holding.inFlight.size;
  return Math.max(0, n - inFlight);
}

async function countUrls(tx: TransactionSql, projectId: number): Promise<number> {
  const [{ n }] = await ask<{ n: number }>(
    tx,
    `SELECT count(*)::int AS n FROM (SELECT 1 FROM url WHERE project_id = $1 LIMIT ${MAX_COUNTED}) u`,
    [projectId],
  );
  return n;
}

interface FoundProject {
  id: number;
  name: string;
  uid: string;
  deleted_at: number | null;
}

const MAKE_PROJECT = `
INSERT INTO project (name, created_at, updated_at) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING`;
/** Whoever renames or deletes it waits until the run is there. */
const OF_NAME = 'SELECT id, name, uid, deleted_at FROM project WHERE name = $1 FOR SHARE';
const OF_RUN = `SELECT id, name, uid, deleted_at FROM project
WHERE id = (SELECT project_id FROM run WHERE id = $1) FOR SHARE`;

/** Made where there is none; of a run that goes on, whatever it is called by now. A deleted one is refused. */
async function projectOf(tx: TransactionSql, request: RunRequest, now: number): Promise<number> {
  const { project: name, goesOn } = request;
  let found = goesOn === undefined ? [] : await ask<FoundProject>(tx, OF_RUN, [goesOn]);
  if (found.length === 0) {
    const asked = [ask(tx, MAKE_PROJECT, [name, now]), ask<FoundProject>(tx, OF_NAME, [name])] as const;
    [, found] = await together(asked);
  }
  const [{ id, uid, deleted_at }] = found;
  if (deleted_at !== null) throw sumiError('project-deleted', { project: found[0].name, id: uid });
  return id;
}

// Runs with which nobody goes on, of workers that are no more.
const CLOSE_LEFT = `
UPDATE run SET status = 'interrupted', finished_at = COALESCE(finished_at, $2) WHERE project_id = $1 AND status = 'running'
  AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.run_id = run.id AND w.ended_at IS NULL AND w.seen_at > $3)`;
const GO_ON = `
UPDATE run SET status = 'running', finished_at = NULL, config_hash = $2, config = $3,
  metadata = COALESCE($4, metadata) WHERE id = $1`;
// The limit may be another one now; where it is not, the next request finds that out.
const REOPEN_LIMITED = `
UPDATE host_queue SET closed_state = NULL, closed_reason = NULL
WHERE project_id = $1 AND closed_state = ${PAGE_STATES.RequestLimitHit}`;

const REOPEN_HOSTS = `
UPDATE host_queue SET requests = 0, closed_state = NULL, closed_reason = NULL WHERE project_id = $1`;
// Whoever was given up in the last run is asked again in this one. A host that is leased is its holder's to write.
const FORGET_PROBES = `
UPDATE host SET probes = 0 WHERE probes > 0 AND lease_owner IS NULL
  AND id IN (SELECT host_id FROM host_queue WHERE project_id = $1)`;
const MAKE_RUN = `
INSERT INTO run (project_id, started_at, status, config_hash, config, metadata)
VALUES ($1, $2, 'running', $3, $4, $5) RETURNING id`;

async function newRun(tx: TransactionSql, projectId: number, request: RunRequest): Promise<number> {
  const { now, configHash, config, metadata } = request;
  const [, , [{ id }]] = await together([
    ask(tx, REOPEN_HOSTS, [projectId]),
    ask(tx, FORGET_PROBES, [projectId]),
    ask<{ id: number }>(tx, MAKE_RUN, [projectId, Math.round(now), configHash, config, metadata]),
  ]);
  return id;
}

/** What a crash between `begin` and the end of `reconsider` would lose: known pages are still to be judged. */
interface Unprepared {
  run: number;
  isNew: boolean;
  previousHash: string | null;
}

export const unpreparedKey = (projectId: number) => `unprepared:${projectId}`;
const PUT_META = `INSERT INTO meta VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET value = excluded.value`;

async function readUnprepared(
  tx: TransactionSql,
  projectId: number,
  runId: number,
): Promise<Unprepared | null> {
  const rows = await ask<{ value: string }>(tx, 'SELECT value FROM meta WHERE key = $1', [
    unpreparedKey(projectId),
  ]);
  const found = rows.length === 0 ? null : (JSON.parse(rows[0].value) as Unprepared);
  return found?.run === runId ? found : null;
}

export async function setPrepared(session: Session): Promise<void> {
  await session.attempt((sql) =>
    ask(sql, 'DELETE FROM meta WHERE key = $1', [unpreparedKey(session.projectId)]),
  );
}

/** Nobody changes pages under the hands of those who crawl them. */
export async function refuseBusy(
  tx: TransactionSql,
  projectId: number,
  project: string,
  now: number,
): Promise<void> {
  const busy = await ask<{ id: string }>(
    tx,
    `SELECT w.id FROM worker w JOIN run r ON r.id = w.run_id
     WHERE r.project_id = $1 AND w.ended_at IS NULL AND w.seen_at > $2`,
    [projectId, now - LATE_MS],
  );
  if (busy.length > 0) throw sumiError('project-in-use', { project, worker: busy[0].id });
}

async function clearProject(
  tx: TransactionSql,
  projectId: number,
  project: string,
  now: number,
): Promise<void> {
  await refuseBusy(tx, projectId, project, now);
  await dropPageWords(tx, projectId);
  const pages = 'SELECT id FROM url WHERE project_id = $1';
  for (const table of PAGE_TABLES)
    await ask(tx, `DELETE FROM ${table} WHERE page_id IN (${pages})`, [projectId]);
  await ask(tx, `DELETE FROM redirect_wait WHERE target_id IN (${pages})`, [projectId]);
  for (const table of ['visit', 'page_change'])
    await ask(tx, `DELETE FROM ${table} WHERE run_id IN (SELECT id FROM run WHERE project_id = $1)`, [
      projectId,
    ]);
  await ask(tx, `UPDATE request SET page_id = NULL WHERE page_id IN (${pages})`, [projectId]);
  await ask(tx, 'UPDATE project SET revisit_plan = NULL, learned_run = 0 WHERE id = $1', [projectId]);
  for (const table of ['url', 'host_queue', 'origin', 'discovery', 'index_state'])
    await ask(tx, `DELETE FROM ${table} WHERE project_id = $1`, [projectId]);
  await ask(
    tx,
    `UPDATE run SET status = 'failed', error = 'closed by --fresh', finished_at = COALESCE(finished_at, $2)
     WHERE project_id = $1 AND status IN ('running', 'paused', 'interrupted')`,
    [projectId, now],
  );
}

const FINISH = 'UPDATE run SET status = $2, finished_at = $3, error = $4 WHERE id = $1';
const UNFOUND = 'whoever looked for more pages left before all were found; the run can go on';

/** By orders (steering.ts) a run may be paused or stopped while its workers finish. */
const IS_OPEN: ReadonlySet<string> = new Set(['running', 'paused', 'stopped']);

/** Ends the run, unless others are still at work on it and nothing says that it is over. */
const HAS_LEFT = 'UPDATE worker SET ended_at = $2 WHERE id = $1';

export async function finishRun(
  session: Session,
  status: RunEnd,
  now: number,
  error: string | null,
): Promise<RunEnd | 'running'> {
  await session.window.flush();
  return transaction(session, async (tx) => {
    const [run] = await ask<{ status: RunEnd | 'running' }>(
      tx,
      'SELECT status FROM run WHERE id = $1 FOR UPDATE',
      [session.runId],
    );
    if (!IS_OPEN.has(run.status)) return run.status;
    if (status !== 'completed' && (await hasOthers(tx, session, now))) {
      // Two that leave at the same time must not leave it to each other: it is the last one's to say how the run ended.
      await ask(tx, HAS_LEFT, [session.owner, Math.round(now)]);
      return 'running';
    }
    const { runId } = session;
    const isCut = run.status !== 'stopped' && status !== 'interrupted' && (await hasUnfound(tx, session));
    // An order to stop stands, whatever the workers found meanwhile.
    const wanted = run.status === 'stopped' ? 'stopped' : status;
    const [end, why] = isCut ? (['interrupted', UNFOUND] as const) : [wanted, error];
    await together([
      ask(tx, FINISH, [runId, end, Math.round(now), why]),
      ask(tx, KEEP_GONE, [session.projectId]),
      ask(tx, CLOSE, [openKey(runId)]),
      ask(tx, 'SELECT pg_notify($1, $2)', [RUN_CHANNEL, String(runId)]),
    ]);
    return end;
  });
}

// The first decision stands: whoever comes second waits for the row and finds it.
const DECIDE = `
UPDATE run SET mode_reason = CASE WHEN mode IS NULL THEN $3 ELSE mode_reason END, mode = COALESCE(mode, $2)
WHERE id = $1 RETURNING mode, mode_reason AS reason`;
const READ_DECISION = 'SELECT mode, mode_reason AS reason FROM run WHERE id = $1';

export async function decideMode(
  session: Session,
  decision: ModeDecision | null,
): Promise<ModeDecision | null> {
  type Row = { [Key in keyof ModeDecision]: ModeDecision[Key] | null };
  const [found] = await session.attempt((sql) =>
    decision === null
      ? ask<Row>(sql, READ_DECISION, [session.runId])
      : ask<Row>(sql, DECIDE, [session.runId, decision.mode, decision.reason]),
  );
  return found === undefined || found.mode === null ? null : { mode: found.mode, reason: found.reason ?? '' };
}

async function hasOthers(tx: TransactionSql, session: Session, now: number): Promise<boolean> {
  const others = await ask(
    tx,
    'SELECT 1 FROM worker WHERE run_id = $1 AND id <> $2 AND ended_at IS NULL AND seen_at > $3 LIMIT 1',
    [session.runId, session.owner, Math.round(now - LATE_MS)],
  );
  return others.length > 0;
}

const REST = `
SELECT EXISTS (SELECT 1 FROM host_queue WHERE project_id = $1 AND waiting > 0) AS waits,
  EXISTS (SELECT 1 FROM lowering WHERE project_id = $1) AS lowers,
  EXISTS (SELECT 1 FROM meta m JOIN worker w ON w.id = m.value
    WHERE starts_with(m.key, $2) AND w.id <> $3 AND w.ended_at IS NULL AND w.seen_at > $4) AS is_kept`;

/** No page waits or is in flight anywhere, no lowered depth is still to be passed on, nobody else keeps the run open. */
export async function isDone(session: Session): Promise<boolean> {
  await session.window.flush();
  const late = Math.round(session.clock.now() - LATE_MS);
  const values = [session.projectId, openKey(session.runId), session.owner, late];
  const [{ waits, lowers, is_kept }] = await session.attempt((sql) =>
    ask<{ waits: boolean; lowers: boolean; is_kept: boolean }>(sql, REST, values),
  );
  session.mayLower ||= lowers;
  return !waits && !lowers && !is_kept;
}

/** Of who knows where more pages may come from. Without a name: somebody has found them all. */
const openKey = (runId: number, owner = '') => `open:${runId}:${owner}`;
const CLOSE = 'DELETE FROM meta WHERE starts_with(key, $1)';
const KNOW_NO_MORE = `
WITH known AS (DELETE FROM meta WHERE key = $1)
INSERT INTO meta (key, value) VALUES ($2, '') ON CONFLICT DO NOTHING`;
const HAS_UNFOUND = `
SELECT 1 FROM meta WHERE starts_with(key, $1) AND value <> $2
  AND NOT EXISTS (SELECT 1 FROM meta WHERE key = $1) LIMIT 1`;

export async function knowsNoMore(session: Session): Promise<void> {
  const { runId, owner } = session;
  await session.attempt((sql) => ask(sql, KNOW_NO_MORE, [openKey(runId, owner), openKey(runId)]));
}

/** Another knew of more, is gone, and nobody has found it since. */
async function hasUnfound(tx: TransactionSql, { runId, owner }: Session): Promise<boolean> {
  return (await ask(tx, HAS_UNFOUND, [openKey(runId), owner])).length > 0;
}

export interface StateCount {
  state: PageStateCode;
  n: number;
}

export function countStates(sql: Sql, projectId: number): Promise<StateCount[]> {
  return ask(sql, 'SELECT state, count(*)::int AS n FROM url WHERE project_id = $1 GROUP BY state', [
    projectId,
  ]);
}
