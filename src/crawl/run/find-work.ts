/**
 * Where nobody can go: permits for more pages, depths to pass on, hosts to lease. The search goes on beside the loop: a
 * store on another machine takes its time to answer, and must hold up nobody whose turn it is.
 */
import type { LoopParts } from './loop-parts.ts';
import type { Turns } from './turns.ts';

export interface WorkFinder {
  /** Begins a search where it may and none is under way. True when there is reason to look at the schedule again. */
  find(mayBegin: boolean): Promise<boolean>;
  /** Waits for the search that is under way. */
  finish(): Promise<void>;
}

export function createWorkFinder(loop: LoopParts, turns: Pick<Turns, 'open'>): WorkFinder {
  const { crew, alarm, permits, hosts, depths, schedule, slots, signal } = loop;
  let search: Promise<boolean> | null = null;
  /** Something happened since the search began, of which it may not know. */
  let isStale = false;

  async function findMore(): Promise<boolean> {
    if (permits.isDry && hosts.size > 0 && (await permits.refill())) return true;
    if (permits.isSpent) return false;
    const isIdle = turns.open === 0 && schedule.isEmpty;
    return (await depths.passOn(isIdle)) || (await hosts.leaseMore(slots.free));
  }

  return {
    async find(mayBegin) {
      if (mayBegin && search === null) {
        search = findMore();
        isStale = false;
      }
      if (search === null) return false;
      const hasMore = await crew.awaitSearch(search, alarm.sleep);
      if (hasMore === undefined) {
        isStale = true;
        return true;
      }
      search = null;
      return hasMore || isStale;
    },
    async finish() {
      await search?.catch(signal.fail);
    },
  };
}
