/** Requests to a host that are for no page: robots.txt and sitemaps. Each takes the host's next slot, as pages do. */
import type { LoopParts } from '../run/loop-parts.ts';
import { type Exchange, exchangeWith, logRequest } from './exchange.ts';
import type { ActiveHost, Errand, Lookup } from './leased-host.ts';
import { endOfHost } from './may-request.ts';

export async function runErrand(host: ActiveHost, errand: Errand, loop: LoopParts): Promise<void> {
  const { url, maxBytes, isResent } = errand;
  const exchange = await exchangeWith(host, loop, { url, method: 'GET', maxBytes, isResent }, null);
  logRequest(host, loop, exchange, 'robots', null, null);
  errand.done(exchange.outcome);
  noteFault(errand.url, exchange, loop);
}

export async function runLookup(host: ActiveHost, lookup: Lookup, loop: LoopParts): Promise<void> {
  const refused = host.lease.closed?.reason ?? endOfHost(host, loop)?.reason;
  if (refused !== undefined) return lookup.done({ refused, mayPass: true });
  const { url, maxBytes, onPiece, isResent, method = 'GET' } = lookup;
  loop.openLookups++;
  const exchange = await exchangeWith(host, loop, { url, method, maxBytes, onPiece, isResent }, null);
  loop.openLookups--;
  logRequest(host, loop, exchange, 'sitemap', null, null);
  // A block or the end of the lease came in the last moment.
  if (exchange.outcome.failure === 'not-sent') host.lookups.unshift(lookup);
  else lookup.done(exchange.outcome);
  noteFault(url, exchange, loop);
}

/** Whoever made the request has heard of it as of one without an answer. */
function noteFault(url: string, { fault }: Exchange, { faults }: LoopParts): void {
  if (fault === null) return;
  faults.note(url, fault.error);
  faults.check();
}
