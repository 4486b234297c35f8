/** Orders to runs, stored with them. Whoever works on a run of this file does so in this process, and hears at once. */
import { sumiError } from '../../errors.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { giveBackAnswer } from '../kept-answer.ts';
import type { ProjectPort } from '../project-port.ts';
import {
  GIVEN_UP_REASON,
  type RunStanding,
  STOPPED_REASON,
  type StoredStatus,
  statusAfter,
} from '../steering.ts';
import type { OpenFile } from './session.ts';

interface SteeredRow {
  id: number;
  project: number;
  status: StoredStatus;
}

/** How a run stands that somebody may have left. */
const LEFT: ReadonlySet<StoredStatus> = new Set(['running', 'interrupted', 'paused']);

export function createSteering(
  file: OpenFile,
): Pick<ProjectPort, 'steer' | 'giveUp' | 'standing' | 'onSteer'> {
  const { db, window, live, path } = file;
  const listeners = new Set<(runId: number) => void>();
  const find = (runId: number) =>
    db.prepare('SELECT id, project_id AS project, status FROM run WHERE id = ?').get(runId) as
      | SteeredRow
      | undefined;
  const workersOf = (runId: number) => [...live].filter((session) => session.runId === runId).length;

  /** What waits in a project is its last run's. */
  const isLast = ({ id, project }: SteeredRow) =>
    db.prepare('SELECT max(id) FROM run WHERE project_id = ?').pluck().get(project) === id;

  /** Nobody is at work on the run: what it left in flight waits as well. */
  function closeWaiting({ id, project }: SteeredRow, reason: string): void {
    const given = { state: PAGE_STATES.Skipped, reason, run: id, project };
    const assignments = giveBackAnswer({ state: '@state', reason: '@reason', run: '@run' });
    const waits = `project_id = @project AND state IN (${PAGE_STATES.Queued}, ${PAGE_STATES.Fetching})`;
    const close = (which: string) =>
      db.prepare(`UPDATE url SET ${assignments} WHERE ${waits} AND known_state IS ${which}`).run(given)
        .changes;
    const leftOut = close('NOT NULL');
    close('NULL');
    db.prepare('UPDATE run SET left_out = left_out + ? WHERE id = ?').run(leftOut, id);
    db.prepare('UPDATE host_queue SET waiting = 0 WHERE project_id = ?').run(project);
    db.prepare('DELETE FROM wait_block WHERE project_id = ?').run(project);
  }

  return {
    async steer(runId, order, now): Promise<RunStanding> {
      window.commit();
      const run = find(runId);
      if (run === undefined) throw sumiError('unknown-run', { run: runId, file: path });
      const status = statusAfter(order, run);
      const workers = workersOf(runId);
      if (status !== run.status) {
        const finishedAt = status === 'stopped' ? now : null;
        db.prepare('UPDATE run SET status = ?, error = NULL, finished_at = ? WHERE id = ?').run(
          status,
          finishedAt,
          runId,
        );
      }
      if (status === 'stopped' && workers === 0 && isLast(run)) closeWaiting(run, STOPPED_REASON);
      window.commit();
      for (const listener of listeners) listener(runId);
      return { status, workers };
    },
    async giveUp(runId, error, now) {
      window.commit();
      const run = find(runId);
      if (run === undefined || !LEFT.has(run.status) || workersOf(runId) > 0) return false;
      db.prepare("UPDATE run SET status = 'failed', error = ?, finished_at = ? WHERE id = ?").run(
        error,
        now,
        runId,
      );
      if (isLast(run)) closeWaiting(run, GIVEN_UP_REASON);
      window.commit();
      return true;
    },
    async standing(runId) {
      const run = find(runId);
      return run === undefined ? null : { status: run.status, workers: workersOf(runId) };
    },
    onSteer(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}
