/**
 * Hosts are leased, their best waiting pages claimed, and both given back. A lease is a row lock taken with SKIP LOCKED
 * for a moment and a name with a time for as long as it holds: no two workers can have one, and none waits for another.
 * Claims are served from memory while the lease holds.
 */
import type { TransactionSql } from 'postgres';
import type { Claim } from '../../frontier/candidate.ts';
import type { ClaimAnswer } from '../frontier-port.ts';
import type { HostLease, StoredRobots } from '../host-port.ts';
import { type HostRow, leaseOf } from '../host-row.ts';
import { lastVisitOf } from '../visit-rows.ts';
import type { WaitingRow } from './queue-head.ts';
import { WITH_LAST, WITHOUT_LAST } from './read-heads.ts';
import {
  ask,
  type Holding,
  handedOver,
  holds,
  newHolding,
  recordset,
  rememberRobots,
  rowsJson,
  type Session,
  transaction,
} from './session.ts';
import type { EntryDate, WaitingPage } from './waiting-pages.ts';
import { LATE_MS, MARK_GAPS, PUT_BACK } from './workers.ts';

const COLUMNS = `h.id, h.name, h.not_before, h.blocked_until, h.consecutive_429, h.adaptive_ms, h.average_ms, h.samples,
  h.failures, h.probes, h.distrusted_until, h.announced, h.unannounced, h.head_checks, h.fence, h.taken_over,
  h.lease_owner,
  COALESCE(q.requests, 0) AS requests, q.closed_state, q.closed_reason`;
// A lease of its own that ran out is renewed, not taken anew.
const FREE_HOSTS = `
SELECT ${COLUMNS} FROM host_queue q JOIN host h ON h.id = q.host_id
WHERE q.project_id = $1 AND q.waiting > 0 AND q.leased_until <= $2
  AND (h.lease_owner IS NULL OR (h.lease_until <= $2 AND h.lease_owner <> $4))
ORDER BY q.ready_at, q.host_id LIMIT $3 FOR NO KEY UPDATE OF h SKIP LOCKED`;
const HOST_BY_NAME = `
SELECT ${COLUMNS} FROM host h LEFT JOIN host_queue q ON q.host_id = h.id AND q.project_id = $1
WHERE h.name = $3 AND (h.lease_owner IS NULL OR h.lease_until <= $2) FOR NO KEY UPDATE OF h SKIP LOCKED`;
const TAKE = `
UPDATE host SET lease_owner = $1, lease_until = $2, fence = fence + 1, taken_over = 0 WHERE id = ANY($3::int[])`;
const TAKE_QUEUES = `
WITH locked AS (SELECT host_id, project_id FROM host_queue WHERE host_id = ANY($2::int[])
  ORDER BY host_id, project_id FOR NO KEY UPDATE)
UPDATE host_queue q SET leased_until = $1 FROM locked l WHERE q.host_id = l.host_id AND q.project_id = l.project_id`;
const ROBOTS = `
SELECT host_id AS "hostId", origin, status, body, fetched_at AS "fetchedAt", expires_at AS "expiresAt", delay_seconds AS "delaySeconds"
FROM robots_txt WHERE host_id = ANY($1::int[])`;

/** Leases up to `count` hosts with pages waiting. */
export async function lease(
  session: Session,
  count: number,
  now: number,
  leaseMs: number,
): Promise<HostLease[]> {
  await session.window.flush();
  return takeAll(session, now, leaseMs, (tx) =>
    ask<HostRow>(tx, FREE_HOSTS, [session.projectId, Math.round(now), count, session.owner]),
  );
}

export async function leaseHost(
  session: Session,
  host: string,
  now: number,
  leaseMs: number,
): Promise<HostLease | null> {
  await session.window.flush();
  const [taken] = await takeAll(session, now, leaseMs, async (tx) => {
    await session.hosts.ensure(tx, [host]);
    return ask<HostRow>(tx, HOST_BY_NAME, [session.projectId, Math.round(now), host]);
  });
  return taken ?? null;
}

