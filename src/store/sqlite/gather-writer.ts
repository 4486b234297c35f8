/** Writes what a session has gathered in memory into the group that is about to be committed. */
import type { Database } from 'better-sqlite3';
import type { Session } from './session.ts';

export function createGatherWriter(db: Database): (session: Session) => void {
  const addWaiting = db.prepare(
    `INSERT INTO host_queue (project_id, host_id, waiting) VALUES (?, ?, ?)
     ON CONFLICT DO UPDATE SET waiting = waiting + excluded.waiting`,
  );
  const saveHost = db.prepare(
    `UPDATE host SET not_before = ?, blocked_until = ?, consecutive_429 = ?, adaptive_ms = ?, average_ms = ?, samples = ?,
       failures = ?, probes = ?, distrusted_until = ?, announced = ?, unannounced = ?,
       head_checks = ? WHERE id = ? AND fence = ?`,
  );
  const saveRequests = db.prepare('UPDATE host_queue SET requests = ? WHERE project_id = ? AND host_id = ?');
  const saveRun = db.prepare(
    'UPDATE run SET pages = pages + ?, bytes = bytes + ?, requests = requests + ? WHERE id = ?',
  );

  return (session) => {
    for (const write of session.gathered) write();
    for (const [hostId, delta] of session.waitingDelta)
      if (delta !== 0) addWaiting.run(session.projectId, hostId, delta);
    session.waitingDelta.clear();
    for (const { state, hostId, fence } of session.dirtyHosts) {
      saveHost.run(
        Math.round(state.notBefore),
        Math.round(state.blockedUntil),
        state.consecutive429,
        state.adaptiveMs,
        state.averageMs,
        state.samples,
        state.failures,
        state.probes,
        Math.round(state.distrustedUntil),
        state.announced,
        state.unannounced,
        state.headChecks,
        hostId,
        fence,
      );
      saveRequests.run(state.requests, session.projectId, hostId);
    }
    session.dirtyHosts.clear();
    const { pages, bytes, requests } = session.runDelta;
    if (pages + bytes + requests > 0) saveRun.run(pages, bytes, requests, session.runId);
    Object.assign(session.runDelta, { pages: 0, bytes: 0, requests: 0 });
  };
}
