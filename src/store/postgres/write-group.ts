/**
 * Settling, the second half: one group becomes one transaction, behind that of its new URLs (make-urls.ts). First the
 * leases: what was settled under one that was lost is dropped whole. Then everything that was found, then the queues. Each
 * of these is sent in one go: a crawler at work hears of an answer only after the pages that came in meanwhile.
 *
 * Safe to repeat: the worker's row counts the groups it has committed, so that a commit whose answer got lost is not
 * written twice.
 */
import type { TransactionSql } from 'postgres';
import { sumiError } from '../../errors.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { HostLease } from '../host-port.ts';
import type { Settled } from '../settlement.ts';
import {
  applyEffects,
  countWaiting,
  type Effects,
  hasWorkForOthers,
  lockQueues,
  newEffects,
  writeWaiting,
} from './effects.ts';
import type { Group, PendingSettlement, Resolved } from './group.ts';
import { addLowering, lower, reopen } from './offers.ts';
import { lockOurs } from './our-hosts.ts';
import { type Columns, packed, unpacked } from './pack-columns.ts';
import { hasWitnesses } from './prepare-group.ts';
import { openRedirectBook } from './redirects.ts';
import { ask, findByKey, recordset, rowsJson, type Session, together } from './session.ts';
import {
  notifyWork,
  writeFacts,
  writeHosts,
  writeLinks,
  writeRequests,
  writeRobots,
  writeTexts,
} from './write-rows.ts';
import { writePageChanges, writeTouches, writeVisits } from './write-visits.ts';

const { Queued, Processed } = PAGE_STATES;

export async function writeGroup(session: Session, group: Group): Promise<void> {
  if (isWritten(group)) return;
  const outcome = await session.attempt(
    () => session.writer.begin((tx) => writeAll(tx, session, group)) as Promise<Written>,
  );
  session.confirmedGroup = group.number;
  forgetWritten(session, group);
  for (const lease of outcome.lost) {
    if (session.held.get(lease.hostId)?.lease.fence === lease.fence) session.held.delete(lease.hostId);
  }
  if (outcome.isRepeat) for (const { waiting } of session.held.values()) waiting.clear();
  applyEffects(session, outcome.effects);
}

/** A server that took over, or crashed, may not have what it had written: what is remembered of it is no good any more. */
function lostCommits({ label, hosts }: Session, what: string): Error {
  hosts.forget();
  return sumiError('store-lost-commits', { store: label, what });
}

/** It brought nothing but new URLs: those of the start. */
function isWritten(group: Group): boolean {
  const { candidates, resolved, rows, robots } = group;
  const rest = [rows.requests.count, robots.length, shorterPaths(group).size, leasesOf(group).size];
  return candidates.length > 0 && rest.every((size) => size === 0) && resolved.every(({ isNew }) => isNew);
}

/** The database knows of what is in flight, and of what is settled. */
function forgetWritten({ held }: Session, { number, inFlight, settlements }: Group): void {
  for (const { mark } of inFlight) mark.isTold = true;
  for (const { claim, lease } of settlements) {
    const unwritten = held.get(lease.hostId)?.unwritten;
    // It may have been settled once more since.
    if (unwritten?.get(claim.pageId) === number) unwritten.delete(claim.pageId);
  }
}

/** Nothing more comes into the group. Pages in flight now are told, so that they are not found waiting. */
export function closeGroup(session: Session, group: Group): void {
  for (const { lease, inFlight } of session.held.values())
    for (const [pageId, mark] of inFlight) if (!mark.isTold) group.inFlight.push({ pageId, lease, mark });
}

interface Written {
  effects: Effects;
  lost: HostLease[];
  /** It was committed before, and only the answer got lost. */
  isRepeat: boolean;
}

