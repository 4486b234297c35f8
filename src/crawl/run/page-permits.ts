/**
 * Which pages may still be requested: so many of the run (page-allowance.ts), and so many of each host
 * (host-allowance.ts). A permit is taken before a GET and given back when its answer does not count as a page.
 */
import type { LeasedHost } from '../hosts/leased-host.ts';
import type { CrawlParts } from '../parts.ts';
import { createHostPermits } from './host-allowance.ts';
import { type Budget, createBudget } from './page-allowance.ts';

const PERMITS_AT_ONCE = 64;

export interface PagePermits extends Omit<Budget, 'take' | 'giveBack'> {
  take(host: LeasedHost): void;
  giveBack(host: LeasedHost): void;
  /** No page may be requested of this host now. */
  isOutFor(hostId: number): boolean;
  /** The host has had all the pages that it is allowed. */
  isHostSpent(hostId: number): boolean;
  /** Pages that may still be requested of the host. */
  leftOfHost: (hostId: number) => number;
}

export interface PermitSurroundings {
  /** There were no permits and now there are. */
  onMore: () => void;
  onFailure: (error: unknown) => void;
}

export function createPagePermits(
  { limits, store, slots, allowance }: Pick<CrawlParts, 'limits' | 'store' | 'slots' | 'allowance'>,
  { onMore, onFailure }: PermitSurroundings,
): PagePermits {
  const ofRun = createBudget(limits.maxPages, {
    run: store.run,
    // Many at once spare the store; of few, no worker keeps more than it can use from the others.
    block: Math.min(PERMITS_AT_ONCE, Math.max(slots.total, Math.ceil((limits.maxPages ?? 0) / 50))),
    onMore,
    onFailure,
  });
  const ofHosts = createHostPermits(allowance);
  return {
    get isDry() {
      return ofRun.isDry;
    },
    get isSpent() {
      return ofRun.isSpent;
    },
    take({ lease }) {
      ofRun.take();
      ofHosts.take(lease.hostId);
    },
    giveBack({ lease }) {
      ofRun.giveBack();
      ofHosts.giveBack(lease.hostId);
    },
    isOutFor: (hostId) => ofRun.isDry || ofHosts.isSpent(hostId),
    isHostSpent: (hostId) => ofHosts.isSpent(hostId),
    leftOfHost: ofHosts.left,
    refill: () => ofRun.refill(),
    askAgain: () => ofRun.askAgain(),
    returnUnused: () => ofRun.returnUnused(),
  };
}
