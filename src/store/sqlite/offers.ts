/**
 * Offering: a new URL gets an id and a row, a known one keeps the shallower depth. Ids are given at once, rows are
 * written later (page-rows.ts). A page whose depth falls while it was shut out
 * by depth or nofollow is judged again; one that was already read passes the news on to its links later, in bounded
 * batches (`lowerDepths`), never inside a settlement.
 */
import type { Candidate } from '../../frontier/candidate.ts';
import { PAGE_STATES, type PageStateCode, SHUT_OUT } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import { NO_DEPTH, UNFOLLOWED } from '../settlement.ts';
import { unpackNumbers } from './pack-links.ts';
import { addWaiting, type Session } from './session.ts';
import type { WaitingPages } from './waiting-pages.ts';

export interface Offers {
  offer(candidate: Candidate, referrerId: number | null): number;
  /** The same for many, faster. */
  offerAll(candidates: readonly Candidate[], referrerId: number | null): number[];
  lower(pageId: number, depth: number): void;
  lowerDepths(budget: number): string[] | null;
}

interface UrlRow {
  host_id: number;
  state: PageStateCode;
  url: string;
  fetch_url: string | null;
}

export function createOffers(session: Session, waiting: WaitingPages): Offers {
  const { db, rows } = session;
  const read = db.prepare('SELECT host_id, state, url, fetch_url FROM url WHERE id = ?');
  const setDepth = db.prepare('UPDATE url SET depth = ? WHERE id = ?');
  const setVerdict = db.prepare('UPDATE url SET state = ?, priority = ?, reason = ? WHERE id = ?');
  const addLowering = db.prepare('INSERT OR IGNORE INTO lowering VALUES (?)');
  // CROSS JOIN keeps SQLite from reading all pages to find the few that were lowered.
  const takeLowering = db
    .prepare(
      `DELETE FROM lowering WHERE page_id IN (SELECT l.page_id FROM lowering l CROSS JOIN url u ON u.id = l.page_id
         WHERE u.project_id = ? LIMIT ?) RETURNING page_id`,
    )
    .pluck();
  const linksOf = db.prepare('SELECT targets, flags FROM link_set WHERE page_id = ?');
  const hasLinks = db
    .prepare(
      `SELECT 1 FROM link_set l LEFT JOIN fetched f ON f.page_id = l.page_id
       WHERE l.page_id = ? AND COALESCE(f.status_code, 0) NOT IN (404, 410)`,
    )
    .pluck();
  const redirectOf = db.prepare('SELECT redirect_to FROM fetched WHERE page_id = ?').pluck();
  let woken = new Set<string>();
  /** Whether the table of pages to be lowered may have some of this project. */
  let mayLower = true;

  function offer(candidate: Candidate, referrerId: number | null): number {
    return enter(candidate, referrerId, session.known.find(candidate.url));
  }

  function offerAll(candidates: readonly Candidate[], referrerId: number | null): number[] {
    const { known } = session;
    const ids: number[] = [];
    while (ids.length < candidates.length) {
      const from = ids.length;
      const count = known.lookAhead(candidates, from);
      for (let i = 0; i < count; i++) ids.push(enter(candidates[from + i], referrerId, known.findAhead(i)));
    }
    return ids;
  }

  /** `knownId`: what the seen-table has just answered for it. */
  function enter(candidate: Candidate, referrerId: number | null, knownId: number): number {
    const { known } = session;
    const depth = candidate.onlyNofollow ? NO_DEPTH : candidate.depth;
    if (knownId !== 0) {
      if (known.depthOf(knownId) > depth) lower(knownId, depth);
      if (candidate.reopens && candidate.state === PAGE_STATES.Queued) open(knownId, candidate.priority);
      return knownId;
    }
    checkTransition('found', PAGE_STATES.Discovered, candidate.state);
    const hostId = session.hosts.idOf(candidate.host);
    const id = rows.add(session, hostId, candidate, depth, referrerId);
    known.addLast(id, depth);
    if (candidate.state === PAGE_STATES.Queued) {
      waiting.add(hostId, candidate.priority, id);
      addWaiting(session, hostId, 1);
    }
    return id;
  }

  /**
   * It was read, in this run or before: where its next visit finds nothing changed, nobody will tell its links. What had
   * vanished leads nowhere, and is read whole when it is back.
   */
  function leadsOn(state: UrlRow['state'], pageId: number): boolean {
    if (state === PAGE_STATES.Processed) return true;
    return !session.isFirstRun && hasLinks.get(pageId) !== undefined;
  }

  function lower(pageId: number, depth: number): void {
    rows.flush();
    const wasUnreached = session.known.depthOf(pageId) === NO_DEPTH;
    session.known.setDepth(pageId, depth);
    setDepth.run(depth, pageId);
    const row = read.get(pageId) as UrlRow;
    if (leadsOn(row.state, pageId)) {
      addLowering.run(pageId);
      mayLower = true;
    }
    const shutOut =
      row.state === PAGE_STATES.DepthExceeded || (wasUnreached && row.state === PAGE_STATES.Skipped);
    if (!shutOut) return;
    const host = session.hosts.nameOf(row.host_id);
    const fetchUrl = row.fetch_url ?? row.url;
    const verdict = session.judgeLowered({
      url: row.url,
      fetchUrl,
      host,
      depth,
      state: row.state,
      reason: null,
    });
    checkTransition('reopened', row.state, verdict.state);
    setVerdict.run(verdict.state, verdict.priority, verdict.reason, pageId);
    if (verdict.state === PAGE_STATES.Queued) {
      waiting.add(row.host_id, verdict.priority, pageId);
      addWaiting(session, row.host_id, 1);
      woken.add(host);
    }
  }

  /** Start URLs and redirects may lead where links may not. */
  function open(pageId: number, priority: number): void {
    rows.flush();
    const row = read.get(pageId) as UrlRow;
    if (!SHUT_OUT.has(row.state)) return;
    setVerdict.run(PAGE_STATES.Queued, priority, null, pageId);
    waiting.add(row.host_id, priority, pageId);
    addWaiting(session, row.host_id, 1);
  }

  function lowerDepths(budget: number): string[] | null {
    const pages = mayLower ? (takeLowering.all(session.projectId, budget) as number[]) : [];
    if (pages.length === 0) mayLower = false;
    for (const pageId of pages) {
      const depth = session.known.depthOf(pageId);
      const links = linksOf.get(pageId) as { targets: string; flags: string | null } | undefined;
      const flags = links?.flags ? unpackNumbers(links.flags) : [];
      for (const [i, target] of (links ? unpackNumbers(links.targets) : []).entries()) {
        if (flags[i] & UNFOLLOWED) continue;
        if (session.known.depthOf(target) > depth + 1) lower(target, depth + 1);
      }
      const redirect = redirectOf.get(pageId) as number | null | undefined;
      if (redirect && session.known.depthOf(redirect) > depth) lower(redirect, depth);
    }
    if (pages.length > 0) session.window.touch();
    if (pages.length === 0 && woken.size === 0) return null;
    const hosts = [...woken];
    woken = new Set();
    return hosts;
  }

  return { offer, offerAll, lower, lowerDepths };
}
