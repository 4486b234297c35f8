/** Opens the file for all sessions of this process, and puts right what a dead one left behind. */
import { randomBytes } from 'node:crypto';
import type { Database } from 'better-sqlite3';
import type { Clock } from '../../primitives/clock.ts';
import { createUrlHasher } from '../../primitives/url-hash.ts';
import { REQUEST_KINDS } from '../host-port.ts';
import { openCommitWindow } from './commit-window.ts';
import { createFileGuard } from './failure-guard.ts';
import { createGatherWriter } from './gather-writer.ts';
import { createHostTurns } from './host-turns.ts';
import { openForWriting } from './open-database.ts';
import { PageDepths } from './page-depths.ts';
import { createPageRows } from './page-rows.ts';
import { createHostIds, type OpenFile, type Session } from './session.ts';
import { createBlockNumbers } from './waiting-pages.ts';

export interface SqliteStoreOptions {
  path: string;
  clock: Clock;
  /** Hears of an error that no call can answer for (a commit by the timer). */
  onFailure: (error: unknown) => void;
  /** What pages of the file may take in memory; as much as a crawl needs unless said. */
  cacheKib?: number;
}

export function openFile({ path, clock, onFailure, cacheKib }: SqliteStoreOptions): OpenFile {
  const db = openForWriting(path, cacheKib);
  const live = new Set<Session>();
  const guard = createFileGuard(db, path, live);
  try {
    const writeGathered = createGatherWriter(db);
    const rows = createPageRows(db, () => clock.now());
    const writeAll = () => {
      rows.flush();
      for (const session of live) writeGathered(session);
    };
    const window = openCommitWindow(db, clock, writeAll, (error) => onFailure(guard.fail(error)));
    recoverLeases(db, clock.now());
    window.commit();
    return {
      ...{ path, db, clock, guard, window, rows, live },
      hosts: createHostIds(db),
      hasher: createUrlHasher(secretKey(db)),
      depths: new PageDepths(),
      turns: createHostTurns(db, clock, live),
      nextBlock: createBlockNumbers(db),
    };
  } catch (error) {
    throw guard.fail(error);
  }
}

function secretKey(db: Database): Uint32Array {
  db.prepare("INSERT OR IGNORE INTO meta VALUES ('hash_key', ?)").run(randomBytes(16));
  const key = db.prepare("SELECT value FROM meta WHERE key = 'hash_key'").pluck().get() as Buffer;
  return Uint32Array.of(key.readUInt32LE(0), key.readUInt32LE(4), key.readUInt32LE(8), key.readUInt32LE(12));
}

const GAP = REQUEST_KINDS.indexOf('gap');
const CLEARED = REQUEST_KINDS.indexOf('cleared');

/** The run that had the host, as far as that can be told: one under way whose project knows it, or else the last. */
const HAD_IT = `COALESCE(
  (SELECT max(r.id) FROM run r JOIN host_queue q ON q.project_id = r.project_id AND q.host_id = host.id WHERE r.status = 'running'),
  (SELECT max(id) FROM run WHERE status = 'running'), (SELECT max(id) FROM run))`;

/**
 * Nobody else writes to the file, so every lease that is found in it is a dead crawler's: its hosts rest one full delay.
 * Pages in flight stay as they are until their own project's run goes on: only then are they queued again.
 */
function recoverLeases(db: Database, now: number): void {
  followClock(db, now);
  db.prepare(
    `INSERT INTO request (run_id, host_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code, wire_bytes)
     SELECT ${HAD_IT}, id, ?, ?, ?, ?, 0, 0, 0, 0 FROM host WHERE lease_owner IS NOT NULL AND EXISTS (SELECT 1 FROM run)`,
  ).run(GAP, now, now, now);
  db.prepare(
    'UPDATE host SET taken_over = 1, lease_owner = NULL, lease_until = NULL WHERE lease_owner IS NOT NULL',
  ).run();
}

/**
 * A last request that lies ahead of us says that the clock was set back: what hosts and pages wait for is counted from
 * now, or a crawl would rest for as long as the clock was wrong. Nobody waits less than was left after that request.
 */
function followClock(db: Database, now: number): void {
  const last = db
    .prepare(`SELECT sent_at FROM request WHERE kind <> ${CLEARED} ORDER BY id DESC LIMIT 1`)
    .pluck()
    .get();
  if (last === undefined || (last as number) <= now) return;
  for (const [table, column] of [
    ['host', 'not_before'],
    ['host', 'blocked_until'],
    ['host', 'distrusted_until'],
    ['url', 'retry_at'],
  ])
    db.prepare(
      `UPDATE ${table} SET ${column} = CAST(@now + max(0, ${column} - @last) AS INTEGER) WHERE ${column} > @now`,
    ).run({ now, last });
}
