/**
 * A run whose pages somebody chose (`due`) may have permits left when nothing waits any more: pages were fresh, hosts gave
 * no answer, sitemaps named little. Then it asks once for further pages, and visits these as well.
 */
import type { LoopParts } from './loop-parts.ts';
import { DUE_PRIORITY } from './prepare-run.ts';

export interface FurtherPages {
  /** Queues further pages; false where there are none, or they were asked for before. */
  queue(): Promise<boolean>;
  /** Some were queued. */
  readonly wereQueued: boolean;
}

export function createFurtherPages(
  loop: Pick<LoopParts, 'allowance' | 'permits' | 'store' | 'hosts'>,
): FurtherPages {
  const { allowance, permits, store, hosts } = loop;
  let wereAsked = allowance?.furtherPages === undefined;
  let wereQueued = false;
  return {
    async queue() {
      if (wereAsked) return false;
      wereAsked = true;
      // Whoever chooses them reads from the store what the run has visited.
      await store.flush();
      const pageIds = await allowance!.furtherPages!({ now: store.clock.now(), left: permits.leftOfHost });
      if (pageIds.length === 0) return false;
      wereQueued = true;
      await store.frontier.requeue(pageIds, DUE_PRIORITY);
      for (const { lease } of hosts.all()) hosts.wake(lease.host);
      hosts.recheck();
      return true;
    },
    get wereQueued() {
      return wereQueued;
    },
  };
}
