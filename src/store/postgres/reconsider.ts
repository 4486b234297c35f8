/**
 * Known pages put before a judge again, all of a project as one: a new run, a changed configuration, changed lists.
 * What he says becomes state, priority, reason and depth; the counts of waiting pages are made anew from it.
 */
import type { TransactionSql } from 'postgres';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { KnownPage, Revision } from '../frontier-port.ts';
import { keepAnswer } from '../kept-answer.ts';
import type { Revised } from '../project-port.ts';
import type { RunRequest } from '../run-port.ts';
import { NO_DEPTH } from '../settlement.ts';
import { checkRevision, createMoves } from '../state-moves.ts';
import { countQueued, leaveOpen, openRun, unpreparedKey } from './runs.ts';
import { type Attempting, ask, recordset, rowsJson, type Session, transaction } from './session.ts';

const BATCH = 5000;
const { Queued, Fetching } = PAGE_STATES;

type Judge = (row: KnownPage) => Revision | null;
type Moves = ReturnType<typeof createMoves>;
type KnownRow = KnownPage & { hostId: number; hops: number; storedDepth: number };

const READ_KNOWN = `
SELECT u.id AS "pageId", u.host_id AS "hostId", u.url, COALESCE(u.fetch_url, u.url) AS "fetchUrl", h.name AS host, u.state,
  u.reason, u.hops, u.depth AS "storedDepth", COALESCE(q.requests, 0) AS "hostRequests",
  COALESCE(f.error IS NULL AND f.status_code BETWEEN 200 AND 399, false) AS "wasRead",
  u.left_run IS NOT DISTINCT FROM $3 AS "isLeftOut",
  CASE WHEN u.depth = ${NO_DEPTH} THEN COALESCE((SELECT r.depth + 1 FROM url r WHERE r.id = u.referrer_id), 0)
    ELSE u.depth END AS depth
FROM (SELECT * FROM url WHERE project_id = $1 AND id > $2 AND state <> ${Fetching} ORDER BY id LIMIT ${BATCH}) u
  JOIN host h ON h.id = u.host_id
  LEFT JOIN host_queue q ON q.host_id = u.host_id AND q.project_id = u.project_id
  LEFT JOIN fetched f ON f.page_id = u.id AND f.host_id = u.host_id
ORDER BY u.id`;
// A page that goes on waiting keeps its tries and the redirects that wait for it.
const JUDGE_KNOWN = `
UPDATE url u SET ${keepAnswer('$2', 'u.')}, state = v.s, priority = v.p, rank = v.p, reason = v.r,
  attempts = CASE WHEN v.k THEN u.attempts ELSE 0 END, retry_at = CASE WHEN v.k THEN u.retry_at END,
  hops = CASE WHEN v.k THEN u.hops ELSE 0 END
FROM ${recordset(1, 'i int, h int, s smallint, p int, r text, k boolean', 'v')}
WHERE u.id = v.i AND u.host_id = v.h`;
const COUNT_BACK = 'UPDATE run SET left_out = left_out - $2 WHERE id = $1';
const SET_DEPTHS = `
UPDATE url u SET depth = v.d FROM ${recordset(1, 'i int, h int, d int', 'v')} WHERE u.id = v.i AND u.host_id = v.h`;
// A statement of its own: one that waits for a lock does not see what was committed meanwhile.
const LOCK_COUNTS = 'SELECT 1 FROM host_queue WHERE project_id = $1 ORDER BY host_id FOR NO KEY UPDATE';
const COUNT_AGAIN = `
WITH none AS (UPDATE host_queue SET waiting = 0 WHERE project_id = $1)
SELECT host_id AS "hostId", count(*)::int AS n FROM url WHERE project_id = $1 AND state IN (1, 2) GROUP BY host_id`;
const SET_COUNTS = `
INSERT INTO host_queue AS q (project_id, host_id, waiting, ready_at, leased_until)
SELECT $2, r.h, r.n, greatest(h.not_before, h.blocked_until), COALESCE(h.lease_until, 0)
FROM ${recordset(1, 'h int, n int', 'r')} JOIN host h ON h.id = r.h ORDER BY r.h
ON CONFLICT (host_id, project_id) DO UPDATE SET waiting = excluded.waiting`;

