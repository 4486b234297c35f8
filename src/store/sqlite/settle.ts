/** Settling: a page's result, its links and the candidates they offered, written into one commit group. */
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import { dropRepeats } from '../drop-repeats.ts';
import { type HostLease, REQUEST_KINDS, type RequestEntry } from '../host-port.ts';
import { giveBackAnswer } from '../kept-answer.ts';
import { type LinkTargets, type Settled, type Settlement, UNFOLLOWED } from '../settlement.ts';
import type { Offers } from './offers.ts';
import { packFlags, packNumbers, unpackNumbers } from './pack-links.ts';
import type { Redirects } from './redirects.ts';
import { addWaiting, type Session, writtenWithCommit } from './session.ts';
import type { WaitingPages } from './waiting-pages.ts';
import { createVisitWriter } from './write-visits.ts';

const { Queued, Fetching, Processed } = PAGE_STATES;
interface OldLinks {
  run_id: number;
  targets: string;
  flags: string | null;
  anchors: string | null;
}

const NO_SOURCES: Settled['failedSources'] = [];

export function createSettling(
  session: Session,
  waiting: WaitingPages,
  offers: Offers,
  redirects: Redirects,
  isHeld: (lease: HostLease) => boolean,
) {
  const { db } = session;
  const write = createVisitWriter(session);
  const setUrl = db.prepare('UPDATE url SET state = ?, reason = ?, attempts = ? WHERE id = ? AND state = 2');
  const requeue = db.prepare(
    `UPDATE url SET state = 1, reason = NULL, attempts = ?, retry_at = ?, priority = COALESCE(?, priority)
     WHERE id = ? AND state = 2`,
  );
  const leaveOut = db
    .prepare(
      `UPDATE url SET ${giveBackAnswer({ state: '@state', reason: '@reason', run: '@run' })} WHERE id = @page AND state = 2
       RETURNING known_state IS NOT NULL`,
    )
    .pluck();
  const countLeftOut = db.prepare('UPDATE run SET left_out = left_out + 1 WHERE id = ?');
  const setAddress = db.prepare('UPDATE url SET fetch_url = ? WHERE id = ?');
  const stateOf = db.prepare('SELECT state FROM url WHERE id = ?').pluck();
  const putText = db.prepare('INSERT OR REPLACE INTO page_text VALUES (?, CAST(? AS TEXT))');
  const dropText = db.prepare('DELETE FROM page_text WHERE page_id = ?');
  const putLinks = db.prepare('INSERT OR REPLACE INTO link_set VALUES (?, ?, CAST(? AS TEXT), ?, ?)');
  const oldLinks = db.prepare('SELECT run_id, targets, flags, anchors FROM link_set WHERE page_id = ?');
  const putChange = db.prepare('INSERT OR REPLACE INTO link_change VALUES (?, ?, ?, ?)');
  const putRequest = db.prepare(
    `INSERT INTO request (run_id, host_id, page_id, kind, slot_at, sent_at, ended_at, delay_ms, per_host, status_code,
       wire_bytes, content_hash, blocked_until, failure) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );

  const addRequest = writtenWithCommit(session, writeRequest);

  /** Candidates become ids, known targets learn a shallower depth, and the set is packed. */
  function writeLinks(pageId: number, links: LinkTargets, candidateIds: number[], isRevisit: boolean): void {
    const { targets } = links;
    const depth = session.known.depthOf(pageId) + 1;
    for (let i = 0; i < links.count; i++) if (targets[i] < 0) targets[i] = candidateIds[-targets[i] - 1];
    const count = dropRepeats(links);
    for (let i = 0; i < count; i++) {
      if (session.known.depthOf(targets[i]) > depth && !(links.flags[i] & UNFOLLOWED))
        offers.lower(targets[i], depth);
    }
    const packed = packNumbers(targets, count);
    const flags = packFlags(links.flags, count);
    const anchors = links.anchors === null ? null : JSON.stringify(links.anchors);
    const old = isRevisit ? (oldLinks.get(pageId) as OldLinks | undefined) : undefined;
    // Most revisits find the links they knew.
    if (old !== undefined) {
      const isSameSet = old.targets === packed.toString('latin1');
      if (isSameSet && old.flags === flags && old.anchors === anchors) return;
      if (!isSameSet) recordLinkChange(pageId, old, targets.subarray(0, count));
    }
    // The run that saw the page's links first stays.
    putLinks.run(pageId, old?.run_id ?? session.runId, packed, flags, anchors);
  }

  /** Keeps what a revisit added and removed. */
  function recordLinkChange(pageId: number, old: OldLinks, targets: Int32Array): void {
    if (old.run_id === session.runId) return;
    const before = new Set(unpackNumbers(old.targets));
    const after = new Set(targets);
    const added = [...after].filter((id) => !before.has(id));
    const removed = [...before].filter((id) => !after.has(id));
    if (added.length + removed.length === 0) return;
    putChange.run(pageId, session.runId, JSON.stringify(added), JSON.stringify(removed));
  }

  /** First of all, so that a page that is not in flight changes nothing. */
  function giveState({ claim, state, reason, requeue: again, isUnasked }: Settlement): void {
    const to = again === null ? state : Queued;
    checkTransition('settled', Fetching, to);
    if (isUnasked) {
      const isLeftOut = leaveOut.get({ state, reason, run: session.runId, page: claim.pageId });
      if (isLeftOut === 1) countLeftOut.run(session.runId);
      if (isLeftOut !== undefined) return;
    }
    const { changes } =
      again === null
        ? setUrl.run(state, reason, claim.attempts, claim.pageId)
        : requeue.run(again.attempts, again.notBefore, again.priority, claim.pageId);
    // It throws: whatever the page is, it is not being fetched.
    if (changes === 0) checkTransition('settled', stateOf.get(claim.pageId) as typeof Queued, to);
  }

  function settle(lease: HostLease, settlement: Settlement): Settled | null {
    if (!isHeld(lease)) return null;
    giveState(settlement);
    const { claim, facts, candidates, redirect } = settlement;
    const { pageId } = claim;
    if (claim.isMoved && settlement.state === Processed) setAddress.run(claim.fetchUrl, pageId);
    const candidateIds = offers.offerAll(candidates, pageId);
    write(settlement);
    if (settlement.text !== null) putText.run(pageId, settlement.text);
    else if (facts !== null && claim.last !== null) dropText.run(pageId);
    if (settlement.links !== null) writeLinks(pageId, settlement.links, candidateIds, claim.last !== null);

    let { state, reason } = settlement;
    let failedSources: Settled['failedSources'] = NO_SOURCES;
    if (settlement.requeue !== null) {
      const { notBefore, priority } = settlement.requeue;
      if (notBefore === null) waiting.add(lease.hostId, priority ?? claim.priority, pageId);
      else session.retrying.add(lease.hostId);
      addWaiting(session, lease.hostId, 1);
      state = Queued;
    } else if (redirect !== null) {
      session.rows.flush();
      const targetId = candidateIds[redirect.candidate];
      // A shorter path to the page may have been found since it was claimed.
      const depth = session.known.depthOf(pageId);
      const leadsOn = !candidates[redirect.candidate].onlyNofollow;
      if (leadsOn && session.known.depthOf(targetId) > depth) offers.lower(targetId, depth);
      ({ state, reason, failed: failedSources } = redirects.redirect(pageId, targetId, redirect.maxHops));
    } else if (claim.hops > 0 || redirects.isWaitedFor(pageId)) {
      failedSources = redirects.settled(pageId, state, reason);
    }
    if (settlement.countsAsPage) {
      session.runDelta.pages++;
      if (session.permits > 0) session.permits--;
    }
    session.dirtyHosts.add(lease);
    session.window.count();
    return { state, reason, candidateIds, failedSources };
  }

  function log(entry: RequestEntry): void {
    const lease = session.held.get(entry.hostId);
    if (lease !== undefined) session.dirtyHosts.add(lease);
    session.runDelta.requests++;
    session.runDelta.bytes += entry.wireBytes;
    addRequest(entry);
    session.window.touch();
  }

  function writeRequest(entry: RequestEntry): void {
    putRequest.run(
      session.runId,
      entry.hostId,
      entry.pageId,
      REQUEST_KINDS.indexOf(entry.kind),
      entry.slotAt,
      entry.sentAt,
      entry.endedAt,
      entry.delayMs,
      entry.perHost,
      entry.statusCode,
      entry.wireBytes,
      entry.contentHash,
      entry.blockedUntil,
      entry.failure,
    );
  }

  return { settle, log };
}