// Of a worker that began no run, there is no row yet.
const CONFIRMED = 'SELECT last_group FROM worker WHERE id = $1';
const COUNT_GROUP = `
INSERT INTO worker AS w (id, process, run_id, started_at, seen_at, last_group, pages) VALUES ($1, '', $5, $3, $3, $2, $4)
ON CONFLICT (id) DO UPDATE SET last_group = excluded.last_group, seen_at = excluded.seen_at,
  pages = w.pages + excluded.pages, permits = greatest(0, w.permits - excluded.pages)
WHERE w.last_group < excluded.last_group RETURNING id`;
// Asked for its state here, a page would be looked for in the index of what waits, where all that has waited stands until
// the next vacuum.
const MARK_IN_FLIGHT = `
UPDATE url u SET state = CASE u.state WHEN ${Queued} THEN ${PAGE_STATES.Fetching} ELSE u.state END,
  retry_at = CASE u.state WHEN ${Queued} THEN NULL ELSE u.retry_at END
FROM ${recordset(1, 'i int, h int', 'r')} WHERE u.id = r.i AND u.host_id = r.h`;
const GIVE_BACK = `
UPDATE url u SET state = ${Queued}, retry_at = NULL FROM ${recordset(1, 'i int, h int', 'r')}
WHERE u.id = r.i AND u.host_id = r.h AND u.state IN (1, 2)`;
const COUNT_RUN = `
UPDATE run SET pages = pages + $2, bytes = bytes + $3, requests = requests + $4 WHERE id = $1`;

async function writeAll(tx: TransactionSql, session: Session, group: Group): Promise<Written> {
  const effects = newEffects();
  const { resolved } = group;
  const leases = leasesOf(group);
  const pageOf = (target: number): number => (target > 0 ? target : resolved[~target].id);
  const now = Math.round(session.clock.now());
  const [, [confirmed], counted, isOurs, hasAll] = await together([
    findByKey(tx),
    ask<{ last_group: number }>(tx, CONFIRMED, [session.owner]),
    ask(tx, COUNT_GROUP, [session.owner, group.number, now, countPages(group.settlements), session.runId]),
    lockOurs(tx, leases),
    hasWitnesses(tx, group.witnesses),
  ]);
  if ((confirmed?.last_group ?? 0) < session.confirmedGroup)
    throw lostCommits(session, 'pages that were stored before');
  if (!hasAll) throw lostCommits(session, 'URLs that pages link to');
  if (counted.length === 0) return recallGroup(tx, group);
  const lost = [...leases].filter((lease) => !isOurs(lease));
  const settlements = group.settlements.filter(({ lease, isSuperseded }) => !isSuperseded && isOurs(lease));
  const visited = writeVisited(tx, session, group, settlements);
  const opened = reopen(tx, group.candidates, resolved, effects);
  const linked = writeLinks(tx, session, settlements, group.links, resolved);
  const lowered = lower(tx, session, shorterPaths(group), effects);
  // Behind what lowers depths: pages answer with theirs, and where chains lead to may have been opened by it.
  const settled = settlePages(tx, session, settlements, { pageOf, effects, lowered });
  await together([visited, opened, linked, lowered, settled]);
  const writes: Promise<unknown>[] = [
    lockQueues(
      tx,
      effects,
      [...leases].map(({ hostId }) => hostId),
    ),
    writeHosts(tx, session, group, isOurs),
    writeWaiting(tx, session, effects),
  ];
  const pageKeys = (pages: { pageId: number; lease: HostLease }[]) =>
    pages.filter(({ lease }) => isOurs(lease)).map(({ pageId, lease }) => ({ i: pageId, h: lease.hostId }));
  const marked = pageKeys(group.inFlight);
  const unclaimed = pageKeys(group.unclaimed);
  if (unclaimed.length > 0) writes.push(ask(tx, GIVE_BACK, [rowsJson(unclaimed)]));
  if (marked.length > 0) writes.push(ask(tx, MARK_IN_FLIGHT, [rowsJson(marked)]));
  if (hasWorkForOthers(session, effects) || group.released.length > 0) writes.push(notifyWork(tx, session));
  // Last, because every worker of the run waits for this row.
  const counts = [session.runId, countPages(settlements), group.bytes, group.rows.requests.count];
  await together([...writes, ask(tx, COUNT_RUN, counts)]);
  return { effects, lost, isRepeat: false };
}

/** What names no other page. */
async function writeVisited(
  tx: TransactionSql,
  session: Session,
  group: Group,
  settlements: PendingSettlement[],
): Promise<void> {
  const { rows } = group;
  const kept = new Set(settlements);
  const dropped = group.settlements.filter((pending) => !kept.has(pending));
  const leftOut = (place: 'factsPlace' | 'visitPlace' | 'textPlace') =>
    dropped.map((pending) => pending[place]).filter((at) => at > 0);
  await together([
    writeFacts(tx, rows, leftOut('factsPlace')),
    writeTouches(tx, session, settlements),
    writeVisits(tx, session, rows, leftOut('visitPlace')),
    writePageChanges(tx, session, settlements),
    writeTexts(tx, rows, leftOut('textPlace'), settlements),
    writeRequests(tx, session, rows),
    writeRobots(tx, group.robots),
  ]);
}

