/**
 * Step 7 for one page: what an answer says of it, before the store hears of it. Nothing here waits: other pages are
 * parsed into the same buffers. What a stage throws is the page's outcome.
 */
import type { StartAnswer } from '../discover/hear-starts.ts';
import { isFeedHead } from '../discover/start-feeds.ts';
import type { Exchange, NextRequest } from '../hosts/exchange.ts';
import type { LeasedHost, PageTurn } from '../hosts/leased-host.ts';
import { respelled } from './follow-redirect.ts';
import { getAfterHead, learnOfHead, leavesItToGet } from './head-first.ts';
import { type Answer, judgeAnswer } from './judge-answer.ts';
import { faultSettlement } from './page-faults.ts';
import { wasRead } from './page-settlement.ts';
import { readPage } from './read-page.ts';
import { settlementOf } from './settle-answer.ts';
import type { PageVisit, VisitParts } from './visit-parts.ts';

export function readAnswer(
  host: LeasedHost,
  turn: PageTurn,
  exchange: Exchange,
  parts: VisitParts,
): PageVisit | NextRequest {
  const { claim } = turn;
  try {
    if (exchange.fault !== null) throw exchange.fault.error;
    const answer = judgeAnswer(exchange.outcome, {
      maxBodyBytes: parts.limits.maxBodyBytes,
      retryRefused: parts.policy.retryRefused,
    });
    const lesson = learnOfHead(host, turn, exchange.outcome);
    if (lesson !== null)
      parts.events.host({ host: host.lease.host, what: 'head-differs', detail: lesson, until: null });
    const next = nextTurn(host, turn, answer, exchange, parts);
    if (next !== null) return { turn, exchange, next };
    const isStart = claim.depth === 0;
    if (isStart && parts.onStart !== null && DECIDED.has(answer.kind))
      parts.onStart(claim, startAnswer(turn, answer, exchange, parts));
    const decided = turn.method === 'HEAD' ? decidedByHead(answer, exchange) : answer;
    const settlement =
      decided.kind === 'page'
        ? readPage(claim, exchange, parts)
        : settlementOf(claim, decided, exchange, parts);
    // Given up: whoever waits for it would request it once more, as it may be a feed.
    if (isStart && !DECIDED.has(answer.kind) && settlement.requeue === null) parts.onStart?.(claim, 'other');
    return { turn, exchange, settlement, answer, failure: null };
  } catch (error) {
    const settlement = faultSettlement(claim, error, exchange, parts);
    if (claim.depth === 0) parts.onStart?.(claim, 'other');
    return { turn, exchange, settlement, answer: null, failure: null };
  }
}

const DECIDED: ReadonlySet<Answer['kind']> = new Set(['page', 'not-modified', 'redirect', 'final']);

function startAnswer(
  { claim: { fetchUrl } }: PageTurn,
  answer: Answer,
  { outcome }: Exchange,
  { policy, normalizer }: VisitParts,
): StartAnswer {
  const { head, body } = outcome;
  if (answer.kind === 'page' && body !== null)
    return { body: body.bytes.subarray(0, body.length), link: head!.link };
  if (answer.kind === 'redirect') {
    const target = normalizer.normalize(answer.location, fetchUrl);
    return target === null ? 'other' : { movedTo: target.url };
  }
  if (answer.kind === 'not-modified') return 'unchanged';
  return isFeedHead(head, policy.wantsType) ? 'feed' : 'other';
}

/** A page that HEAD does not leave to GET is of a type we do not want. */
function decidedByHead(answer: Answer, { outcome }: Exchange): Answer {
  if (answer.kind !== 'page') return answer;
  const reason = `type: ${outcome.head?.contentType ?? 'none'}`;
  return { kind: 'final', state: 'ContentMismatch', reason };
}

/** The page's next request, when this answer does not decide; null when it does. */
function nextTurn(
  { lease }: LeasedHost,
  sent: PageTurn,
  answer: Answer,
  { outcome, isConditional }: Exchange,
  parts: VisitParts,
): PageTurn | null {
  // No try of the page: the server never had it.
  if (outcome.failure === 'not-taken') return { ...sent, isResent: true };
  const isPlain = sent.isResent !== true && sent.headSaid === undefined;
  const turn: PageTurn = isPlain ? sent : { ...sent, isResent: false, headSaid: undefined };
  const { claim, method, check } = turn;
  if (method === 'HEAD' && leavesItToGet(answer, outcome, lease.state, parts.policy.wantsType))
    return getAfterHead(turn, outcome);
  // To a reader no condition fails: a server that says so cannot deal with them, and would say it at every visit.
  if (outcome.head?.status === 412 && isConditional) return { ...turn, method: 'GET', check: 'unasked' };
  if (answer.kind === 'redirect') return respelled(turn, answer.location, outcome.head!.status, parts);
  if (answer.kind !== 'not-modified' || check !== undefined || !wasRead(claim.last)) return null;
  // A 304 that nobody requested may be a cache's mistake; one that was requested is checked now and then.
  if (!isConditional) return { ...turn, method: 'GET', check: 'unasked' };
  return parts.random() < parts.trust.spotCheck ? { ...turn, method: 'GET', check: 'spot' } : null;
}
