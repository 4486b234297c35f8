/** What a run and its project come to, counted. */
import type { Database } from 'better-sqlite3';
import { pageStateName } from '../../frontier/page-state.ts';
import type { RunCounts } from '../run-port.ts';
import { readLedger } from './read-history.ts';
import type { Session } from './session.ts';

export function countWaiting(db: Database, projectId: number): number {
  const sum = db.prepare('SELECT sum(waiting) FROM host_queue WHERE project_id = ?').pluck().get(projectId);
  return (sum as number | null) ?? 0;
}

export type RunTotals = Pick<RunCounts, 'pages' | 'requests' | 'bytes' | 'leftOut'>;

/** Of the run, with what is not committed yet. */
export function createTotals({ db, runId, runDelta }: Session): () => RunTotals {
  const read = db.prepare('SELECT pages, requests, bytes, left_out AS leftOut FROM run WHERE id = ?');
  return () => {
    const stored = read.get(runId) as RunTotals | undefined;
    const { pages, requests, bytes } = runDelta;
    return {
      pages: (stored?.pages ?? 0) + pages,
      requests: (stored?.requests ?? 0) + requests,
      bytes: (stored?.bytes ?? 0) + bytes,
      leftOut: stored?.leftOut ?? 0,
    };
  };
}

export function countRun(session: Session, totals: RunTotals): RunCounts {
  const { db, projectId, runId, isFirstRun } = session;
  return {
    ...countStates(db, projectId),
    ...totals,
    ledger: readLedger(db, runId),
    averageChangeFrequency: isFirstRun ? 0 : averageFrequency(db, projectId),
  };
}

/** Of pages that have a visit to compare with. */
function averageFrequency(db: Database, projectId: number): number {
  const mean = db
    .prepare(
      `SELECT avg(f.change_frequency) FROM fetched f JOIN url u ON u.id = f.page_id WHERE u.project_id = ?
         AND (f.change IN ('changed', 'unchanged', 'gone') OR f.change_frequency > 0)`,
    )
    .pluck()
    .get(projectId);
  return (mean as number | null) ?? 0;
}

function countStates(db: Database, projectId: number): Pick<RunCounts, 'byState' | 'waiting' | 'known'> {
  const rows = db
    .prepare('SELECT state, count(*) AS n FROM url WHERE project_id = ? GROUP BY state')
    .all(projectId) as {
    state: number;
    n: number;
  }[];
  const byState = Object.fromEntries(rows.map(({ state, n }) => [pageStateName(state), n]));
  const waiting = (byState.Queued ?? 0) + (byState.Fetching ?? 0);
  return { byState, waiting, known: rows.reduce((sum, { n }) => sum + n, 0) };
}
