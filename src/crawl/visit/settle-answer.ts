/**
 * From an answer to a settlement: what becomes of the page, what is kept of the visit, whether it is requested again later.
 * A visit that reads nothing only touches what was read before: the last good copy stays until there is a better one, or the page is
 * something else.
 */
import { type Claim, CONFIRM_GONE_PRIORITY } from '../../frontier/candidate.ts';
import type { PageState } from '../../frontier/page-state.ts';
import type { Exchange } from '../hosts/exchange.ts';
import type { CrawlParts } from '../parts.ts';
import { bytesSpared, touchOf, visitOf } from './compare-visit.ts';
import { redirected } from './follow-redirect.ts';
import type { Answer } from './judge-answer.ts';
import { factsOf, touchedBy } from './page-facts.ts';
import { bareSettlement, type PageSettlement, queuedAgain, wasAnswered, wasRead } from './page-settlement.ts';
import { refusedForType } from './refuse-type.ts';
import { retryPauseMs } from './retry-policy.ts';

export function settlementOf(
  claim: Claim,
  answer: Exclude<Answer, { kind: 'page' }>,
  exchange: Exchange,
  around: CrawlParts,
): PageSettlement {
  switch (answer.kind) {
    case 'unasked':
      return queuedAgain(claim, { attempts: claim.attempts, notBefore: null, priority: null });
    case 'redirect':
      return redirected(claim, answer.location, factsOf(exchange.outcome, around.clock.now()), around);
    case 'not-modified':
      // The request was not conditional: a 304 to it says nothing of the page.
      return exchange.isConditional
        ? notModified(claim, exchange, around)
        : finalAnswer(claim, 'Failed', 'http: 304', exchange, around);
    case 'rate-limited':
      if (around.policy.on429 === 'suspend')
        return finalAnswer(claim, 'RateLimited', 'rate-limit: 429 Too Many Requests', exchange, around);
      return retried(claim, 'RateLimited', answer.reason, exchange, around);
    case 'retry':
      return retried(claim, answer.state, answer.reason, exchange, around);
    case 'final':
      return isVanished(claim, answer.state)
        ? queuedAgain(claim, { attempts: claim.attempts, notBefore: null, priority: CONFIRM_GONE_PRIORITY })
        : finalAnswer(claim, confirmedState(claim, answer.state), answer.reason, exchange, around);
  }
}

/** A page that was there before and now is not: once may be an accident, so it is requested again at the end of the run. */
function isVanished({ last, priority }: Claim, state: PageState): boolean {
  return state === 'DeadLink' && wasRead(last) && !last.isGone && priority !== CONFIRM_GONE_PRIORITY;
}

/** Twice not there, in this run or since an earlier one. */
function confirmedState({ last, priority }: Claim, state: PageState): PageState {
  if (state !== 'DeadLink') return state;
  return priority === CONFIRM_GONE_PRIORITY || (wasRead(last) && last.isGone) ? 'Gone' : state;
}

function retried(
  claim: Claim,
  state: PageState,
  reason: string,
  exchange: Exchange,
  around: CrawlParts,
): PageSettlement {
  const { isPaceRefusal } = exchange;
  const attempts = claim.attempts + (isPaceRefusal ? 0 : 1);
  const pauseMs = isPaceRefusal ? 0 : retryPauseMs(attempts, around.policy.retry);
  if (pauseMs === null) return finalAnswer(claim, state, reason, exchange, around);
  // The pause and the block count from the same moment. A block may be none: `Retry-After: 0`.
  const notBefore = Math.max(exchange.blockedUntil ?? 0, around.clock.now() + pauseMs) + exchange.yieldMs;
  return queuedAgain(claim, { attempts, notBefore: Math.ceil(notBefore), priority: null });
}

function notModified(claim: Claim, { outcome }: Exchange, around: CrawlParts): PageSettlement {
  const last = claim.last!;
  const settlement = bareSettlement(claim, 'Processed', null);
  const touch = touchedBy(outcome, around.clock.now());
  settlement.visit = {
    visitedAt: touch.visitedAt,
    outcome: 'unchanged',
    knownBy: '304',
    statusCode: touch.statusCode,
    etag: touch.etag ?? last.etag,
    lastModified: touch.lastModified ?? last.lastModified,
    contentHash: null,
    textHash: null,
    simhashDistance: null,
    wireBytes: outcome.wireBytes,
    bytesSaved: bytesSpared(last, outcome),
    durationMs: touch.responseMs,
  };
  // The page itself is as it was answered last; 304 is how we know. After a failure it is well again.
  touch.statusCode = wasAnswered(last) ? last.statusCode : 200;
  settlement.touch = touch;
  settlement.countsAsPage = true;
  return settlement;
}

export function finalAnswer(
  claim: Claim,
  state: PageState,
  reason: string,
  { outcome }: Exchange,
  around: CrawlParts,
): PageSettlement {
  const { last } = claim;
  const facts = { ...factsOf(outcome, around.clock.now()), error: reason };
  const refused = state === 'ContentMismatch' ? refusedForType(claim, reason, facts) : null;
  if (refused !== null) return refused;
  const settlement = { ...bareSettlement(claim, state, reason), countsAsPage: outcome.head !== null };
  settlement.visit = visitOf('failed', outcome.head === null ? 'network' : 'status', facts, last);
  if (!wasRead(last)) return { ...settlement, facts };
  if (state === 'Gone') settlement.visit.outcome = last.isGone ? 'unchanged' : 'gone';
  // The validators of an error page are not those of the page.
  return { ...settlement, touch: { ...touchOf(facts), etag: null, lastModified: null, cacheControl: null } };
}
