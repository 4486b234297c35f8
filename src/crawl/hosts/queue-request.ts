/** Puts a request that is for no page into the queue of its host. */
import type { HostEnds } from './close-hosts.ts';
import type { HostReturns } from './give-back-hosts.ts';
import type { HeldHosts } from './held-hosts.ts';
import type { HostAnswer, HostRequest, Refused } from './host-requests.ts';
import type { HostLeases } from './lease-hosts.ts';
import type { LeasedHost } from './leased-host.ts';

export interface RequestSurroundings {
  held: HeldHosts;
  leases: Pick<HostLeases, 'hold'>;
  ends: Pick<HostEnds, 'isPausedTooLong' | 'passOver' | 'close'>;
  returns: Pick<HostReturns, 'releaseIfIdle'>;
  /** It has something more to request. */
  place: (host: LeasedHost) => void;
}

export const STOPPED: Refused = { refused: 'stopped' };

export function queueRequest(
  host: LeasedHost,
  request: HostRequest,
  { place }: Pick<RequestSurroundings, 'place'>,
): Promise<HostAnswer> {
  return new Promise((done) => {
    host.requests.add({ ...request, done });
    place(host);
  });
}