function countPages(settlements: PendingSettlement[]): number {
  return settlements.reduce((sum, { countsAsPage }) => sum + (countsAsPage ? 1 : 0), 0);
}

function leasesOf(group: Group): Set<HostLease> {
  const leases = new Set(group.dirtyHosts);
  for (const { lease } of group.settlements) leases.add(lease);
  for (const { lease } of group.unclaimed) leases.add(lease);
  for (const { lease } of group.inFlight) leases.add(lease);
  for (const lease of group.released) leases.add(lease);
  return leases;
}

/** Known pages to which a shorter path was found: remembered ones, and those that turned out to be known. */
function shorterPaths(group: Group): Map<number, number> {
  const { candidates, resolved } = group;
  const shorter = new Map(group.shorter);
  for (let i = 0; i < candidates.length; i++) {
    const { shorterDepth } = candidates[i];
    const page: Resolved | undefined = resolved[i];
    if (page === undefined || shorterDepth >= page.depth) continue;
    shorter.set(page.id, Math.min(shorterDepth, shorter.get(page.id) ?? shorterDepth));
  }
  return shorter;
}

interface SettledRow {
  id: number;
  hostId: number;
  depth: number;
  hops: number;
}

const PAGES: Columns = [
  ['i', 'int4'],
  ['h', 'int4'],
  ['s', 'int2'],
  ['r', 'text'],
  ['a', 'int4'],
  ['t', 'int8'],
  ['p', 'int4'],
];
const SET_PAGES = `
UPDATE url u SET state = r.s, reason = r.r, attempts = r.a, retry_at = r.t, priority = COALESCE(r.p, u.priority),
  rank = COALESCE(r.p, u.priority)
FROM ${unpacked(1, PAGES, 'r')}
WHERE u.id = r.i AND u.host_id = r.h
RETURNING u.id, u.host_id AS "hostId", u.depth, u.hops`;

const SET_ADDRESSES = `
UPDATE url u SET fetch_url = r.f FROM ${recordset(1, 'i int, h int, f text', 'r')} WHERE u.id = r.i AND u.host_id = r.h`;

const LEAVE_OUT = `
WITH left_out AS (UPDATE url u SET state = u.known_state, reason = u.known_reason, left_run = $2, left_reason = u.reason
  FROM ${recordset(1, 'i int, h int', 'r')} WHERE u.id = r.i AND u.host_id = r.h AND u.known_state IS NOT NULL RETURNING 1)
UPDATE run SET left_out = left_out + (SELECT count(*)::int FROM left_out) WHERE id = $2`;

/** Pages that nobody was asked for are what they were, where that is known. */
async function leaveOut(
  tx: TransactionSql,
  { runId }: Session,
  settlements: readonly PendingSettlement[],
): Promise<void> {
  const rows = settlements
    .filter(({ isUnasked }) => isUnasked)
    .map(({ claim, lease }) => ({ i: claim.pageId, h: lease.hostId }));
  if (rows.length > 0) await ask(tx, LEAVE_OUT, [rowsJson(rows), runId]);
}

const hasMoved = ({ claim, state }: PendingSettlement) => claim.isMoved === true && state === Processed;

/** Of pages that have moved to another spelling of their address. */
async function setAddresses(tx: TransactionSql, settlements: readonly PendingSettlement[]): Promise<void> {
  const rows = settlements
    .filter(hasMoved)
    .map(({ claim, lease }) => ({ i: claim.pageId, h: lease.hostId, f: claim.fetchUrl }));
  await ask(tx, SET_ADDRESSES, [rowsJson(rows)]);
}

/** What the parts of one group know of each other while it is written. */
interface GroupUnderWay {
  pageOf: (target: number) => number;
  effects: Effects;
  /** Resolves when depths are lowered. */
  lowered: Promise<void>;
}

