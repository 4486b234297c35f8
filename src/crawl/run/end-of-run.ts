/** When the run is over for this loop, and why: nothing waits, here or at any other worker, or no more pages are allowed. */
import { createFurtherPages } from './further-pages.ts';
import type { LoopEnd } from './loop-end.ts';
import type { LoopParts } from './loop-parts.ts';
import type { Turns } from './turns.ts';

export interface RunEnd {
  /** Why it is over. */
  readonly reason: LoopEnd;
  /** Pages were queued besides those that were due. */
  readonly hadFurtherPages: boolean;
  /** Nobody has a turn: true when there is nothing left to wait for. */
  isReached(): Promise<boolean>;
}

export function createRunEnd(loop: LoopParts, turns: Pick<Turns, 'open'>): RunEnd {
  const { signal, alarm, permits, schedule, hosts, sitemapDiscovery, others, store, limits } = loop;
  const further = createFurtherPages(loop);
  let limit: Extract<LoopEnd, 'limit' | 'host-limit'> | null = null;

  async function isOver(): Promise<boolean> {
    if (!isOverForPages()) return false;
    sitemapDiscovery?.noMorePages();
    if (!sitemapDiscovery?.isUnderWay) return isOverForAll();
    // The worker that holds a host whose sitemaps are wanted may wait for a permit of ours.
    await permits.returnUnused();
    return false;
  }

  function isOverForPages(): boolean {
    if (permits.isSpent) return true;
    if (!schedule.isEmpty || hosts.isMoving) return false;
    for (const host of hosts.all())
      if (host.isWaiting || host.gates.size > 0 || host.requests.hasVital) return false;
    return true;
  }

  /** Nothing is left to do here. Others may be at work on the run, and find more, or give permits back. */
  async function isOverForAll(): Promise<boolean> {
    if (permits.isSpent) {
      // Kept: while others are counted the permits may be worth asking for again, though the run is over.
      const isAtLimit = await others.isRunOver(limits.maxPages);
      // Nothing is in flight: permits that the store still counts as ours were in an answer that got lost.
      if (isAtLimit) limit = 'limit';
      else await store.run.returnPages(limits.maxPages!);
      return isAtLimit;
    }
    await permits.returnUnused();
    if (await further.queue()) return false;
    if (hasStarving()) {
      limit = 'host-limit';
      return true;
    }
    return others.isRunOver(null);
  }

  /** What waits here is of hosts from which no more may be requested. */
  function hasStarving(): boolean {
    for (const { isDrained, turns, lease } of hosts.all())
      if ((!isDrained || turns.length > 0) && permits.isHostSpent(lease.hostId)) return true;
    return false;
  }

  return {
    get reason() {
      return signal.isStopped ? 'stopped' : (limit ?? 'done');
    },
    get hadFurtherPages() {
      return further.wereQueued;
    },
    async isReached() {
      // A run that is stopped has no use for what sitemaps say: it waits for pages only.
      if (signal.isStopped && turns.open > 0 && turns.open === loop.dispensable) loop.fetcher.abortAll();
      if (turns.open > 0) return false;
      // What has happened since the search began may be a page that it did not find.
      return signal.isStopped || (!alarm.hasRung && (await isOver()));
    },
  };
}
