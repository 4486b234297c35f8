/**
 * Gives leased hosts back to the store: when nothing is left to do there, when another project or worker waits for them,
 * or when hosts that can be requested from sooner need their places. What was claimed and not requested goes back first.
 */
import type { HostSchedule } from '../../frontier/host-schedule.ts';
import type { CrawlParts } from '../parts.ts';
import { LEASES_AT_ONCE } from '../run/crew.ts';
import type { HeldHosts } from './held-hosts.ts';
import type { LeasedHost } from './leased-host.ts';

/** Hosts change places with those in the store at most so often. */
const SWAP_EVERY_MS = 1_000;

export interface HostReturns {
  /** Pages that were claimed for the host and have no turn now go back to the store. */
  unclaim(host: LeasedHost): Promise<void>;
  releaseIfIdle(host: LeasedHost): Promise<void>;
  /** As soon as nothing is under way there. */
  giveBack(host: LeasedHost): Promise<void>;
  /** Makes places for hosts that can be requested from sooner: those that must wait longest go back. Now and then only. */
  giveBackFurthest(): Promise<void>;
  /** Hosts that are ready but for which no request is free go back, for whoever has more of them. */
  giveBackUnserved(): Promise<void>;
  releaseAll(): Promise<void>;
  end(): void;
}

export interface ReturnSurroundings {
  held: HeldHosts;
  schedule: HostSchedule<LeasedHost>;
  /** Others may have queued pages or given hosts back. */
  recheck: () => void;
}

export function createHostReturns(
  { store, clock, slots, fetcher }: Pick<CrawlParts, 'store' | 'clock' | 'slots' | 'fetcher'>,
  { held, schedule, recheck }: ReturnSurroundings,
): HostReturns {
  let cancelSwap: (() => void) | null = null;

  async function unclaim(host: LeasedHost): Promise<void> {
    const claims = host.takeClaims();
    if (claims.length > 0) await store.frontier.unclaim(host.lease, claims);
  }

  async function release(host: LeasedHost): Promise<void> {
    const name = host.lease.host;
    held.byName.delete(name);
    fetcher.forgetHost(name);
    held.moving++;
    const left = unclaim(host).then(() => store.frontier.release(host.lease));
    held.leaving.set(name, left);
    await left.finally(() => held.leaving.delete(name));
    held.moving--;
    host.requests.answer('moved');
    // Pages may have been queued while the lease was on its way back.
    recheck();
  }

  async function giveBackAll(given: LeasedHost[]): Promise<void> {
    for (const host of given) {
      // It may have got a turn while others were given back.
      if (host.place === 'out' || !host.isResting) continue;
      schedule.remove(host);
      await release(host);
    }
  }

  return {
    unclaim,
    async releaseIfIdle(host) {
      if (host.isIdle && host.place === 'out' && held.has(host)) await release(host);
    },
    giveBack: (host) => giveBackAll([host]),
    async giveBackFurthest() {
      if (cancelSwap !== null) return;
      cancelSwap = clock.after(SWAP_EVERY_MS, () => {
        cancelSwap = null;
        recheck();
      });
      const resting = [...held.byName.values()].filter((host) => host.place === 'heap' && host.isResting);
      resting.sort((a, b) => b.readyAt() - a.readyAt());
      await giveBackAll(resting.slice(0, LEASES_AT_ONCE));
    },
    async giveBackUnserved() {
      const unserved = [...held.byName.values()].filter((host) => host.place === 'ring' && host.isResting);
      await giveBackAll(unserved.slice(slots.total, slots.total + LEASES_AT_ONCE));
    },
    async releaseAll() {
      for (const host of held.byName.values()) {
        await unclaim(host);
        await store.frontier.release(host.lease);
      }
      held.byName.clear();
    },
    end: () => cancelSwap?.(),
  };
}
