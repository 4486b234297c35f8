/**
 * Origins that the egress guard does not let us connect to. What the name or the address says is known before a slot is
 * taken; what only the lookup of a connection shows is noted when that was refused. An origin is judged once a lease, and
 * each new connection to it by the fetcher.
 */
import type { EgressGuard } from '../../fetch/egress.ts';
import type { Outcome } from '../../fetch/fetcher.ts';
import type { LeasedHost } from './leased-host.ts';

/** The rule that refuses the URL's origin; null: nothing is known against it. */
export function egressRefusal(host: LeasedHost, url: string, egress: EgressGuard | null): string | null {
  const { refusedOrigins } = host;
  if (egress === null && refusedOrigins.size === 0) return null;
  const origin = originOf(url);
  let refused = refusedOrigins.get(origin);
  if (refused === undefined) {
    refused = egress === null ? null : egress.refuse(url);
    refusedOrigins.set(origin, refused);
  }
  return refused;
}

/** To be called with every outcome of the host. */
export function noteEgress(host: LeasedHost, url: string, { failure, message }: Outcome): void {
  if (failure === 'egress') host.refusedOrigins.set(originOf(url), message ?? 'refused');
}

export function originOf(url: string): string {
  const slash = url.indexOf('/', url.indexOf('//') + 2);
  return slash === -1 ? url : url.slice(0, slash);
}
