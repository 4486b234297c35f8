/**
 * Workers on a run: who is alive, and what happens to the hosts of one that is not. A lease runs out by itself; that of
 * a worker whose process is known to be dead, because it ran under this very kernel, ends at once.
 */
import { readFileSync, readlinkSync } from 'node:fs';
import type { Sql, TransactionSql } from 'postgres';
import { readProcess } from '../../primitives/process-life.ts';
import { REQUEST_KINDS } from '../host-port.ts';
import type { WorkerReport } from '../worker-report.ts';
import { ask, recordset, rowsJson, type Session, together, transaction } from './session.ts';

/** Not heard of for so long, a worker does not count as being at work. */
export const LATE_MS = 30_000;

/** The process as its kernel knows it: boot, process namespace, number and start. Null where the kernel does not tell, or it is dead. */
export function processMark(pid: number | 'self'): string | null {
  try {
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const space = readlinkSync('/proc/self/ns/pid');
    const found = readProcess(pid);
    if (found === null || found.isDead) return null;
    return `${boot} ${space} ${pid === 'self' ? process.pid : pid} ${found.startedAt}`;
  } catch {
    return null;
  }
}

export async function registerWorker(
  tx: TransactionSql,
  owner: string,
  runId: number,
  now: number,
): Promise<void> {
  await ask(
    tx,
    `INSERT INTO worker (id, process, run_id, started_at, seen_at) VALUES ($1, $2, $3, $4, $4)
     ON CONFLICT (id) DO UPDATE SET run_id = excluded.run_id, seen_at = excluded.seen_at,
       started_at = excluded.started_at, process = excluded.process, ended_at = NULL, last_group = 0, permits = 0`,
    [owner, processMark('self') ?? '', runId, now],
  );
}

const END_LEASES = `
UPDATE host SET taken_over = 1, lease_owner = NULL, lease_until = NULL WHERE id = ANY($1::int[])`;
/** Pages that a vanished holder had in flight wait again, whatever project they are of. */
export const PUT_BACK = 'UPDATE url SET state = 1 WHERE host_id = ANY($1::int[]) AND state = 2';
export const MARK_GAPS = `
INSERT INTO request (run_id, host_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes)
SELECT $1, unnest($2::int[]), ${REQUEST_KINDS.indexOf('gap')}, $3::bigint, $3, $3, 0, 0, 0, 0`;

/** Ends the leases of hosts that nobody works on any more. They count as taken over: they rest one delay. */
async function giveUpHosts(tx: TransactionSql, runId: number, hostIds: number[], now: number): Promise<void> {
  if (hostIds.length === 0) return;
  await ask(tx, END_LEASES, [hostIds]);
  await ask(tx, MARK_GAPS, [runId, hostIds, now]);
  await ask(tx, PUT_BACK, [hostIds]);
  await ask(tx, 'UPDATE host_queue SET leased_until = 0 WHERE host_id = ANY($1::int[])', [hostIds]);
}

/** Frees the hosts of workers of this machine whose processes are gone. */
export async function endVanished(tx: TransactionSql, now: number): Promise<void> {
  const mine = processMark('self');
  if (mine === null) return;
  const place = mine.split(' ').slice(0, 2).join(' ');
  const neighbours = await ask<{ id: string; process: string; run: number }>(
    tx,
    'SELECT id, process, run_id AS run FROM worker WHERE ended_at IS NULL AND starts_with(process, $1)',
    [`${place} `],
  );
  const gone = neighbours.filter(({ process }) => processMark(Number(process.split(' ')[2])) !== process);
  if (gone.length === 0) return;
  const owners = gone.map(({ id }) => id);
  const held = await ask<{ id: number }>(tx, 'SELECT id FROM host WHERE lease_owner = ANY($1::text[])', [
    owners,
  ]);
  await giveUpHosts(
    tx,
    gone[0].run,
    held.map(({ id }) => id),
    now,
  );
  await ask(tx, 'UPDATE worker SET ended_at = $2, hosts = 0, permits = 0 WHERE id = ANY($1::text[])', [
    owners,
    now,
  ]);
}

/** Pages a second since the last time it was heard of. */
const HEARTBEAT = `
UPDATE worker SET hosts = $3, pages_per_second = CASE
    WHEN told_at = 0 THEN $4 * 1000.0 / greatest(1, $2 - started_at)
    WHEN $2 > told_at THEN ($4 - told_pages) * 1000.0 / ($2 - told_at) ELSE pages_per_second END,
  told_pages = $4, told_at = $2, seen_at = $2 WHERE id = $1`;
const WAIT_A_MOMENT = "SELECT set_config('lock_timeout', '1000', true)";
const LOCK_NOT_AVAILABLE = '55P03';
const INSUFFICIENT_PRIVILEGE = '42501';

