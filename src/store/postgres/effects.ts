/**
 * What a transaction did that memory must learn of, and only once it is committed: a transaction that failed and is
 * tried again starts with new effects.
 */
import type { TransactionSql } from 'postgres';
import { NO_DEPTH } from '../settlement.ts';
import { ask, recordset, rowsJson, type Session } from './session.ts';
import type { WaitingPage } from './waiting-pages.ts';

export interface Effects {
  readonly hostIds: Map<string, number>;
  readonly learned: { url: string; id: number; hostId: number; depth: number }[];
  readonly queued: { hostId: number; page: WaitingPage }[];
  readonly lowered: { id: number; hostId: number; depth: number }[];
  /** Depths that the database has now, or less. */
  readonly shortest: { id: number; depth: number }[];
  /** Waiting pages that a redirect leads to. */
  readonly hurried: { hostId: number; pageId: number; rank: number; hops: number }[];
  /** Hosts that got work other than by a link. */
  readonly woken: Set<string>;
  /** Pages that wait or are in flight, gained or lost by host. */
  readonly waiting: Map<number, number>;
  mayLower: boolean;
}

export function newEffects(): Effects {
  return {
    hostIds: new Map(),
    learned: [],
    queued: [],
    lowered: [],
    shortest: [],
    hurried: [],
    woken: new Set(),
    waiting: new Map(),
    mayLower: false,
  };
}

export function countWaiting(effects: Effects, hostId: number, delta: number): void {
  effects.waiting.set(hostId, (effects.waiting.get(hostId) ?? 0) + delta);
}

/** A page that did not wait waits now. */
export function queueEffect(effects: Effects, hostId: number, page: WaitingPage): void {
  effects.queued.push({ hostId, page });
  countWaiting(effects, hostId, 1);
}

/**
 * The statement that counts pages into the queues of their hosts: `gained`, named g, has a host's id as h and how many as n.
 * A new row repeats what the host's own row says of its lease and clock.
 */
export const countInto = (project: string, gained: string): string => `
INSERT INTO host_queue AS q (project_id, host_id, waiting, ready_at, leased_until)
SELECT ${project}, g.h, g.n, greatest(h.not_before, h.blocked_until), COALESCE(h.lease_until, 0)
FROM ${gained} JOIN host h ON h.id = g.h ORDER BY g.h
ON CONFLICT (host_id, project_id) DO UPDATE SET waiting = q.waiting + excluded.waiting`;

const ADD_WAITING = countInto('$2', recordset(1, 'h int, n int', 'g'));

const LOCK_QUEUES = `
SELECT 1 FROM host_queue WHERE host_id = ANY($1::int[]) ORDER BY host_id, project_id FOR NO KEY UPDATE`;

/** Takes the locks on hosts' queues in one order, so that no two workers ever wait for each other in a ring. */
export async function lockQueues(
  tx: TransactionSql,
  effects: Effects,
  hostIds: Iterable<number>,
): Promise<void> {
  const all = [...new Set([...effects.waiting.keys(), ...hostIds])];
  if (all.length > 0) await ask(tx, LOCK_QUEUES, [all]);
}

/** After `lockQueues`. */
export async function writeWaiting(tx: TransactionSql, session: Session, effects: Effects): Promise<void> {
  const rows = [...effects.waiting].filter(([, n]) => n !== 0).map(([h, n]) => ({ h, n }));
  if (rows.length > 0) await ask(tx, ADD_WAITING, [rowsJson(rows), session.projectId]);
}

/** Whether a host that is not leased here got pages: other workers want to hear of it. */
export function hasWorkForOthers(session: Session, effects: Effects): boolean {
  return effects.queued.some(({ hostId }) => !session.held.has(hostId));
}

export function applyEffects(session: Session, effects: Effects): void {
  session.hosts.remember(effects.hostIds);
  learnAll(session.known, effects.learned);
  for (const { id, hostId, depth } of effects.lowered) {
    session.known.learnPage(id, hostId, depth);
    session.held.get(hostId)?.waiting.lower(id, depth);
  }
  for (const { id, depth } of effects.shortest) {
    const hostId = session.known.hostOf(id);
    if (hostId !== null) session.known.learnPage(id, hostId, Math.min(depth, NO_DEPTH));
  }
  queueAll(session.held, effects.queued);
  for (const { hostId, pageId, rank, hops } of effects.hurried)
    session.held.get(hostId)?.waiting.hurry(pageId, rank, hops);
  for (const host of effects.woken) session.woken.add(host);
  session.waiting += effects.queued.length;
  session.mayLower ||= effects.mayLower;
}

// Apart, because a group may bring thousands: V8 compiles a loop that long for itself, with all that stands around it.
function learnAll(known: Session['known'], learned: Effects['learned']): void {
  for (let i = 0; i < learned.length; i++) {
    const { url, id, hostId, depth } = learned[i];
    known.learn(url, id, hostId, depth);
  }
}

function queueAll(held: Session['held'], queued: Effects['queued']): void {
  for (let i = 0; i < queued.length; i++) {
    const { hostId, page } = queued[i];
    const holding = held.get(hostId);
    // A window that was loaded right after the commit may have brought it before the commit's answer did.
    const { pageId } = page;
    if (holding !== undefined && !holding.inFlight.has(pageId) && !holding.unwritten.has(pageId))
      holding.waiting.queue(page);
  }
}
