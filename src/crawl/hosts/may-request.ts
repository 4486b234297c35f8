/**
 * Step 5: may this page be requested now, later, or not at all? Asks for the slot, the lease and the permits first, then
 * the egress guard, robots.txt and the host's limit. It sends nothing: a robots.txt that is missing is requested by whoever
 * learns it.
 */
import type { PageState } from '../../frontier/page-state.ts';
import { conditionsOf } from '../revisit/skip-unchanged.ts';
import type { LoopParts } from '../run/loop-parts.ts';
import { isAskedByGet } from '../visit/head-first.ts';
import { egressRefusal, originOf } from './egress-refusal.ts';
import type { LeasedHost, PageTurn } from './leased-host.ts';

export interface Refusal {
  state: PageState;
  reason: string;
  /** The whole host is done for this run, not just the page. */
  closesHost: boolean;
  /** It says nothing of the page itself: what is known of that stays. */
  isUnasked: boolean;
  /** What a stage threw when it was asked about the page. */
  fault: { error: unknown } | null;
}

/** `now`: its request is ready in `turn`. `later`: the page is kept, and comes back. */
export function mayRequest(host: LeasedHost, turn: PageTurn, loop: LoopParts): 'now' | 'later' | Refusal {
  const { signal, permits, clock } = loop;
  const now = clock.monotonic();
  const { hostId } = host.lease;
  if (!signal.mayBegin || permits.isOutFor(hostId) || host.leaseEnds <= now || host.pace.readyAt() > now) {
    // Claimed ahead of its slot, or others went ahead while it was claimed, or the claim outlasted the lease.
    host.turns.unshift(turn);
    return 'later';
  }
  try {
    const refused = egressRefusal(host, turn.claim.fetchUrl, loop.egress);
    if (refused !== null) return { ...refusal('Skipped', `egress: ${refused}`), isUnasked: true };
    const verdict = askRobots(host, turn, loop);
    if (verdict === 'later') return verdict;
    host.owesPage = false;
    if (verdict !== 'now') return verdict;
    const end = endOfHost(host, loop);
    if (end !== null) {
      host.turns.unshift(turn);
      return end;
    }
    prepare(host, turn, loop);
    return 'now';
  } catch (error) {
    return { ...refusal('Failed', ''), fault: { error } };
  }
}

function askRobots(host: LeasedHost, turn: PageTurn, loop: LoopParts): 'now' | 'later' | Refusal {
  const { policy, clock, hosts, events } = loop;
  if (policy.robots === null) return 'now';
  const { fetchUrl } = turn.claim;
  const origin = originOf(fetchUrl);
  const robots = host.robots.get(origin);
  if (robots !== undefined && 'unreachable' in robots)
    return { ...refusal(robots.state, robots.unreachable), isUnasked: true };
  if (robots === undefined || robots.expiresAt <= clock.now()) {
    hosts.openGate(host, turn, origin);
    return 'later';
  }
  const { allowed, rule } = robots.rules.decide(fetchUrl);
  if (allowed) return 'now';
  // The site has answered, if only by its robots.txt.
  events.counters.answers++;
  return refusal(policy.robots.deniedState, `robots: ${rule}`);
}

/** The host has had as many requests as this run may send it, or has not answered for too long. */
export function endOfHost(
  { lease, pace }: LeasedHost,
  { limits: { maxHostRequests } }: Pick<LoopParts, 'limits'>,
): Refusal | null {
  if (maxHostRequests !== null && lease.state.requests >= maxHostRequests) {
    const reason = `limit: max-domain-requests ${maxHostRequests}`;
    return { ...refusal('RequestLimitHit', reason), closesHost: true };
  }
  if (!pace.isGivenUp) return null;
  return { ...refusal('Unreachable', `network: no answer from ${lease.host}`), closesHost: true };
}

/** By what was learned since the page was claimed. */
function prepare({ lease }: LeasedHost, turn: PageTurn, loop: LoopParts): void {
  const { claim, check } = turn;
  if (turn.method === 'HEAD' && isAskedByGet(lease.state)) turn.method = 'GET';
  turn.conditions =
    claim.last !== null && check === undefined ? conditionsOf(claim, lease.state, loop) : undefined;
}

function refusal(state: PageState, reason: string): Refusal {
  return { state, reason, closesHost: false, isUnasked: false, fault: null };
}
