/** Takes leases of hosts from the store: of those with pages waiting, and of the one that a request is for. */
import type { HostSchedule } from '../../frontier/host-schedule.ts';
import { pageStateName } from '../../frontier/page-state.ts';
import { HostPace } from '../../politeness/host-pace.ts';
import type { HostLease } from '../../store/host-port.ts';
import type { CrawlParts } from '../parts.ts';
import type { PagePermits } from '../run/page-permits.ts';
import type { HostEnds } from './close-hosts.ts';
import type { HostReturns } from './give-back-hosts.ts';
import type { HeldHosts } from './held-hosts.ts';
import type { LeaseKeeper } from './keep-leases.ts';
import { LeasedHost } from './leased-host.ts';

/** A host that somebody else has is requested from the store again so soon, and then ever less often up to once a second. */
const FIRST_LEASE_PAUSE_MS = 20;

export interface LeaseSurroundings {
  held: HeldHosts;
  schedule: HostSchedule<LeasedHost>;
  permits: Pick<PagePermits, 'isOutFor'>;
  keeper: LeaseKeeper;
  returns: HostReturns;
  ends: HostEnds;
  pause: (delayMs: number) => Promise<void>;
  /** Something may be possible that was not. */
  onChange: () => void;
}

export interface HostLeases {
  /** Leases hosts with pages waiting, enough for so many requests; false when there are none to have. */
  leaseMore(free: number): Promise<boolean>;
  /** The URL's host, leased if need be; null when there is no time left for that. */
  hold(url: string): Promise<LeasedHost | null>;
}

export function createHostLeases(parts: CrawlParts, around: LeaseSurroundings): HostLeases {
  const { store, clock, crew } = parts;
  const { leaseMs, maxHosts } = parts.limits;
  const { held, schedule, permits, keeper, returns, ends } = around;

  function activate(lease: HostLease): LeasedHost {
    const isDoubted = parts.allowance?.isSilent?.(lease.hostId) === true;
    const options = isDoubted ? { ...parts.pace, isDoubted } : parts.pace;
    const pace = new HostPace(lease.host, lease.state, options, clock, lease.takenOver);
    const host = new LeasedHost(lease, pace, () => permits.isOutFor(lease.hostId));
    host.leaseEnds = keeper.endsAt(lease);
    held.byName.set(lease.host, host);
    return host;
  }

  return {
    async leaseMore(free) {
      if (!held.mayHaveMore || held.isStopped) return false;
      const wanted = crew.leaseCount({ free, ready: schedule.ready, held: held.byName.size });
      if (wanted <= 0) return false;
      held.mayHaveMore = false;
      if (held.byName.size >= maxHosts) await returns.giveBackFurthest();
      const count = Math.min(wanted, maxHosts - held.byName.size);
      if (count <= 0) return false;
      const leases = await store.frontier.lease(count, clock.now(), leaseMs);
      if (leases.length > 0) held.mayHaveMore = true;
      for (const lease of leases) {
        const host = activate(lease);
        const { closed } = lease;
        if (closed !== null) await ends.close(host, pageStateName(closed.state), closed.reason);
        else if (ends.isPausedTooLong(host)) await ends.closePaused(host);
        else schedule.place(host);
      }
      return leases.length > 0;
    },

    async hold(url) {
      const name = parts.normalizer.normalize(url)?.host ?? new URL(url).hostname;
      for (let pauseMs = FIRST_LEASE_PAUSE_MS; ; pauseMs = Math.min(1000, pauseMs * 2)) {
        if (held.isStopped) return null;
        // Without this, the answer would be no, and the next try would come after a pause.
        const leaving = held.leaving.get(name);
        if (leaving !== undefined) await leaving;
        const known = held.byName.get(name);
        if (known !== undefined) return known;
        held.moving++;
        const lease = await store.frontier.leaseHost(name, clock.now(), leaseMs);
        held.moving--;
        if (lease !== null) return held.byName.get(name) ?? activate(lease);
        // Whoever waited for the answer before calling the run over.
        around.onChange();
        // Refused because the loop took it meanwhile: then it is ours.
        if (!held.byName.has(name)) await around.pause(pauseMs);
      }
    },
  };
}