async function takeAll(
  session: Session,
  now: number,
  leaseMs: number,
  find: (tx: TransactionSql) => Promise<HostRow[]>,
): Promise<HostLease[]> {
  const until = Math.round(now + leaseMs);
  const { rows, robots } = await transaction(session, async (tx) => {
    const rows = await find(tx);
    if (rows.length === 0) return { rows, robots: [] };
    const ids = rows.map(({ id }) => id);
    const abandoned = rows.filter(({ lease_owner }) => lease_owner !== null).map(({ id }) => id);
    const isTakeover = abandoned.length > 0;
    const [robots] = await Promise.all([
      ask<StoredRobots & { hostId: number }>(tx, ROBOTS, [ids]),
      ask(tx, TAKE, [session.owner, until, ids]),
      ask(tx, TAKE_QUEUES, [until, ids]),
      isTakeover ? ask(tx, PUT_BACK, [abandoned]) : null,
      isTakeover ? ask(tx, MARK_GAPS, [session.runId, abandoned, Math.round(now)]) : null,
    ]);
    return { rows, robots };
  });
  const robotsOf = new Map(rows.map(({ id }) => [id, [] as StoredRobots[]]));
  for (const { hostId, ...stored } of robots) {
    rememberRobots(session, stored);
    robotsOf.get(hostId)!.push(stored);
  }
  session.hosts.remember(new Map(rows.map(({ name, id }) => [name, id])));
  return rows.map((row) => {
    const taken = leaseOf(row, until);
    session.offsets.set(taken, session.clock.offset);
    taken.state.notBefore = handedOver(session, taken, row.not_before);
    taken.state.blockedUntil = handedOver(session, taken, row.blocked_until);
    session.held.set(taken.hostId, newHolding(taken, robotsOf.get(taken.hostId)!));
    return taken;
  });
}

const EXTEND = `
UPDATE host SET lease_until = $3 FROM ${recordset(1, 'h int, f bigint', 'r')}
WHERE host.id = r.h AND host.fence = r.f AND host.lease_owner = $2 RETURNING host.id`;

// A project that waits for the host while another has pages for days would wait as long.
const WANTED_BY_OTHERS = `
SELECT DISTINCT q.host_id AS id FROM host_queue q JOIN run r ON r.project_id = q.project_id AND r.status = 'running'
JOIN worker w ON w.run_id = r.id AND w.ended_at IS NULL AND w.seen_at > $3
WHERE q.host_id = ANY($1::int[]) AND q.project_id <> $2 AND q.waiting > 0`;

export async function renew(session: Session, leases: Iterable<HostLease>, until: number): Promise<void> {
  const asked = new Map([...leases].map((each) => [each.hostId, each]));
  if (asked.size === 0) return;
  const rows = [...asked.values()].map(({ hostId, fence }) => ({ h: hostId, f: fence }));
  rows.sort((a, b) => a.h - b.h);
  const now = Math.round(session.clock.now());
  const { renewed, wanted } = await transaction(session, async (tx) => {
    const renewed = await ask<{ id: number }>(tx, EXTEND, [rowsJson(rows), session.owner, Math.round(until)]);
    const ids = renewed.map(({ id }) => id);
    const [wanted] = await Promise.all([
      ask<{ id: number }>(tx, WANTED_BY_OTHERS, [ids, session.projectId, now - LATE_MS]),
      ask(tx, TAKE_QUEUES, [Math.round(until), ids]),
    ]);
    return { renewed, wanted };
  });
  for (const { id } of wanted) asked.get(id)!.isWanted = true;
  for (const { id } of renewed) {
    asked.get(id)!.until = until;
    asked.delete(id);
  }
  // Somebody else has them by now.
  for (const [hostId, { fence }] of asked)
    if (session.held.get(hostId)?.lease.fence === fence) session.held.delete(hostId);
}

/** So many waiting pages are in memory of all hosts that take several at once. */
const FAST_PAGES = 8192;
/** Such a host takes hundreds of pages while a group is written: its window is filled again when so few are left. */
const LOW_PAGES = 1024;
/** A few new URLs cost as much to make as many. */
const REFILL_EVERY_MS = 40;
/** A host that must rest anyway lets its pages be told with those of others. */
const LONGEST_WAIT_MS = 200;

