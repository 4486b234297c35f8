/**
 * Offering: a URL that nobody knew gets a row (make-urls.ts), a known one keeps the shallower depth. Gathering asks nothing:
 * what the worker remembers is known at once, the rest is found out when the group is prepared. A page whose depth falls while it
 * was shut out by depth or nofollow is judged again; one that was already read passes the news on to its links later, in
 * bounded batches (`lowerDepths`), never inside a settlement.
 */
import type { TransactionSql } from 'postgres';
import type { Candidate } from '../../frontier/candidate.ts';
import { PAGE_STATES, type PageStateCode, SHUT_OUT } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import { NO_DEPTH, UNFOLLOWED } from '../settlement.ts';
import { lastVisitOf, type StoredLastVisit } from '../visit-rows.ts';
import { applyEffects, type Effects, lockQueues, newEffects, queueEffect, writeWaiting } from './effects.ts';
import type { Group, PendingCandidate, Resolved } from './group.ts';
import { LAST_COLUMNS, lastJoins } from './last-visit.ts';
import { ask, findByKey, recordset, rowsJson, type Session, together, transaction } from './session.ts';

const { Queued, Processed, Skipped, DepthExceeded } = PAGE_STATES;

/** Gathers a candidate. Answers the page's id, or ~i for the group's candidate i. */
export function gather(
  session: Session,
  group: Group,
  candidate: Candidate,
  referrerId: number | null,
  closerBy: number,
): number {
  // Judged at the depth it was found at; one that was shut out there is judged anew where it really is.
  const depth = candidate.onlyNofollow ? NO_DEPTH : candidate.depth;
  const shorterDepth = candidate.onlyNofollow ? NO_DEPTH : Math.max(0, candidate.depth - closerBy);
  const reopenPriority = reopenPriorityOf(candidate);
  const knownId = session.known.find(candidate.url);
  if (knownId !== 0 && reopenPriority === null) {
    noteShorter(session, group, knownId, shorterDepth);
    return knownId;
  }
  const place = group.byUrl.get(candidate.url);
  if (place === undefined) {
    checkTransition('found', PAGE_STATES.Discovered, candidate.state);
    const next = group.candidates.length;
    group.byUrl.set(candidate.url, next);
    group.candidates.push({ candidate, depth, shorterDepth, referrerId, reopenPriority });
    return ~next;
  }
  const pending = group.candidates[place];
  pending.shorterDepth = Math.min(pending.shorterDepth, shorterDepth);
  pending.reopenPriority ??= reopenPriority;
  return ~place;
}

/** Null where a known page stays shut out. */
export function reopenPriorityOf({ reopens, state, priority }: Candidate): number | null {
  return reopens === true && state === Queued ? priority : null;
}

/** A path of this length leads to a known page: worth a look in the database if it may be the shortest. */
export function noteShorter(session: Session, group: Group, pageId: number, depth: number): void {
  if (depth >= (session.known.depthOf(pageId) ?? NO_DEPTH + 1)) return;
  const noted = group.shorter.get(pageId);
  if (noted === undefined || depth < noted) group.shorter.set(pageId, depth);
}

/** Start URLs, redirects and sitemaps may lead where links may not. */
export async function reopen(
  tx: TransactionSql,
  candidates: readonly PendingCandidate[],
  resolved: readonly (Resolved | undefined)[],
  effects: Effects,
): Promise<void> {
  const rows = reopened(candidates, resolved);
  if (rows.length > 0) await setVerdicts(tx, rows, effects);
}

function reopened(
  candidates: readonly PendingCandidate[],
  resolved: readonly (Resolved | undefined)[],
): VerdictRow[] {
  const rows: VerdictRow[] = [];
  for (let i = 0; i < candidates.length; i++) {
    const { candidate, reopenPriority } = candidates[i];
    if (reopenPriority === null) continue;
    const page = resolved[i];
    if (page === undefined || !SHUT_OUT.has(page.state)) continue;
    rows.push({ i: page.id, h: page.hostId, s: Queued, p: reopenPriority, r: null, name: candidate.host });
  }
  return rows;
}

interface VerdictRow {
  i: number;
  h: number;
  s: PageStateCode;
  p: number;
  r: string | null;
  name: string;
}

interface JudgedRow extends StoredLastVisit {
  id: number;
  hostId: number;
  url: string;
  fetchUrl: string | null;
  depth: number;
  attempts: number;
  hops: number;
}

const SET_VERDICTS = `
UPDATE url u SET state = v.s, priority = v.p, rank = v.p, reason = v.r
FROM ${recordset(1, 'i int, h int, s smallint, p int, r text', 'v')} ${lastJoins('v.i', 'v.h')}
WHERE u.id = v.i AND u.host_id = v.h AND u.state IN (${[...SHUT_OUT]})
RETURNING u.id, u.host_id AS "hostId", u.url, u.fetch_url AS "fetchUrl", u.depth, u.attempts, u.hops, ${LAST_COLUMNS}`;

async function setVerdicts(tx: TransactionSql, rows: VerdictRow[], effects: Effects): Promise<void> {
  const byId = new Map(rows.map((row) => [row.i, row]));
  for (const row of await ask<JudgedRow>(tx, SET_VERDICTS, [rowsJson(rows)])) {
    const verdict = byId.get(row.id)!;
    if (verdict.s !== Queued) continue;
    const { id: pageId, hostId, url, fetchUrl, depth, attempts, hops } = row;
    const page = { pageId, url, fetchUrl, depth, attempts, hops, last: lastVisitOf(row) };
    queueEffect(effects, hostId, { ...page, rank: verdict.p, priority: verdict.p });
    effects.woken.add(verdict.name);
  }
}

