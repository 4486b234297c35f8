/** Step 6 for a request that is for no page: it takes the host's next slot, as pages do. */
import type { LoopParts } from '../run/loop-parts.ts';
import { exchangeWith, logRequest } from './exchange.ts';
import { type QueuedRequest, REQUEST_CLASSES } from './host-requests.ts';
import type { LeasedHost } from './leased-host.ts';
import { endOfHost } from './may-request.ts';

export async function sendHostRequest(
  host: LeasedHost,
  request: QueuedRequest,
  loop: LoopParts,
): Promise<void> {
  const { isVital, kind } = REQUEST_CLASSES[request.class];
  const refused = isVital ? undefined : (host.lease.closed?.reason ?? endOfHost(host, loop)?.reason);
  if (refused !== undefined) return request.done({ refused, mayPass: true });
  const { url, maxBytes, onPiece, isResent, method = 'GET' } = request;
  if (!isVital) loop.dispensable++;
  const exchange = await exchangeWith(host, loop, { url, method, maxBytes, onPiece, isResent }, null);
  if (!isVital) loop.dispensable--;
  const { outcome, fault } = exchange;
  logRequest(host, loop, exchange, kind, null);
  // A block or the end of the lease came in the last moment.
  if (outcome.failure === 'not-sent') host.requests.putBack(request);
  else request.done(outcome);
  if (fault === null) return;
  // Whoever made the request has heard of it as of one without an answer.
  loop.faults.note(url, fault.error);
  loop.faults.check();
}