/** Puts every known page that is not in flight before the judge. */
export async function reconsider(session: Session, judge: Judge): Promise<number> {
  session.window.touch();
  await session.window.flush();
  const { changed } = await transaction(session, (tx) => judgeAll(tx, session, judge));
  session.known.clear();
  for (const { waiting } of session.held.values()) waiting.clear();
  session.waiting = await countQueued(session);
  return changed;
}

/** The same for a project that nobody crawls. */
export async function revise(
  database: Attempting,
  request: RunRequest,
  judge: Judge,
): Promise<Revised | null> {
  return transaction(database, async (tx) => {
    const run = await openRun(tx, request);
    if (run === null) return null;
    const { moves, waiting } = await judgeAll(tx, run, judge);
    if (waiting > 0) await leaveOpen(tx, run.runId);
    return { ...run, moves: moves.list(), waiting };
  });
}

async function judgeAll(
  tx: TransactionSql,
  { projectId, runId }: { projectId: number; runId: number },
  judge: Judge,
): Promise<{ changed: number; moves: Moves; waiting: number }> {
  // New with every try: a transaction that failed has moved nothing.
  const moves = createMoves();
  let changed = 0;
  for (let after = 0; ; ) {
    const rows = await ask<KnownRow>(tx, READ_KNOWN, [projectId, after, runId]);
    if (rows.length === 0) break;
    changed += await judgeRows(tx, rows, { runId, judge, moves });
    after = rows[rows.length - 1].pageId;
  }
  await ask(tx, LOCK_COUNTS, [projectId]);
  const counts = await ask<{ hostId: number; n: number }>(tx, COUNT_AGAIN, [projectId]);
  const json = rowsJson(counts.map(({ hostId, n }) => ({ h: hostId, n })));
  await ask(tx, SET_COUNTS, [json, projectId]);
  await ask(tx, 'DELETE FROM meta WHERE key = $1', [unpreparedKey(projectId)]);
  return { changed, moves, waiting: counts.reduce((sum, { n }) => sum + n, 0) };
}

async function judgeRows(
  tx: TransactionSql,
  rows: KnownRow[],
  { runId, judge, moves }: { runId: number; judge: Judge; moves: Moves },
): Promise<number> {
  const verdicts = [];
  const depths = [];
  const forgotten: number[] = [];
  let changed = 0;
  let asksAgain = 0;
  for (const row of rows) {
    const revision = judge(row);
    if (revision === null) continue;
    changed++;
    const key = { i: row.pageId, h: row.hostId };
    const depth = depthOf(row, revision);
    if (depth !== row.storedDepth) depths.push({ ...key, d: depth });
    if (revision.keepsState) continue;
    const { state, priority, reason } = revision;
    checkRevision(row, state);
    moves.add(row.state, state);
    if (row.isLeftOut) asksAgain++;
    const isKept = row.state === Queued && state === Queued;
    if (!isKept && row.hops > 0) forgotten.push(row.pageId);
    verdicts.push({ ...key, s: state, p: priority, r: isKept ? row.reason : reason, k: isKept });
  }
  if (verdicts.length > 0) await ask(tx, JUDGE_KNOWN, [rowsJson(verdicts), runId]);
  if (asksAgain > 0) await ask(tx, COUNT_BACK, [runId, asksAgain]);
  if (depths.length > 0) await ask(tx, SET_DEPTHS, [rowsJson(depths)]);
  if (forgotten.length > 0)
    await ask(tx, 'DELETE FROM redirect_wait WHERE target_id = ANY($1::int[])', [forgotten]);
  return changed;
}

function depthOf(row: KnownRow, { state, depth, keepsState }: Revision): number {
  if (depth !== undefined) return depth ?? NO_DEPTH;
  // A page behind nofollow links only had no depth until it was let in.
  const isLetIn = !keepsState && state === Queued && row.storedDepth === NO_DEPTH;
  return isLetIn ? row.depth : row.storedDepth;
}
