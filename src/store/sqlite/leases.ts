/**
 * Hosts are leased, their best waiting pages claimed, and both given back. One process writes, so no two sessions ever
 * look for a host at once; which of them is next, host-turns.ts says.
 */
import type { Claim } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { ClaimAnswer } from '../frontier-port.ts';
import type { HostLease } from '../host-port.ts';
import { type HostRow, leaseOf } from '../host-row.ts';
import { createHashReader, LAST_VISIT, type LastVisitValues, LastVisitView } from './last-visit.ts';
import { addWaiting, type Session } from './session.ts';
import type { WaitingPages } from './waiting-pages.ts';

const { Queued, Fetching } = PAGE_STATES;

/** Columns of `url u`, in the order of `PageValues`. */
const PAGE = 'u.id, u.url, u.fetch_url, u.depth, u.priority, u.attempts, u.hops';

type PageValues = readonly [
  id: number,
  url: string,
  fetchUrl: string | null,
  depth: number,
  priority: number,
  attempts: number,
  hops: number,
];

/** A claim's row: as an array, because with so many columns an object costs as much as finding the row does. */
type ClaimValues = readonly [...PageValues, ...LastVisitValues];

const LAST_VISIT_AT = 7;

export function createLeases(session: Session, waiting: WaitingPages) {
  const { db, turns } = session;
  const free = db.prepare(
    `SELECT h.*, q.requests, q.closed_state, q.closed_reason FROM host_queue q JOIN host h ON h.id = q.host_id
     WHERE q.project_id = ? AND q.waiting > 0 AND (h.lease_owner IS NULL OR h.lease_until <= ?)
       AND h.id NOT IN (SELECT value FROM json_each(?))
     ORDER BY max(h.not_before, h.blocked_until), h.id LIMIT ?`,
  );
  const byName = db.prepare(
    `SELECT h.*, COALESCE(q.requests, 0) AS requests, q.closed_state, q.closed_reason FROM host h
     LEFT JOIN host_queue q ON q.host_id = h.id AND q.project_id = ?
     WHERE h.id = ? AND (h.lease_owner IS NULL OR h.lease_until <= ?)`,
  );
  const take = db.prepare(
    'UPDATE host SET lease_owner = ?, lease_until = ?, fence = fence + 1, taken_over = 0 WHERE id = ?',
  );
  const extend = db.prepare('UPDATE host SET lease_until = ? WHERE id = ? AND lease_owner = ? AND fence = ?');
  const give = db.prepare(
    'UPDATE host SET lease_owner = NULL, lease_until = NULL WHERE id = ? AND fence = ?',
  );
  const joins = `url u LEFT JOIN fetched f ON f.page_id = u.id
    LEFT JOIN sitemap_entry e ON e.page_id = u.id AND e.lost_run IS NULL`;
  const due = db
    .prepare(
      `SELECT ${PAGE}, ${LAST_VISIT} FROM ${joins}
       WHERE u.project_id = ? AND u.host_id = ? AND u.state = 1 AND u.retry_at IS NOT NULL AND u.retry_at <= ?
       ORDER BY u.retry_at, u.id LIMIT ?`,
    )
    .raw();
  const ifWaiting = db
    .prepare(
      `SELECT ${PAGE}, ${LAST_VISIT} FROM ${joins} WHERE u.id = ? AND u.state = 1 AND u.retry_at IS NULL`,
    )
    .raw();
  // In a project's first run no waiting page has a visit behind it, and there is nothing to join.
  const ifWaitingFirst = db
    .prepare(`SELECT ${PAGE}, NULL FROM url u WHERE u.id = ? AND u.state = 1 AND u.retry_at IS NULL`)
    .raw();
  const readHashes = createHashReader(session);
  const nextRetry = db
    .prepare(
      'SELECT min(retry_at) FROM url WHERE project_id = ? AND host_id = ? AND state = 1 AND retry_at IS NOT NULL',
    )
    .pluck();
  const setState = db.prepare('UPDATE url SET state = ?, retry_at = NULL WHERE id = ?');
  const hasExpired = db
    .prepare('SELECT 1 FROM host WHERE lease_owner IS NOT NULL AND lease_until <= ? LIMIT 1')
    .pluck();
  const abandoned = db.prepare(
    `SELECT h.*, q.requests, q.closed_state, q.closed_reason
     FROM (SELECT DISTINCT host_id FROM url WHERE project_id = ? AND state = 2) u JOIN host h ON h.id = u.host_id
     JOIN host_queue q ON q.host_id = h.id AND q.project_id = ?
     WHERE h.lease_owner IS NOT NULL AND h.lease_until <= ? AND h.id NOT IN (SELECT value FROM json_each(?)) LIMIT ?`,
  );
  const putBack = db.prepare(
    'UPDATE url SET state = 1 WHERE project_id = ? AND host_id = ? AND state = 2 RETURNING id, priority',
  );
  const noneWaiting = db.prepare('UPDATE host_queue SET waiting = 0 WHERE project_id = ? AND host_id = ?');

  /** The queue itself is the truth; a count that says otherwise would offer the host for lease for ever. */
  function setNoneWaiting(hostId: number): void {
    session.waitingDelta.delete(hostId);
    noneWaiting.run(session.projectId, hostId);
  }

  const nextRetryOf = ({ hostId }: HostLease) => nextRetry.get(session.projectId, hostId) as number | null;

  // Nobody else writes to the file: who holds a host took it in this process, and says so when it takes one from us.
  const holds = (lease: HostLease): boolean => session.held.get(lease.hostId)?.fence === lease.fence;

  function takeAll(rows: HostRow[], now: number, leaseMs: number): HostLease[] {
    const leases = rows.map((row) => {
      take.run(session.owner, now + leaseMs, row.id);
      return leaseOf(row, now + leaseMs);
    });
    for (const lease of leases) {
      turns.take(session, lease);
      session.held.set(lease.hostId, lease);
      if (nextRetryOf(lease) !== null) session.retrying.add(lease.hostId);
    }
    if (leases.length > 0) session.window.commit();
    return leases;
  }

  return {
    lease(count: number, now: number, leaseMs: number): HostLease[] {
      session.window.commit();
      const { projectId } = session;
      const kept = JSON.stringify([...turns.keptFor(session), ...expiredOf(session, now)]);
      const leases = takeAll(free.all(projectId, now, kept, count) as HostRow[], now, leaseMs);
      if (leases.length === count) return leases;
      // A vanished holder may have left nothing but pages in flight: these are looked for in all pages, so not in vain.
      if (hasExpired.get(now) !== undefined) {
        const left = count - leases.length;
        const rows = abandoned.all(projectId, projectId, now, kept, left) as HostRow[];
        leases.push(...takeAll(rows, now, leaseMs));
      }
      if (leases.length === 0) turns.callAll(session);
      return leases;
    },

    leaseHost(host: string, now: number, leaseMs: number): HostLease | null {
      session.window.commit();
      const hostId = session.hosts.idOf(host);
      const row = byName.get(session.projectId, hostId, now) as HostRow | undefined;
      if (row !== undefined && turns.mayTake(session, hostId)) return takeAll([row], now, leaseMs)[0];
      turns.call(session, hostId);
      return null;
    },

    renew(leases: Iterable<HostLease>, until: number): void {
      for (const lease of leases) {
        if (extend.run(until, lease.hostId, session.owner, lease.fence).changes === 1) lease.until = until;
        if (turns.isWanted(session, lease.hostId)) lease.isWanted = true;
      }
      session.window.commit();
    },

    /** Another session has taken the host: what was in flight there waits again. */
    lose(hostId: number): void {
      session.held.delete(hostId);
      session.retrying.delete(hostId);
      const lost = putBack.all(session.projectId, hostId) as { id: number; priority: number }[];
      for (const { id, priority } of lost) waiting.add(hostId, priority, id);
      addWaiting(session, hostId, lost.length);
    },

    isHeld: holds,

    claim(lease: HostLease, count: number, now: number): ClaimAnswer {
      if (!holds(lease)) return { claims: [], nextRetryAt: null };
      session.rows.flush();
      // Asked first because it is almost always null: SQLite plans the range query anew for every value bound to it.
      const retryAt = session.retrying.has(lease.hostId) ? nextRetryOf(lease) : null;
      if (retryAt === null) session.retrying.delete(lease.hostId);
      const isDue = retryAt !== null && retryAt <= now;
      const rows = isDue ? (due.all(session.projectId, lease.hostId, now, count) as ClaimValues[]) : [];
      for (const [pageId] of rows) setState.run(Fetching, pageId);
      const find = session.isFirstRun ? ifWaitingFirst : ifWaiting;
      if (rows.length < count) {
        waiting.claim(lease.hostId, count - rows.length, (pageId) => {
          const row = find.get(pageId) as ClaimValues | undefined;
          if (row === undefined) return false;
          // At once, because an id may stand in the queue twice.
          setState.run(Fetching, pageId);
          rows.push(row);
          return true;
        });
      }
      if (rows.length === 0) {
        if (retryAt === null) setNoneWaiting(lease.hostId);
        return { claims: [], nextRetryAt: retryAt };
      }
      addWaiting(session, lease.hostId, -rows.length);
      session.window.touch();
      return { claims: rows.map((row) => claimOf(row, lease.host, readHashes)), nextRetryAt: null };
    },

    unclaim(lease: HostLease, claims: Claim[]): void {
      if (!holds(lease)) return;
      for (const claim of claims) {
        setState.run(Queued, claim.pageId);
        waiting.add(lease.hostId, claim.priority, claim.pageId);
      }
      addWaiting(session, lease.hostId, claims.length);
      session.window.touch();
    },

    release(lease: HostLease): void {
      session.dirtyHosts.add(lease);
      give.run(lease.hostId, lease.fence);
      session.window.touch();
      if (!holds(lease)) return;
      session.held.delete(lease.hostId);
      session.retrying.delete(lease.hostId);
      turns.giveBack(session, lease.hostId);
    },
  };
}

/** Ours until somebody takes them: they are renewed, not taken anew. */
function expiredOf({ held }: Session, now: number): number[] {
  const hosts: number[] = [];
  for (const { hostId, until } of held.values()) if (until <= now) hosts.push(hostId);
  return hosts;
}

function claimOf(values: ClaimValues, host: string, readHashes: ReturnType<typeof createHashReader>): Claim {
  const pageId = values[0];
  const url = values[1];
  const isVisited = values[LAST_VISIT_AT] !== null;
  return {
    pageId,
    url,
    fetchUrl: values[2] ?? url,
    host,
    depth: values[3],
    priority: values[4],
    attempts: values[5],
    hops: values[6],
    last: isVisited ? new LastVisitView(values, LAST_VISIT_AT, pageId, readHashes) : null,
  };
}
