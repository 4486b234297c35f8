/**
 * Keeps the leases of the hosts held here alive: renews them three times as often as they last, and knows until when
 * each may be trusted.
 *
 * It promises that `leaseEnds` of a host is never later than the store lets anybody else have it: counted on the
 * monotonic clock, with a margin, so that a process that was stopped for a while finds out before it sends anything.
 * A lease that ran out because the store was away is good again when the renewal comes through and nobody took it.
 */
import type { Clock } from '../../primitives/clock.ts';
import type { FrontierPort } from '../../store/frontier-port.ts';
import type { HostLease } from '../../store/host-port.ts';
import type { LeasedHost } from './leased-host.ts';

const MAX_MARGIN_MS = 2_000;

export interface LeaseKeeperOptions {
  frontier: Pick<FrontierPort, 'renew'>;
  clock: Clock;
  leaseMs: number;
  hosts: () => Iterable<LeasedHost>;
  /** A lapsed lease is good again. */
  onGood: (host: LeasedHost) => void;
  /** The host is somebody else's. */
  onLost: (host: LeasedHost) => void;
  onFailure: (error: unknown) => void;
}

export interface LeaseKeeper {
  /** Until when (monotonic) something may be sent under the lease. */
  endsAt(lease: HostLease): number;
  stop(): void;
}

export function keepLeases(options: LeaseKeeperOptions): LeaseKeeper {
  const { frontier, clock, leaseMs } = options;
  // The clock of whoever judges the lease may differ from ours by so much.
  const marginMs = Math.min(MAX_MARGIN_MS, leaseMs / 10);
  let isStopped = false;
  let isRenewing = false;
  let cancel = clock.after(leaseMs / 3, tick);

  function tick(): void {
    if (isStopped) return;
    cancel = clock.after(leaseMs / 3, tick);
    // A store that is away is asked once, not once more every time.
    if (isRenewing) return;
    isRenewing = true;
    renew()
      .catch(options.onFailure)
      .finally(() => {
        isRenewing = false;
      });
  }

  async function renew(): Promise<void> {
    const held = [...options.hosts()];
    const leases = held.map(({ lease }) => lease);
    const before = leases.map(({ until }) => until);
    const until = Math.round(clock.now() + leaseMs);
    await frontier.renew(leases, until);
    for (const [i, host] of held.entries()) {
      if (host.lease.until <= before[i]) options.onLost(host);
      else {
        host.leaseEnds = endsAt(host.lease);
        // The store may have been away for longer than the new lease lasts.
        if (host.isLapsed && host.leaseEnds > clock.monotonic()) options.onGood(host);
      }
    }
  }

  function endsAt(lease: HostLease): number {
    return clock.monotonic() + (lease.until - clock.now()) - marginMs;
  }

  return {
    endsAt,
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
