/**
 * Step 10 for one page, which is stored by now: hosts with new pages wake, listeners hear of it, and a host that said
 * no for all its pages is closed. What throws while it is told is noted, and changes nothing of the page.
 */
import type { Candidate } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import type { Settled } from '../../store/settlement.ts';
import { emitUnknownHost } from '../hosts/learn-robots.ts';
import type { LeasedHost } from '../hosts/leased-host.ts';
import { emitPageEvent } from './emit-page-event.ts';
import { isClosing } from './keep-body.ts';
import type { PageSettlement } from './page-settlement.ts';
import type { PageVisit, VisitParts } from './visit-parts.ts';

/** `settled` is null when the lease was somebody else's by then. Most pages give nothing to wait for. */
export function tellPage(
  host: LeasedHost,
  page: PageVisit,
  settled: Settled | null,
  parts: VisitParts,
): Promise<void> | undefined {
  const { settlement, exchange, failure } = page;
  const { outcome } = exchange;
  outcome.body?.release();
  // The run ends with it: pages fetched while no body can be kept would be fetched in vain. One that was told to drop
  // what was on its way did as it was told.
  if (failure !== null && !isClosing(failure.error)) throw failure.error;
  if (settled === null) {
    if (settlement.countsAsPage) parts.permits.giveBack(host);
    return parts.modes.mode === null ? parts.modes.observe(settlement.claim, null) : undefined;
  }
  tellSettled(host, page, settled, parts);
  const isSuspended = page.answer?.kind === 'rate-limited' && parts.policy.on429 === 'suspend';
  if (parts.modes.mode === null || outcome.failure === 'unknown-host' || isSuspended)
    return drawConclusions(host, page, isSuspended, parts);
  parts.faults.check();
  return undefined;
}

function tellSettled(
  host: LeasedHost,
  { settlement, exchange }: PageVisit,
  settled: Settled,
  parts: VisitParts,
): void {
  const { claim } = settlement;
  if (settlement.countsAsPage) parts.events.counters.pages++;
  try {
    parts.discovery.remember(settlement.misses, settled.candidateIds);
    wakeHosts(settlement.candidates, parts);
    // The host is kept for it, with what its answers taught.
    if (settlement.requeue !== null) parts.wakeHost(host.lease.host);
    if (settlement.toldLinks !== null) parts.events.links(claim.url, settlement.toldLinks);
    if (settlement.requeue === null) emitPageEvent(settled, settlement, exchange.outcome, parts.events);
  } catch (error) {
    parts.faults.note(claim.fetchUrl, error, claim.pageId);
  }
}

/** What the page says of the run's mode, or of all other pages of its host. */
async function drawConclusions(
  host: LeasedHost,
  { settlement, exchange }: PageVisit,
  isSuspended: boolean,
  parts: VisitParts,
): Promise<void> {
  const { claim, visit } = settlement;
  if (parts.modes.mode === null) await parts.modes.observe(claim, visit?.outcome ?? null);
  if (exchange.outcome.failure === 'unknown-host') await closeUnknown(host, settlement, parts);
  if (isSuspended) await parts.closeHost(host, 'RateLimited', 'rate-limit: 429 Too Many Requests');
  parts.faults.check();
}

/** No other page of the host would fare better. */
async function closeUnknown(
  host: LeasedHost,
  { claim, reason }: PageSettlement,
  parts: VisitParts,
): Promise<void> {
  const detail = reason ?? 'network: unknown-host';
  if (parts.isStartUrl(claim.url))
    emitUnknownHost(parts.events, host, detail.replace(/^network: unknown-host(?:, )?/, ''));
  await parts.closeHost(host, 'Unreachable', detail);
}

function wakeHosts(candidates: Candidate[], parts: VisitParts): void {
  for (let i = 0; i < candidates.length; i++)
    if (candidates[i].state === PAGE_STATES.Queued) parts.wakeHost(candidates[i].host);
}