/** States of the pages themselves, and of the redirects that led to them. */
async function settlePages(
  tx: TransactionSql,
  session: Session,
  settlements: PendingSettlement[],
  { pageOf, effects, lowered }: GroupUnderWay,
): Promise<void> {
  if (settlements.length === 0) return;
  settlements.forEach((pending) => {
    pending.settled = answerOf(pending, pageOf);
  });
  // Before chains are ended with the addresses of their pages.
  if (settlements.some(hasMoved)) await setAddresses(tx, settlements);
  if (settlements.some(isOfChain)) await lowered;
  await settleChains(tx, settlements, pageOf, effects);
  const written = await ask<SettledRow>(tx, SET_PAGES, packed(tx, PAGES, settlements.map(pageRow)));
  if (written.length < settlements.length) throw lostCommits(session, 'pages that were requested');
  await leaveOut(tx, session, settlements);
  countSettled(effects, settlements);
  const byPage = new Map(settlements.map((pending) => [pending.claim.pageId, pending]));
  const isClosedChain = (row: SettledRow) => row.hops > 0 && byPage.get(row.id)!.requeue === null;
  const late = written.filter(isClosedChain).map(({ id }) => byPage.get(id)!);
  // A chain was hung on the page, by another worker, after it was claimed.
  if (late.length > 0) await settleChains(tx, late, pageOf, effects, true);
  // A shorter path to the page was found after its links were offered, by whomever: they were offered too deep.
  const deeper = written.filter(({ id, depth }) => depth < byPage.get(id)!.depth);
  if (deeper.length > 0) await addLowering(tx, session, deeper, effects);
}

const isOfChain = ({ claim, redirect }: PendingSettlement) => redirect !== null || claim.hops > 0;

function pageRow({ claim, lease, requeue, settled }: PendingSettlement): object {
  return {
    i: claim.pageId,
    h: lease.hostId,
    s: settled!.state,
    r: settled!.reason,
    a: requeue?.attempts ?? claim.attempts,
    t: requeue?.notBefore ?? null,
    p: requeue?.priority ?? null,
  };
}

function countSettled(effects: Effects, settlements: PendingSettlement[]): void {
  for (const { lease, requeue } of settlements) if (requeue === null) countWaiting(effects, lease.hostId, -1);
}

function answerOf(pending: PendingSettlement, pageOf: (target: number) => number): Settled {
  const { state, reason, offered } = pending;
  return { state, reason, candidateIds: offered.map(pageOf), failedSources: [] };
}

async function settleChains(
  tx: TransactionSql,
  settlements: PendingSettlement[],
  pageOf: (target: number) => number,
  effects: Effects,
  isLate = false,
): Promise<void> {
  const pages: number[] = [];
  for (const { claim, redirect, requeue } of settlements) {
    if (redirect !== null && !isLate) pages.push(claim.pageId, pageOf(redirect.candidate));
    else if (requeue === null && (claim.hops > 0 || isLate)) pages.push(claim.pageId);
  }
  if (pages.length === 0) return;
  const book = await openRedirectBook(tx, pages);
  for (const { claim, redirect, requeue, settled } of settlements) {
    if (requeue !== null || !book.has(claim.pageId)) continue;
    if (redirect !== null && !isLate) {
      const result = book.redirect(claim.pageId, pageOf(redirect.candidate), redirect.maxHops);
      Object.assign(settled!, { state: result.state, reason: result.reason, failedSources: result.failed });
    } else settled!.failedSources = book.settled(claim.pageId, settled!.state, settled!.reason);
  }
  await book.write(tx, effects);
}

/** The group was committed before: only what it led to is looked up. */
async function recallGroup(tx: TransactionSql, group: Group): Promise<Written> {
  const { resolved } = group;
  const pages = group.settlements.map(({ claim }) => claim.pageId);
  const rows = await ask<{ id: number; state: Settled['state']; reason: string | null }>(
    tx,
    'SELECT id, state, reason FROM url WHERE id = ANY($1::int[])',
    [pages],
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const pending of group.settlements) {
    const row = byId.get(pending.claim.pageId);
    if (row === undefined) continue;
    // What a lost host's page offered may have been left out.
    const candidateIds = pending.offered.map((to) => (to > 0 ? to : (resolved[~to]?.id ?? 0)));
    pending.settled = { state: row.state, reason: row.reason, candidateIds, failedSources: [] };
  }
  return { effects: newEffects(), lost: [], isRepeat: true };
}
