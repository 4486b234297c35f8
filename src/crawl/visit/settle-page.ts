/** Step 9 for one page: its result, links, history and candidates go to the store as one; also for pages that need no request. */
import { isOverBefore } from '../../change/freshness.ts';
import type { KnownBy } from '../../change/visit-record.ts';
import type { Claim } from '../../frontier/candidate.ts';
import type { Settled } from '../../store/settlement.ts';
import { logRequest } from '../hosts/exchange.ts';
import type { LeasedHost, PageTurn } from '../hosts/leased-host.ts';
import type { Refusal } from '../hosts/may-request.ts';
import { sparedSettlement } from '../revisit/skip-unchanged.ts';
import { tellRefusal } from './before-settle.ts';
import { emitPageEvent } from './emit-page-event.ts';
import { faultSettlement } from './page-faults.ts';
import { bareSettlement, type PageSettlement } from './page-settlement.ts';
import type { PageVisit, VisitParts } from './visit-parts.ts';
import type { WaitParts } from './wait-for-program.ts';

/** Null when the lease is somebody else's by now, and so is the page. */
export function settlePage(
  host: LeasedHost,
  { turn, exchange, settlement }: PageVisit,
  parts: VisitParts,
): Promise<Settled | null> {
  const { claim, method } = turn;
  // A HEAD that decides is no page fetched.
  if (method === 'HEAD') settlement.countsAsPage = false;
  else if (!settlement.countsAsPage) parts.permits.giveBack(host);
  const hash = settlement.facts?.contentHash ?? settlement.visit?.contentHash ?? null;
  logRequest(host, parts, exchange, method, { pageId: claim.pageId, hash });
  if (claim.last !== null) learnOfHost(host, turn, settlement, parts);
  return parts.store.frontier.settle(host.lease, settlement);
}

/** What a visit says of the host's own word: its validators, and the dates of its sitemaps. */
function learnOfHost(
  { lease }: LeasedHost,
  { claim, check, isDated }: PageTurn,
  { visit }: PageSettlement,
  parts: VisitParts,
): void {
  if (visit?.outcome !== 'changed') return;
  const { state } = lease;
  const { sitemapDate, visitedAt } = claim.last!;
  if (sitemapDate !== null && isDated) {
    if (sitemapDate > visitedAt) state.announced++;
    else if (isOverBefore(sitemapDate, visitedAt)) state.unannounced++;
  }
  const now = parts.clock.now();
  if (check !== 'spot' || state.distrustedUntil > now) return;
  state.distrustedUntil = now + parts.trust.distrustMs;
  parts.events.host({
    host: lease.host,
    what: 'distrusted',
    detail: `${claim.url} was called not modified and had changed`,
    until: state.distrustedUntil,
  });
}

/** A page that may not be requested. It costs no slot: the host's next one may go at once. */
export async function refusePage(
  host: LeasedHost,
  turn: PageTurn,
  refusal: Refusal,
  parts: VisitParts & WaitParts,
): Promise<void> {
  const { claim } = turn;
  if (refusal.fault !== null) return settleFault(host, claim, refusal.fault.error, parts);
  if (refusal.closesHost) return parts.closeHost(host, refusal.state, refusal.reason);
  let settlement = bareSettlement(claim, refusal.state, refusal.reason);
  if (refusal.isUnasked && parts.allowance === null) settlement.isUnasked = true;
  let failure: PageVisit['failure'] = null;
  if (parts.beforeSettle !== null) {
    // While it waits, the host's next page may go.
    parts.placed(host);
    ({ settlement, failure } = await tellRefusal(turn, settlement, parts));
  }
  const settled = await parts.store.frontier.settle(host.lease, settlement);
  if (failure !== null) throw failure.error;
  if (settled === null) return;
  if (settlement.requeue === null) emitPageEvent(settled, settlement, null, parts.events);
  else parts.wakeHost(host.lease.host);
}

/** A page on which a stage threw before anything was requested. */
export async function settleFault(
  { lease }: LeasedHost,
  claim: Claim,
  error: unknown,
  parts: VisitParts,
): Promise<void> {
  const settlement = faultSettlement(claim, error, null, parts);
  if (claim.depth === 0) parts.onStart?.(claim, 'other');
  const settled = await parts.store.frontier.settle(lease, settlement);
  if (settled !== null) emitPageEvent(settled, settlement, null, parts.events);
  parts.faults.check();
}

/** A page that needs no request. */
export async function settleSpared(
  { lease }: LeasedHost,
  claim: Claim,
  knownBy: KnownBy,
  { store, clock, events, onStart }: VisitParts,
): Promise<void> {
  if (claim.depth === 0) onStart?.(claim, 'unchanged');
  const settlement = sparedSettlement(claim, claim.last!, knownBy, clock.now());
  // Its site has answered, if not today.
  events.counters.answers++;
  const settled = await store.frontier.settle(lease, settlement);
  if (settled !== null) emitPageEvent(settled, settlement, null, events);
}