const RETRIES = `WHERE u.host_id = $1 AND u.project_id = $2 AND u.state = 1 AND u.retry_at IS NOT NULL
  ORDER BY u.retry_at, u.id LIMIT $3`;

/** Takes the host's best waiting pages: retries that are due first. One at a time, because each may ask the database. */
export function claim(session: Session, lease: HostLease, count: number, now: number): Promise<ClaimAnswer> {
  const holding = holds(session, lease);
  if (holding === null) return Promise.resolve({ claims: [], nextRetryAt: null });
  const answer = holding.lastClaim.then(() => claimNext(session, holding, count, now));
  holding.lastClaim = answer.catch(() => {});
  return answer;
}

async function claimNext(
  session: Session,
  holding: Holding,
  count: number,
  now: number,
): Promise<ClaimAnswer> {
  const { lease } = holding;
  if (holds(session, lease) === null) return { claims: [], nextRetryAt: null };
  const { waiting } = holding;
  if (count > 1) waiting.widen(Math.floor(FAST_PAGES / session.held.size));
  const taken: WaitingPage[] = [];
  const take = (pages: WaitingPage[]) => {
    for (const { pageId } of pages) {
      holding.inFlight.set(pageId, { isTold: false });
      holding.takenMeanwhile?.add(pageId);
    }
    taken.push(...pages);
  };
  for (let isLoaded = false; ; isLoaded = true) {
    if (waiting.nextRetryAt <= now) take(await dueRetries(session, holding, count - taken.length, now));
    take(waiting.take(count - taken.length));
    const isAll = waiting.isWhole && (isLoaded || taken.length > 0);
    if (taken.length === count || isAll) break;
    await load(session, holding);
    if (holds(session, lease) === null) return { claims: [], nextRetryAt: null };
  }
  if (taken.length === 0) {
    const { nextRetryAt } = waiting;
    return { claims: [], nextRetryAt: nextRetryAt === Number.POSITIVE_INFINITY ? null : nextRetryAt };
  }
  session.waiting -= taken.length;
  session.window.touch();
  // Several at once: the host has no delay, and would wait for the database when its window is empty.
  if (count > 1 && waiting.size < Math.min(LOW_PAGES, waiting.window / 2)) refill(session, holding);
  return { claims: taken.map((page) => claimOf(page, lease.host)), nextRetryAt: null };
}

/** Gets more pages before the last are taken, behind the back of whoever claims: what goes wrong is met there again. */
function refill(session: Session, holding: Holding): void {
  const now = session.clock.monotonic();
  if (holding.isRefilling || now - session.refilledAt < REFILL_EVERY_MS) return;
  // Where nothing stands behind the window, only what was found since can fill it.
  const { candidates, resolvedUpTo } = session.window.group;
  if (holding.waiting.isWhole && candidates.length === resolvedUpTo) return;
  session.refilledAt = now;
  holding.isRefilling = true;
  const more = holding.waiting.isWhole ? session.window.ahead() : load(session, holding);
  more
    .catch(() => {})
    .finally(() => {
      holding.isRefilling = false;
    });
}

/** More pages into the window: one load at a time. */
function load(session: Session, holding: Holding): Promise<void> {
  holding.loading ??= loadWindow(session, holding).finally(() => {
    holding.loading = null;
  });
  return holding.loading;
}

async function loadWindow(session: Session, holding: Holding): Promise<void> {
  const { lease, waiting } = holding;
  if (!waiting.isWhole) {
    await readHead(session, holding);
    if (waiting.size > 0) return;
  }
  // Nothing stands behind the window: what was found since comes when it is made, or with a commit.
  const restMs = lease.state.notBefore - session.clock.now();
  const canRest = restMs > LONGEST_WAIT_MS;
  if (!canRest) await Promise.race([session.window.ahead(), waiting.arrival()]);
  if (waiting.size > 0) return;
  const committed = canRest ? session.window.soon(LONGEST_WAIT_MS) : session.window.flush();
  await Promise.race([committed, waiting.arrival()]);
  if (waiting.size > 0) return;
  const counted = await readHead(session, holding);
  const isEmpty = waiting.size === 0 && waiting.nextRetryAt === Number.POSITIVE_INFINITY;
  if (counted > 0 && isEmpty && holding.inFlight.size + holding.unwritten.size === 0)
    await repairCount(session, holding);
}

