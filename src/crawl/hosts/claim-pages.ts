/**
 * Step 4: takes the best waiting pages of a leased host from the store. Pages that need no request are settled on the
 * way: they take no slot, and no turn.
 */
import type { KnownBy } from '../../change/visit-record.ts';
import type { Claim } from '../../frontier/candidate.ts';
import type { ClaimAnswer } from '../../store/frontier-port.ts';
import { awaitsDates, isDated, sparedBy } from '../revisit/skip-unchanged.ts';
import type { LoopParts } from '../run/loop-parts.ts';
import { settleFault, settleSpared } from '../visit/settle-page.ts';
import type { LeasedHost, PageTurn } from './leased-host.ts';

const CLAIMS_AT_ONCE = 16;

/** The first of the pages that were claimed; the others wait in `host.turns`. Null when none was there to claim. */
export async function claimPages(host: LeasedHost, loop: LoopParts): Promise<PageTurn | null> {
  const { clock, slots, policy } = loop;
  const { pace } = host;
  host.isClaiming = true;
  const count = pace.delayMs > 0 ? 1 : Math.min(CLAIMS_AT_ONCE, pace.perHost, slots.total);
  host.isDrained = true; // a page that is queued during the claim takes this back
  const { claims, nextRetryAt, readAt } = await claimToRequest(host, count, loop);
  host.isClaiming = false;
  if (claims.length === 0) {
    if (host.awaitsDates) host.isDrained = false;
    // Who queued a page meanwhile has it claimed now: it does not wait for the time of another.
    else if (nextRetryAt !== null && host.isDrained) {
      host.isDrained = false;
      host.retryAt = clock.monotonic() + Math.max(0, nextRetryAt - clock.now());
    }
    return null;
  }
  host.isDrained = false;
  host.retryAt = 0;
  const method = policy.headFirst ? 'HEAD' : 'GET';
  for (const claim of claims)
    host.turns.push({ claim, method, isDated: isDated(claim.last, readAt), conditions: undefined });
  return host.turns.shift()!;
}

async function claimToRequest(
  host: LeasedHost,
  count: number,
  loop: LoopParts,
): Promise<ClaimAnswer & { readAt?: number }> {
  const { store, clock, readSitemaps, sitemapDiscovery, signal, putOff } = loop;
  for (;;) {
    // Both before: a claim may be older than what sitemaps say while it is on its way.
    const readAt = readSitemaps.get(host.lease.host);
    const dates = sitemapDiscovery?.datesOf(host.lease.host) ?? null;
    const answer = await store.frontier.claim(host.lease, count, clock.now());
    // Sitemaps that were being read may have more to say: whoever goes on with the run judges these pages.
    if (signal.isStopped) return { ...answer, readAt };
    const claims: Claim[] = [];
    const undated: Claim[] = [];
    for (const claim of answer.claims) {
      let knownBy: KnownBy | null = null;
      try {
        if (dates !== null && awaitsDates(claim, host.lease.state, loop)) {
          undated.push(claim);
          continue;
        }
        if (claim.last !== null) knownBy = sparedBy(claim, readAt, host.lease.state, loop);
      } catch (error) {
        await settleFault(host, claim, error, loop);
        continue;
      }
      if (knownBy === null) claims.push(claim);
      else await settleSpared(host, claim, knownBy, loop);
    }
    if (undated.length > 0) await putOff(host, undated, dates!);
    if (claims.length > 0 || answer.claims.length === 0 || host.awaitsDates)
      return { ...answer, claims, readAt };
  }
}