interface LoweredRow {
  id: number;
  hostId: number;
  host: string;
  was: number;
  depth: number;
  state: PageStateCode;
  url: string;
  fetchUrl: string | null;
  /**
   * It was read, in this run or before: where its next visit finds nothing changed, nobody will tell its links. What had
   * vanished leads nowhere, and is read whole when it is back.
   */
  leadsOn: boolean;
}

const LOWER = `
WITH v AS (SELECT * FROM ${recordset(1, 'i int, d int', 'v')}),
  o AS (SELECT u.id, u.host_id, u.depth AS was, v.d FROM v JOIN url u ON u.id = v.i AND u.depth > v.d
    ORDER BY u.id FOR UPDATE OF u)
UPDATE url u SET depth = o.d FROM o WHERE u.id = o.id AND u.host_id = o.host_id
RETURNING u.id, u.host_id AS "hostId", (SELECT h.name FROM host h WHERE h.id = u.host_id) AS host, o.was, o.d AS depth,
  u.state, u.url, u.fetch_url AS "fetchUrl", u.state = ${Processed} OR EXISTS (
    SELECT 1 FROM link_set l LEFT JOIN fetched f ON f.page_id = l.page_id AND f.host_id = l.host_id
    WHERE l.page_id = u.id AND l.host_id = u.host_id AND COALESCE(f.status_code, 0) NOT IN (404, 410)) AS "leadsOn"`;
const ADD_LOWERING = `
INSERT INTO lowering (page_id, host_id, project_id) SELECT i, h, $2 FROM ${recordset(1, 'i int, h int', 'r')}
ORDER BY i ON CONFLICT DO NOTHING`;

/** Gives pages their shorter depths. Those that were read tell their links later; those shut out by it are judged. */
export async function lower(
  tx: TransactionSql,
  session: Session,
  shorter: ReadonlyMap<number, number>,
  effects: Effects,
): Promise<void> {
  if (shorter.size === 0) return;
  const wanted = [...shorter].map(([i, d]) => ({ i, d }));
  const rows = await ask<LoweredRow>(tx, LOWER, [rowsJson(wanted)]);
  for (const [id, depth] of shorter) effects.shortest.push({ id, depth });
  for (const { id, hostId, depth } of rows) effects.lowered.push({ id, hostId, depth });
  const read = rows.filter(({ leadsOn }) => leadsOn);
  if (read.length > 0) await addLowering(tx, session, read, effects);
  const verdicts: VerdictRow[] = [];
  for (const { id, hostId, host, was, depth, state, url, fetchUrl } of rows) {
    if (state !== DepthExceeded && !(was === NO_DEPTH && state === Skipped)) continue;
    const row = { url, fetchUrl: fetchUrl ?? url, host, depth, state, reason: null };
    const verdict = session.judgeLowered(row);
    checkTransition('reopened', state, verdict.state);
    verdicts.push({ i: id, h: hostId, s: verdict.state, p: verdict.priority, r: verdict.reason, name: host });
  }
  if (verdicts.length > 0) await setVerdicts(tx, verdicts, effects);
}

/** Pages whose links must hear of a lowered depth. */
export async function addLowering(
  tx: TransactionSql,
  session: Session,
  pages: readonly { id: number; hostId: number }[],
  effects: Effects,
): Promise<void> {
  const rows = pages.map(({ id, hostId }) => ({ i: id, h: hostId }));
  await ask(tx, ADD_LOWERING, [rowsJson(rows), session.projectId]);
  effects.mayLower = true;
}

interface TellingRow {
  depth: number;
  targets: number[] | null;
  flags: number[] | null;
  redirectTo: number | null;
}

const TAKE_LOWERING = `
WITH taken AS (DELETE FROM lowering WHERE page_id IN (
  SELECT page_id FROM lowering WHERE project_id = $1 ORDER BY page_id LIMIT $2 FOR UPDATE SKIP LOCKED)
  RETURNING page_id, host_id)
SELECT u.depth, l.targets, l.flags, f.redirect_to AS "redirectTo" FROM taken t
JOIN url u ON u.id = t.page_id AND u.host_id = t.host_id
LEFT JOIN link_set l ON l.page_id = t.page_id AND l.host_id = t.host_id
LEFT JOIN fetched f ON f.page_id = t.page_id AND f.host_id = t.host_id`;

/** Passes lowered depths on to the links of some pages. Answers the hosts that got work, or null when there is no more. */
export async function lowerDepths(session: Session, budget: number): Promise<string[] | null> {
  if (session.mayLower) {
    await session.window.flush();
    const { effects, count } = await transaction(session, async (tx) => {
      const effects = newEffects();
      const [, pages] = await together([
        findByKey(tx),
        ask<TellingRow>(tx, TAKE_LOWERING, [session.projectId, budget]),
      ]);
      const shorter = new Map<number, number>();
      const note = (id: number, depth: number) => {
        if (depth < (shorter.get(id) ?? NO_DEPTH + 1)) shorter.set(id, depth);
      };
      for (const { depth, targets, flags, redirectTo } of pages) {
        for (const [i, target] of (targets ?? []).entries())
          if (!((flags?.[i] ?? 0) & UNFOLLOWED)) note(target, depth + 1);
        if (redirectTo !== null) note(redirectTo, depth);
      }
      await lower(tx, session, shorter, effects);
      await lockQueues(tx, effects, []);
      await writeWaiting(tx, session, effects);
      return { effects, count: pages.length };
    });
    session.mayLower = count === budget || effects.mayLower;
    applyEffects(session, effects);
    if (count > 0 && session.woken.size === 0) return [];
  }
  if (session.woken.size === 0) return null;
  const hosts = [...session.woken];
  session.woken.clear();
  return hosts;
}
