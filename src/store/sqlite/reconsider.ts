/**
 * Known pages put before a judge again, all of a project as one: a new run, a changed configuration, changed lists.
 * What he says becomes state, priority, reason and depth; the queue is built anew from it.
 */
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { KnownPage, Revision, Verdict } from '../frontier-port.ts';
import { keepAnswer } from '../kept-answer.ts';
import type { StateMove } from '../project-port.ts';
import { NO_DEPTH } from '../settlement.ts';
import { checkRevision, createMoves } from '../state-moves.ts';
import { countWaiting } from './run-counts.ts';
import { setPrepared } from './runs.ts';
import type { Session } from './session.ts';
import { rebuildWaiting, type WaitingPages } from './waiting-pages.ts';

const BATCH = 500;
const { Queued, Fetching } = PAGE_STATES;

interface KnownRow extends KnownPage {
  hops: number;
  storedDepth: number;
}

/** The columns in their order: as an array, because an object for each row costs more than finding it. */
type KnownValues = readonly [
  pageId: number,
  url: string,
  fetchUrl: string | null,
  host: string,
  state: KnownPage['state'],
  reason: string | null,
  hops: number,
  depth: number,
  hostRequests: number,
  wasRead: number,
  isLeftOut: number,
  /** Of a page without a depth of its own. */
  referrerDepth: number | null,
];

function knownRowOf(values: KnownValues): KnownRow {
  return {
    pageId: values[0],
    url: values[1],
    fetchUrl: values[2] ?? values[1],
    host: values[3],
    state: values[4],
    reason: values[5],
    hops: values[6],
    storedDepth: values[7],
    hostRequests: values[8],
    wasRead: values[9] === 1,
    isLeftOut: values[10] === 1,
    depth: values[7] === NO_DEPTH ? (values[11] ?? -1) + 1 : values[7],
  };
}

interface Reconsideration {
  changed: number;
  moves: StateMove[];
}

/** As much of a session as this needs: a project may be judged anew without one, too. */
export interface Judged
  extends Pick<Session, 'db' | 'projectId' | 'runId' | 'waiting' | 'waitingDelta' | 'isPrepared'> {
  readonly known: Pick<Session['known'], 'setDepth'>;
}

export function reconsider(
  session: Judged,
  waiting: WaitingPages,
  judge: (row: KnownPage) => Revision | null,
): Reconsideration {
  const { db, known } = session;
  const read = db
    .prepare(
      `SELECT u.id, u.url, u.fetch_url, h.name, u.state, u.reason, u.hops, u.depth, COALESCE(q.requests, 0),
         COALESCE(f.error IS NULL AND f.status_code BETWEEN 200 AND 399, 0),
         u.left_run IS ${session.runId},
         CASE WHEN u.depth = ${NO_DEPTH} THEN (SELECT r.depth FROM url r WHERE r.id = u.referrer_id) END
       FROM url u JOIN host h ON h.id = u.host_id
         LEFT JOIN host_queue q ON q.project_id = u.project_id AND q.host_id = u.host_id
         LEFT JOIN fetched f ON f.page_id = u.id
       WHERE u.project_id = ? AND u.id > ? AND u.state <> ${Fetching} ORDER BY u.id LIMIT ${BATCH}`,
    )
    .raw();
  const states = createStateWriter(session);
  const forgetRedirects = db.prepare('DELETE FROM redirect_wait WHERE target_id = ?');
  const setPriority = db.prepare('UPDATE url SET priority = ? WHERE id = ?');
  const setDepth = db.prepare('UPDATE url SET depth = ? WHERE id = ?');
  const moves = createMoves();
  let changed = 0;
  let asksAgain = 0;

  function giveState(row: KnownRow, { state, priority, reason }: Revision): void {
    checkRevision(row, state);
    moves.add(row.state, state);
    if (row.isLeftOut) asksAgain++;
    // A page that goes on waiting keeps its tries and the redirects that wait for it.
    if (row.state === Queued && state === Queued) {
      states.flush();
      setPriority.run(priority, row.pageId);
    } else {
      states.set(row.pageId, { state, priority, reason });
      if (row.hops > 0) forgetRedirects.run(row.pageId);
    }
  }

  function giveDepth(row: KnownRow, { state, depth, keepsState }: Revision): void {
    let wanted = depth === null ? NO_DEPTH : depth;
    // A page behind nofollow links only had no depth until it was let in.
    if (wanted === undefined && !keepsState && state === Queued && row.storedDepth === NO_DEPTH)
      wanted = row.depth;
    if (wanted === undefined || wanted === row.storedDepth) return;
    known.setDepth(row.pageId, wanted);
    setDepth.run(wanted, row.pageId);
  }

  for (let after = 0; ; ) {
    const rows = read.all(session.projectId, after) as KnownValues[];
    if (rows.length === 0) break;
    for (const values of rows) {
      const row = knownRowOf(values);
      const revision = judge(row);
      // A page that is left as it is ends the stretch.
      if (revision === null || revision.keepsState) states.flush();
      if (revision === null) continue;
      if (!revision.keepsState) giveState(row, revision);
      giveDepth(row, revision);
      changed++;
    }
    after = rows[rows.length - 1][0];
  }
  states.flush();
  if (asksAgain > 0)
    db.prepare('UPDATE run SET left_out = left_out - ? WHERE id = ?').run(asksAgain, session.runId);
  recountWaiting(session);
  rebuildWaiting(session, waiting);
  setPrepared(session);
  return { changed, moves: moves.list() };
}

/** Pages beside each other that get the same, as most do, are written at once. */
function createStateWriter({ db, projectId, runId }: Judged) {
  const write = db.prepare(
    `UPDATE url SET ${keepAnswer(String(runId))}, state = ?, priority = ?, reason = ?, attempts = 0, retry_at = NULL, hops = 0
     WHERE id BETWEEN ? AND ? AND project_id = ? AND state <> ${Fetching}`,
  );
  let stretch: { first: number; last: number; verdict: Verdict } | null = null;

  function flush(): void {
    if (stretch === null) return;
    const { first, last, verdict } = stretch;
    write.run(verdict.state, verdict.priority, verdict.reason, first, last, projectId);
    stretch = null;
  }

  return {
    flush,
    /** By growing id; whoever leaves out a page flushes before. */
    set(pageId: number, verdict: Verdict): void {
      if (stretch !== null && isSame(stretch.verdict, verdict)) {
        stretch.last = pageId;
        return;
      }
      flush();
      stretch = { first: pageId, last: pageId, verdict };
    },
  };
}

function isSame(a: Verdict, b: Verdict): boolean {
  return a.state === b.state && a.priority === b.priority && a.reason === b.reason;
}

/** From the pages themselves. */
function recountWaiting(session: Judged): void {
  const { db, projectId, waitingDelta } = session;
  db.prepare('UPDATE host_queue SET waiting = 0 WHERE project_id = ?').run(projectId);
  db.prepare(
    `INSERT INTO host_queue (project_id, host_id, waiting) SELECT project_id, host_id, count(*) FROM url
     WHERE project_id = ? AND state = ${Queued} GROUP BY host_id
     ON CONFLICT DO UPDATE SET waiting = excluded.waiting`,
  ).run(projectId);
  waitingDelta.clear();
  session.waiting = countWaiting(db, projectId);
}
