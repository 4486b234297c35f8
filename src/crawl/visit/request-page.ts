/** Step 6 for one page: one request on its host's next slot. What needs another request is queued and takes a slot of its own. */
import { type Exchange, exchangeWith, logRequest } from '../hosts/exchange.ts';
import type { LeasedHost, PageTurn } from '../hosts/leased-host.ts';
import type { NextRequest, VisitParts } from './visit-parts.ts';

export function requestPage(host: LeasedHost, turn: PageTurn, parts: VisitParts): Promise<Exchange> {
  const { claim, method, isResent, conditions: headers } = turn;
  if (method !== 'HEAD') parts.permits.take(host);
  if (parts.modes.mode === null) parts.modes.expect(claim);
  const request = { url: claim.fetchUrl, method, maxBytes: parts.limits.maxBodyBytes, headers, isResent };
  return exchangeWith(host, parts, request, claim);
}

/** The answer does not decide: the page's next request is the host's next. */
export function requestAgain(
  host: LeasedHost,
  { turn, exchange, next }: NextRequest,
  parts: VisitParts,
): void {
  logRequest(host, parts, exchange, turn.method, turn.claim.pageId, null);
  exchange.outcome.body?.release();
  if (turn.method !== 'HEAD') parts.permits.giveBack(host);
  host.turns.unshift(next);
  parts.placed(host);
}
