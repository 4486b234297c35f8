/** Settling, the first half: a page's result is gathered into the open group. write-group.ts writes it. */
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { checkTransition } from '../../frontier/page-transitions.ts';
import {
  type HostLease,
  type LinkTargets,
  type RequestEntry,
  type Settled,
  type Settlement,
  UNFOLLOWED,
} from '../port.ts';
import type { Group, PendingLinks, PendingSettlement } from './group.ts';
import { gather, noteShorter } from './offers.ts';
import { holds, type Session } from './session.ts';

const NO_SOURCES: Settled['failedSources'] = [];

export async function settle(
  session: Session,
  lease: HostLease,
  settlement: Settlement,
): Promise<Settled | null> {
  const holding = holds(session, lease);
  if (holding === null) return null;
  const { claim, candidates, requeue } = settlement;
  // Whatever else the page is: it was claimed under this lease, or is not being fetched.
  const from = holding.inFlight.has(claim.pageId) ? PAGE_STATES.Fetching : PAGE_STATES.Discovered;
  checkTransition('settled', from, requeue === null ? settlement.state : PAGE_STATES.Queued);
  const { group } = session.window;
  // A shorter path to the page may have been found since it was claimed.
  const closerBy = Math.max(0, claim.depth - (session.known.depthOf(claim.pageId) ?? claim.depth));
  const targets = candidates.map((candidate) => gather(session, group, candidate, claim.pageId, closerBy));
  const pending: PendingSettlement = {
    lease,
    claim,
    depth: claim.depth - closerBy,
    state: requeue === null ? settlement.state : PAGE_STATES.Queued,
    reason: requeue === null ? settlement.reason : null,
    requeue,
    facts: settlement.facts,
    touch: settlement.touch,
    visit: settlement.visit,
    change: settlement.change,
    changeFrequency: settlement.changeFrequency,
    changesDetected: settlement.changesDetected,
    text: settlement.text === null ? null : Buffer.from(settlement.text),
    links:
      settlement.links === null
        ? null
        : gatherLinks(session, group, settlement.links, targets, claim.depth + 1 - closerBy),
    redirect:
      settlement.redirect === null
        ? null
        : {
            candidate: targets[settlement.redirect.candidate],
            maxHops: settlement.redirect.maxHops,
          },
    offered: targets,
    countsAsPage: settlement.countsAsPage,
    settled: null,
    isSuperseded: false,
  };
  add(group, pending);
  holding.inFlight.delete(claim.pageId);
  holding.unwritten.set(claim.pageId, group.number);
  if (requeue !== null) {
    session.waiting++;
    const { notBefore } = requeue;
    if (notBefore !== null) {
      holding.waiting.nextRetryAt = Math.min(holding.waiting.nextRetryAt, notBefore);
    } else {
      const priority = requeue.priority ?? claim.priority;
      const { pageId, url, depth, hops, last } = claim;
      const fetchUrl = claim.fetchUrl === url ? null : claim.fetchUrl;
      const page = { pageId, url, fetchUrl, depth, hops, last };
      holding.waiting.queue({ ...page, attempts: requeue.attempts, rank: priority, priority });
    }
  }
  group.dirtyHosts.add(lease);
  const isFull = session.window.count(pending.text?.length ?? 0);
  if (isFull !== undefined) await isFull;
  // How a chain ends is only known when it is written.
  if (requeue === null && (pending.redirect !== null || claim.hops > 0)) {
    await session.window.flush();
    return pending.settled;
  }
  const { state, reason } = pending;
  return { state, reason, candidateIds: targets.map((id) => Math.max(id, 0)), failedSources: NO_SOURCES };
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
    const target = links.targets[i] < 0 ? candidates[-links.targets[i] - 1] : links.targets[i];
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
  group.requests.push(entry);
  group.bytes += entry.wireBytes;
  session.window.touch();
}
