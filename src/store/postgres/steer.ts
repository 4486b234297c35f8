/** Orders to runs, stored with them; workers that listen hear of an order at once, the others when they ask. */
import type { TransactionSql } from 'postgres';
import { sumiError } from '../../errors.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { giveBackAnswer } from '../kept-answer.ts';
import type { ProjectPort } from '../project-port.ts';
import {
  GIVEN_UP_REASON,
  type Order,
  type RunStanding,
  STOPPED_REASON,
  type StoredStatus,
  statusAfter,
} from '../steering.ts';
import { openRunChannel } from './run-channel.ts';
import { RUN_CHANNEL } from './runs.ts';
import { ask, type OpenDatabase, type Runner, together, transaction } from './session.ts';
import { LATE_MS } from './workers.ts';

/** The channel on which those who are at work on runs hear of orders. */
export const STEER_CHANNEL = 'sumi_steer';

const STANDING = `
SELECT r.status, (SELECT count(*)::int FROM worker w WHERE w.run_id = r.id AND w.ended_at IS NULL AND w.seen_at > $2) AS workers
FROM run r WHERE r.id = $1::bigint`;
const SET_STATUS = `
UPDATE run SET status = $2, error = NULL, finished_at = CASE WHEN $2 = 'stopped' THEN $3::bigint END WHERE id = $1`;
const CLOSE_WAITING = `
WITH closed AS (UPDATE url u SET ${giveBackAnswer({ state: '$2', reason: '$3::text', run: '$1' })}
  FROM run r WHERE r.id = $1 AND u.project_id = r.project_id AND u.state IN (${PAGE_STATES.Queued}, ${PAGE_STATES.Fetching})
  RETURNING u.known_state IS NOT NULL AS is_left_out)
UPDATE run SET left_out = left_out + (SELECT count(*) FROM closed WHERE is_left_out)::int WHERE id = $1`;
const NONE_WAIT = `
UPDATE host_queue SET waiting = 0 WHERE project_id = (SELECT project_id FROM run WHERE id = $1)`;

async function readStanding(runner: Runner, runId: number, now: number): Promise<RunStanding | null> {
  const [row] = await ask<RunStanding>(runner, STANDING, [runId, Math.round(now) - LATE_MS]);
  return row ?? null;
}

interface Steering {
  verbs: Pick<ProjectPort, 'steer' | 'giveUp' | 'standing' | 'onSteer'>;
  stop(): Promise<void>;
}

export function createSteering(database: OpenDatabase): Steering {
  const { attempt, clock, label } = database;
  const listeners = new Set<(runId: number) => void>();
  const channel = openRunChannel(database, STEER_CHANNEL, (runId) => {
    for (const listener of listeners) listener(runId);
  });
  return {
    verbs: {
      steer: (runId, order, now) =>
        transaction(database, (tx) => steer(tx, { runId, order, now, file: label })),
      giveUp: (runId, error, now) =>
        transaction(database, (tx) => giveUp(tx, { runId, error, now: Math.round(now) })),
      standing: (runId) => attempt((runner) => readStanding(runner, runId, clock.now())),
      onSteer(listener) {
        listeners.add(listener);
        channel.listen();
        return () => void listeners.delete(listener);
      },
    },
    stop: () => channel.stop(),
  };
}

/** `file`: what messages call the store. */
async function steer(
  tx: TransactionSql,
  { runId, order, now, file }: { runId: number; order: Order; now: number; file: string },
): Promise<RunStanding> {
  const run = await lockRun(tx, runId);
  if (run === undefined) throw sumiError('unknown-run', { run: runId, file });
  const status = statusAfter(order, run);
  const { workers } = (await readStanding(tx, runId, now))!;
  if (status !== run.status) await ask(tx, SET_STATUS, [runId, status, Math.round(now)]);
  // What waits in a project is its last run's.
  if (status === 'stopped' && workers === 0 && run.isLast) {
    await ask(tx, CLOSE_WAITING, [runId, PAGE_STATES.Skipped, STOPPED_REASON]);
    await ask(tx, NONE_WAIT, [runId]);
  }
  await together([
    ask(tx, 'SELECT pg_notify($1, $2)', [STEER_CHANNEL, String(runId)]),
    ask(tx, 'SELECT pg_notify($1, $2)', [RUN_CHANNEL, String(runId)]),
  ]);
  return { status, workers };
}

interface LockedRun {
  id: number;
  status: StoredStatus;
  isLast: boolean;
}

async function lockRun(tx: TransactionSql, runId: number): Promise<LockedRun | undefined> {
  const [run] = await ask<LockedRun>(
    tx,
    `SELECT id, status, id = (SELECT max(l.id) FROM run l WHERE l.project_id = run.project_id) AS "isLast"
     FROM run WHERE id = $1::bigint FOR UPDATE`,
    [runId],
  );
  return run;
}

const GIVE_UP = `
UPDATE run SET status = 'failed', error = $2, finished_at = $3::bigint
WHERE id = $1 AND status IN ('running', 'interrupted', 'paused')
  AND NOT EXISTS (SELECT 1 FROM worker w WHERE w.run_id = run.id AND w.ended_at IS NULL AND w.seen_at > $4)
RETURNING id`;

async function giveUp(
  tx: TransactionSql,
  { runId, error, now }: { runId: number; error: string; now: number },
): Promise<boolean> {
  const run = await lockRun(tx, runId);
  if ((await ask(tx, GIVE_UP, [runId, error, now, now - LATE_MS])).length === 0) return false;
  if (run?.isLast) {
    await ask(tx, CLOSE_WAITING, [runId, PAGE_STATES.Skipped, GIVEN_UP_REASON]);
    await ask(tx, NONE_WAIT, [runId]);
  }
  return true;
}
