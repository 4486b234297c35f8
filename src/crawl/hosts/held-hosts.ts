/** The hosts that this loop has leased, and what those who lease them, use them and give them back tell each other. */
import type { LeasedHost } from './leased-host.ts';

export class HeldHosts {
  readonly byName = new Map<string, LeasedHost>();
  /** The store may have more hosts with pages to lease. */
  mayHaveMore = true;
  /** Leases on their way, here or back. */
  moving = 0;
  isStopped = false;
  /** By name: hosts on their way back to the store. Until they are there, nobody can lease them. */
  readonly leaving = new Map<string, Promise<void>>();

  /** It has not been given back or lost. */
  has(host: LeasedHost): boolean {
    return this.byName.get(host.lease.host) === host;
  }
}