/** The head of the queue, from the database, which may not know yet what was claimed and settled. Answers what it has counted. */
async function readHead(session: Session, holding: Holding): Promise<number> {
  const { lease, waiting, inFlight, unwritten } = holding;
  const hidden = new Set([...inFlight.keys(), ...unwritten.keys()]);
  holding.takenMeanwhile = hidden;
  waiting.expect();
  const wanted = waiting.window + hidden.size;
  try {
    const { pages, retryAt, counted } = await session.readHead(lease.hostId, wanted);
    const free = pages.filter(({ pageId }) => !hidden.has(pageId)).map(waitingOf);
    waiting.load(free, pages.length < wanted, retryAt, session.clock.monotonic());
    return counted;
  } finally {
    holding.takenMeanwhile = null;
  }
}

async function dueRetries(
  session: Session,
  { lease, waiting, inFlight }: Holding,
  count: number,
  now: number,
): Promise<WaitingPage[]> {
  await session.window.flush();
  const from = session.isFirstRun ? WITHOUT_LAST : WITH_LAST;
  const values = [lease.hostId, session.projectId, count + 1];
  const rows = await session.attempt((sql) => ask<WaitingRow>(sql, `${from} ${RETRIES}`, values));
  const free = rows.filter(({ pageId }) => !inFlight.has(pageId));
  const due = free.filter(({ retry_at }) => retry_at! <= now).slice(0, count);
  waiting.nextRetryAt = free[due.length]?.retry_at ?? Number.POSITIVE_INFINITY;
  return due.map(waitingOf);
}

const LOCK_QUEUE = 'SELECT 1 FROM host_queue WHERE host_id = $1 AND project_id = $2 FOR UPDATE';
const RECOUNT = `
UPDATE host_queue SET waiting = (SELECT count(*) FROM url u
  WHERE u.host_id = $1 AND u.project_id = $2 AND u.state IN (1, 2)) WHERE host_id = $1 AND project_id = $2`;

/** The pages themselves are the truth; a count that says otherwise would offer the host for lease for ever. */
async function repairCount(session: Session, { lease }: Holding): Promise<void> {
  const key = [lease.hostId, session.projectId];
  await transaction(session, async (tx) => {
    // Locked first: whoever adds pages meanwhile adds them to the count after us.
    await ask(tx, LOCK_QUEUE, key);
    await ask(tx, RECOUNT, key);
  });
}

const NO_DATES: readonly EntryDate[] = [];

export function unclaim(session: Session, lease: HostLease, claims: Claim[]): void {
  const holding = holds(session, lease);
  if (holding === null) return;
  for (const { pageId, url, fetchUrl, depth, priority, attempts, hops, last } of claims) {
    const dates = holding.inFlight.get(pageId)?.dates ?? NO_DATES;
    holding.inFlight.delete(pageId);
    session.window.group.unclaimed.push({ pageId, lease });
    const page = { pageId, url, fetchUrl: fetchUrl === url ? null : fetchUrl, depth, attempts, hops, last };
    holding.waiting.queue({ ...page, priority, rank: priority });
    for (const found of dates) holding.waiting.date(pageId, found);
  }
  session.waiting += claims.length;
  session.window.touch();
}

export function release(session: Session, lease: HostLease): void {
  if (holds(session, lease) === null) return;
  session.held.delete(lease.hostId);
  session.window.group.released.push(lease);
  session.window.touch();
}

function waitingOf(row: WaitingRow): WaitingPage {
  const { pageId, rank, priority, url, fetchUrl, depth, attempts, hops } = row;
  return { pageId, rank, priority, url, fetchUrl, depth, attempts, hops, last: lastVisitOf(row) };
}

function claimOf(page: WaitingPage, host: string): Claim {
  const { pageId, url, fetchUrl, depth, priority, attempts, hops, last } = page;
  return { pageId, url, fetchUrl: fetchUrl ?? url, host, depth, priority, attempts, hops, last };
}
