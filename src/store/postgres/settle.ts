/** Settling, the first half: a page's result is gathered into the open group. write-group.ts writes it. */
import type { Claim } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import { packedChange } from '../change-parts.ts';
import type { HostLease, RequestEntry } from '../host-port.ts';
import { type LinkTargets, type Settled, type Settlement, UNFOLLOWED } from '../settlement.ts';
import { changeWord } from '../visit-rows.ts';
import type { Group, PendingLinks, PendingSettlement } from './group.ts';
import { gather, noteShorter } from './offers.ts';
import { factsRow, requestRow, visitRow } from './packed-rows.ts';
import { type Holding, holds, type Session } from './session.ts';

const NO_SOURCES: Settled['failedSources'] = [];

export async function settle(
  session: Session,
  lease: HostLease,
  settlement: Settlement,
): Promise<Settled | null> {
  const holding = holds(session, lease);
  if (holding === null) return null;
  const { claim, requeue } = settlement;
  // Whatever else the page is: it was claimed under this lease, or is not being fetched.
  const from = holding.inFlight.has(claim.pageId) ? PAGE_STATES.Fetching : PAGE_STATES.Discovered;
  checkTransition('settled', from, requeue === null ? settlement.state : PAGE_STATES.Queued);
  const { group } = session.window;
  const pending = gatherSettlement(session, group, lease, settlement);
  add(group, pending);
  holding.inFlight.delete(claim.pageId);
  holding.unwritten.set(claim.pageId, group.number);
  if (requeue !== null) queueAgain(session, holding, claim, requeue);
  group.dirtyHosts.add(lease);
  const isFull = session.window.count(settlement.text?.length ?? 0);
  if (isFull !== undefined) await isFull;
  // How a chain ends is only known when it is written.
  if (requeue === null && (pending.redirect !== null || claim.hops > 0)) {
    await session.window.flush();
    return pending.settled;
  }
  const { state, reason, offered } = pending;
  return { state, reason, candidateIds: offered.map(knownId), failedSources: NO_SOURCES };
}

/** 0 for one that has none yet. */
const knownId = (target: number): number => Math.max(target, 0);

function gatherSettlement(
  session: Session,
  group: Group,
  lease: HostLease,
  settlement: Settlement,
): PendingSettlement {
  const { claim, candidates, requeue, visit, links, redirect } = settlement;
  // A shorter path to the page may have been found since it was claimed.
  const closerBy = Math.max(0, claim.depth - (session.known.depthOf(claim.pageId) ?? claim.depth));
  const targets = candidates.map((candidate) => gather(session, group, candidate, claim.pageId, closerBy));
  const places = gatherRows(session, group, lease, settlement);
  const depth = claim.depth - closerBy;
  return {
    lease,
    claim,
    depth,
    state: requeue === null ? settlement.state : PAGE_STATES.Queued,
    reason: requeue === null ? settlement.reason : null,
    requeue,
    factsPlace: places.factsPlace,
    visitPlace: places.visitPlace,
    textPlace: places.textPlace,
    touch: settlement.touch,
    outcome: changeWord(settlement),
    visitedAt: visit === null ? 0 : visit.visitedAt,
    change: visit === null || settlement.change === null ? null : packedChange(settlement.change),
    changeFrequency: settlement.changeFrequency,
    changesDetected: settlement.changesDetected,
    links: links === null ? null : gatherLinks(session, group, links, targets, depth + 1),
    redirect:
      redirect === null ? null : { candidate: targets[redirect.candidate], maxHops: redirect.maxHops },
    offered: targets,
    countsAsPage: settlement.countsAsPage,
    isUnasked: settlement.isUnasked === true,
    settled: null,
    isSuperseded: false,
  };
}

function queueAgain(
  session: Session,
  { waiting }: Holding,
  claim: Claim,
  requeue: NonNullable<Settlement['requeue']>,
): void {
  session.waiting++;
  const { notBefore, attempts } = requeue;
  if (notBefore !== null) {
    waiting.nextRetryAt = Math.min(waiting.nextRetryAt, notBefore);
    return;
  }
  const priority = requeue.priority ?? claim.priority;
  const { pageId, url, depth, hops } = claim;
  // A sitemap may have given another date while it was on its way.
  const last = claim.last === null ? null : { ...claim.last, sitemapDate: null };
  const fetchUrl = claim.fetchUrl === url ? null : claim.fetchUrl;
  waiting.queue({ pageId, url, fetchUrl, depth, hops, last, attempts, rank: priority, priority });
}

/** Packed at once: the crawl uses the text's memory again, and nothing else of it is needed here. */
function gatherRows(
  session: Session,
  { rows }: Group,
  { hostId }: HostLease,
  settlement: Settlement,
): Pick<PendingSettlement, 'factsPlace' | 'visitPlace' | 'textPlace'> {
  const { claim, facts, visit, text } = settlement;
  const { pageId } = claim;
  return {
    factsPlace: facts === null ? 0 : rows.facts.add(facts, factsRow(hostId, session, settlement)),
    visitPlace: visit === null ? 0 : rows.visits.add(visitRow(pageId, hostId, visit)),
    textPlace: text === null ? 0 : rows.texts.add({ page_id: pageId, host_id: hostId, text }),
  };
}

function add(group: Group, pending: PendingSettlement): void {
  const { pageId } = pending.claim;
  const earlier = group.byPage.get(pageId);
  if (earlier !== undefined) earlier.isSuperseded = true;
  group.byPage.set(pageId, pending);
  group.settlements.push(pending);
}

/** A copy, because the crawl uses its arrays again. Known targets that got a shorter path are noted. */
function gatherLinks(
  session: Session,
  group: Group,
  links: LinkTargets,
  candidates: number[],
  depth: number,
): PendingLinks {
  const { count } = links;
  const start = group.links.reserve(count);
  const { targets, flags } = group.links;
  for (let i = 0; i < count; i++) {
    const target = links.targets[i] < 0 ? candidates[~links.targets[i]] : links.targets[i];
    targets[start + i] = target;
    flags[start + i] = links.flags[i];
    if (target > 0 && !(links.flags[i] & UNFOLLOWED)) noteShorter(session, group, target, depth);
  }
  return { start, count, anchors: links.anchors?.slice(0, count) ?? null };
}

export function log(session: Session, entry: RequestEntry): void {
  const { group } = session.window;
  const holding = session.held.get(entry.hostId);
  if (holding !== undefined) group.dirtyHosts.add(holding.lease);
  group.rows.requests.add(requestRow(entry));
  group.bytes += entry.wireBytes;
  session.window.touch();
}
