/** What a run and its project come to, counted by the database. */
import { pageStateName } from '../../frontier/page-state.ts';
import type { RunCounts } from '../run-port.ts';
import { readLedger } from './read-history.ts';
import { countStates } from './runs.ts';
import { ask, type Session } from './session.ts';

const COUNT_RUN = `
SELECT pages, requests, bytes, left_out AS "leftOut", COALESCE((SELECT avg(f.change_frequency) FROM url u
  JOIN fetched f ON f.page_id = u.id AND f.host_id = u.host_id
  WHERE NOT $3 AND u.project_id = $2 AND (f.change IN ('changed', 'unchanged', 'gone') OR f.change_frequency > 0)), 0) AS "averageChangeFrequency"
FROM run WHERE id = $1`;

export async function counts(session: Session): Promise<RunCounts> {
  // Pages in flight are told with a group.
  if ([...session.held.values()].some(({ inFlight }) => inFlight.size > 0)) session.window.touch();
  await session.window.flush();
  const { runId, projectId, isFirstRun } = session;
  const [states, [run], ledger] = await session.attempt((sql) =>
    Promise.all([
      countStates(sql, projectId),
      ask<Pick<RunCounts, 'pages' | 'requests' | 'bytes' | 'leftOut' | 'averageChangeFrequency'>>(
        sql,
        COUNT_RUN,
        [runId, projectId, isFirstRun],
      ),
      readLedger(sql, runId),
    ]),
  );
  const byState: Record<string, number> = {};
  let known = 0;
  for (const { state, n } of states) {
    byState[pageStateName(state)] = n;
    known += n;
  }
  const waiting = (byState.Queued ?? 0) + (byState.Fetching ?? 0);
  return { byState, waiting, known, ledger, ...run };
}