/** A group of ours has the row, and may wait for a worker that is stopped: then this one is left out. */
export async function heartbeat(session: Session, report: WorkerReport): Promise<void> {
  const now = Math.round(session.clock.now());
  await freeLocks(session, now);
  await session.attempt(
    unless(LOCK_NOT_AVAILABLE, (sql) =>
      sql.begin((tx) =>
        together([
          ask(tx, WAIT_A_MOMENT, []),
          ask(tx, HEARTBEAT, [session.owner, now, report.hosts, report.pages]),
        ]),
      ),
    ),
  );
}

/** Two of its heartbeats did not come. */
const SILENT_MS = 10_000;
// Looked for only while somebody is silent.
const FREE_LOCKS = `
SELECT pg_terminate_backend(a.pid) FROM pg_stat_activity a
WHERE EXISTS (SELECT 1 FROM worker w JOIN run r ON r.id = w.run_id AND r.status = 'running'
    WHERE w.ended_at IS NULL AND w.seen_at < $1)
  AND a.datname = current_database() AND a.usename = current_user
  AND a.application_name = current_setting('application_name') AND a.state = 'active' AND a.wait_event = 'ClientRead'
  AND a.state_change < clock_timestamp() - interval '2 seconds'`;

/**
 * A worker that is stopped in the middle of saying a statement holds its locks for ever: the server, which waits for the
 * rest, counts that neither as an idle transaction nor as time of the statement. So others end its connection. A role may
 * end what is its own, unless somebody took that right away: then its locks wait for it.
 */
async function freeLocks(session: Session, now: number): Promise<void> {
  await session.attempt(unless(INSUFFICIENT_PRIVILEGE, (sql) => ask(sql, FREE_LOCKS, [now - SILENT_MS])));
}

function unless(code: string, work: (sql: Sql) => Promise<unknown>): (sql: Sql) => Promise<void> {
  return async (sql) => {
    try {
      await work(sql);
    } catch (error) {
      if ((error as { code?: string }).code !== code) throw error;
    }
  };
}

/** The worker leaves: what it still holds is free, after a rest. */
export async function endWorker(session: Session): Promise<void> {
  const now = Math.round(session.clock.now());
  const fences = [...session.held.values()].map(({ lease }) => ({ h: lease.hostId, f: lease.fence }));
  await transaction(session, async (tx) => {
    const held = await ask<{ id: number }>(tx, LOCK_HELD, [rowsJson(fences)]);
    await giveUpHosts(
      tx,
      session.runId,
      held.map(({ id }) => id),
      now,
    );
    await ask(tx, 'UPDATE worker SET ended_at = $2, hosts = 0, permits = 0 WHERE id = $1', [
      session.owner,
      now,
    ]);
  });
}

const LOCK_HELD = `
SELECT h.id FROM ${recordset(1, 'h int, f bigint', 'r')} JOIN host h ON h.id = r.h AND h.fence = r.f
ORDER BY h.id FOR NO KEY UPDATE OF h`;

// Permits of a worker that was not heard of for long are free again: its leases are running out.
const FREE_PERMITS = `
SELECT r.pages + COALESCE((SELECT sum(w.permits) FROM worker w WHERE w.run_id = r.id AND w.ended_at IS NULL
  AND (w.id = $2 OR w.seen_at > $3)), 0)::int AS taken FROM run r WHERE r.id = $1`;

/** Permits for page GETs, so that pages done and permits given never exceed the limit together. */
export async function reservePages(session: Session, count: number, limit: number): Promise<number> {
  const now = Math.round(session.clock.now());
  return transaction(session, async (tx) => {
    // The order in which a group takes these locks, too.
    await ask(tx, 'SELECT 1 FROM worker WHERE id = $1 FOR NO KEY UPDATE', [session.owner]);
    // The run's row is the lock: a second look sees what was committed before we got it.
    await ask(tx, 'SELECT 1 FROM run WHERE id = $1 FOR UPDATE', [session.runId]);
    const [{ taken }] = await ask<{ taken: number }>(tx, FREE_PERMITS, [
      session.runId,
      session.owner,
      now - 4 * LATE_MS,
    ]);
    const given = Math.max(0, Math.min(count, limit - taken));
    if (given > 0)
      await ask(tx, 'UPDATE worker SET permits = permits + $2 WHERE id = $1', [session.owner, given]);
    return given;
  });
}

export async function returnPages(session: Session, count: number): Promise<void> {
  await session.window.flush();
  await session.attempt((sql) =>
    ask(sql, 'UPDATE worker SET permits = greatest(0, permits - $2) WHERE id = $1', [session.owner, count]),
  );
}
