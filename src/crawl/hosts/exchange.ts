/**
 * Step 6: one request on a host's next slot, for a page or for what is no page: reserve, send, tell the host's clock how
 * it went, and a line for the request log. The slot is reserved before the request starts and counted from the moment
 * it is written. What needs another request is queued and takes a slot of its own.
 */
import type { Fetcher, FetchRequest, Outcome } from '../../fetch/fetcher.ts';
import { retryAfterMs } from '../../fetch/retry-after.ts';
import type { Claim } from '../../frontier/candidate.ts';
import { essenceOf } from '../../parse/mime-type.ts';
import type { RequestKind } from '../../store/host-port.ts';
import type { CrawlParts } from '../parts.ts';
import { isHeadDoubted } from '../visit/head-first.ts';
import { egressRefusal, noteEgress } from './egress-refusal.ts';
import type { LeasedHost, PageTurn } from './leased-host.ts';

export interface ExchangeSurroundings
  extends Pick<CrawlParts, 'clock' | 'fetcher' | 'limits' | 'policy' | 'events' | 'store' | 'egress'> {
  /** The host's readiness may have changed. */
  placed: (host: LeasedHost) => void;
}

export interface Exchange {
  outcome: Outcome;
  slotAt: number;
  sentAt: number | null;
  /** By the clock that `sentAt` is of: the wall's may be set while a request is open. */
  endedAt: number | null;
  delayMs: number;
  perHost: number;
  blockedUntil: number | null;
  /** The host refused it because of its pace: that is no try of the page. */
  isPaceRefusal: boolean;
  /** So long after the block such a page gives way to others; else 0. */
  yieldMs: number;
  /** The request was a conditional one. */
  isConditional: boolean;
  /** What the fetcher threw: the page's fault, not the host's. */
  fault: { error: unknown } | null;
}

export interface PageRequestParts extends ExchangeSurroundings, Pick<CrawlParts, 'modes'> {
  permits: { take(host: LeasedHost): void; giveBack(host: LeasedHost): void };
}

export function requestPage(host: LeasedHost, turn: PageTurn, parts: PageRequestParts): Promise<Exchange> {
  const { claim, method, isResent, conditions: headers } = turn;
  if (method !== 'HEAD') parts.permits.take(host);
  if (parts.modes.mode === null) parts.modes.expect(claim);
  const request = { url: claim.fetchUrl, method, maxBytes: parts.limits.maxBodyBytes, headers, isResent };
  return exchangeWith(host, parts, request, claim);
}

/** An answer that does not decide: the page is requested once more. */
export interface NextRequest {
  turn: PageTurn;
  exchange: Exchange;
  next: PageTurn;
}

/** The page's next request is the host's next. */
export function requestAgain(
  host: LeasedHost,
  { turn, exchange, next }: NextRequest,
  parts: PageRequestParts,
): void {
  logRequest(host, parts, exchange, turn.method, { pageId: turn.claim.pageId, hash: null });
  exchange.outcome.body?.release();
  if (turn.method !== 'HEAD') parts.permits.giveBack(host);
  host.turns.unshift(next);
  parts.placed(host);
}

/** One request on the host's next slot. `claim` is null where it is for no page. */
export async function exchangeWith(
  host: LeasedHost,
  around: ExchangeSurroundings,
  request: Pick<FetchRequest, 'url' | 'method' | 'maxBytes' | 'headers' | 'onPiece' | 'isResent'>,
  claim: Claim | null,
): Promise<Exchange> {
  const { pace } = host;
  const { clock, policy } = around;
  const { url, method, headers, maxBytes, onPiece, isResent } = request;
  const refused = egressRefusal(host, url, around.egress);
  if (refused !== null) return unopened(host, refused, clock.now());
  const slotAt = pace.reserve();
  const { inFlight: open } = pace;
  // Both may change until the request is sent, by answers to others: the delay counts that is in force then, and the
  // request may be one of as many as were allowed at either time.
  let { delayMs, perHost } = pace;
  let sentAt: number | null = null;
  let sentMark = 0;
  around.placed(host);
  const { outcome: answered, fault } = await fetchWith(around.fetcher, {
    url,
    method,
    headers,
    isResent,
    maxBytes,
    keepsCutBody: claim === null,
    onPiece,
    wantsBody:
      claim === null || method === 'HEAD'
        ? undefined
        : (head) => policy.wantsType(essenceOf(head.contentType)),
    // A process that is stopped between this reading of the clock and the write cannot know: as little as can be lies between.
    onSend() {
      sentMark = clock.monotonic();
      if (host.leaseEnds <= sentMark) return false;
      sentAt = pace.sent(sentMark);
      delayMs = pace.delayMs;
      perHost = Math.max(perHost, pace.perHost);
      return sentAt !== null;
    },
    onSent() {
      pace.written();
      around.placed(host);
    },
  });
  const outcome = withKnownName(answered, host);
  noteEgress(host, url, outcome);
  const { head, failure } = outcome;
  if (head !== null && claim !== null) around.events.counters.answers++;
  const wasSent = sentAt as number | null;
  const endedAt = wasSent === null ? null : wasSent + clock.monotonic() - sentMark;
  const isSilentHead =
    head === null && method === 'HEAD' && claim !== null && isHeadDoubted(host.lease.state);
  const blockedUntil = pace.ended(wasSent, {
    statusCode: head?.status ?? null,
    // Silence after HEAD says nothing of the host before GET was tried, too; what the fetcher threw never does.
    failure: fault !== null ? 'aborted' : isSilentHead && wasSent !== null ? 'not-taken' : failure,
    // A robots.txt comes faster than pages do: it would make all pages seem slow.
    responseMs: claim === null ? null : outcome.responseMs,
    retryAfterMs: head?.retryAfter ? retryAfterMs(head.retryAfter, clock.now()) : null,
    // An answer to HEAD does not mean that the page is not refused any more: GET may be, time and again.
    pageId: claim === null || (method === 'HEAD' && !isRefusedStatus(head?.status)) ? null : claim.pageId,
    open,
  });
  const { isPaceRefusal } = pace;
  const yieldMs = isPaceRefusal ? pace.yieldMs : 0;
  if (blockedUntil !== null) emitBlock(host, around, outcome, blockedUntil);
  around.placed(host);
  return {
    outcome,
    slotAt,
    sentAt: wasSent,
    endedAt,
    delayMs,
    perHost,
    blockedUntil,
    isPaceRefusal,
    yieldMs,
    isConditional: headers !== undefined,
    fault,
  };
}

/** The egress guard refuses the URL: it takes no slot. */
function unopened({ pace }: LeasedHost, refused: string, now: number): Exchange {
  return {
    outcome: {
      ...{ head: null, body: null, bodyRefused: false, failure: 'egress', message: refused },
      ...{ sentAt: null, responseMs: null, wireBytes: 0 },
    },
    ...{ slotAt: now, sentAt: null, endedAt: null, delayMs: pace.delayMs, perHost: pace.perHost },
    ...{ blockedUntil: null, isPaceRefusal: false, yieldMs: 0, isConditional: false, fault: null },
  };
}

function isRefusedStatus(status: number | undefined): boolean {
  return status === 429 || status === 503;
}

/** A host that answered has a name: where that is not found any more, the network or its name server is away for a while. */
function withKnownName(outcome: Outcome, { pace }: LeasedHost): Outcome {
  return outcome.failure === 'unknown-host' && pace.hasAnswered ? { ...outcome, failure: 'dns' } : outcome;
}

/** A fetcher should not throw; where it does, the slot is given back all the same. */
async function fetchWith(
  fetcher: Fetcher,
  request: FetchRequest,
): Promise<{ outcome: Outcome; fault: Exchange['fault'] }> {
  try {
    return { outcome: await fetcher.fetch(request), fault: null };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const outcome: Outcome = {
      ...{ head: null, body: null, bodyRefused: false, failure: 'other', message },
      ...{ sentAt: null, responseMs: null, wireBytes: 0 },
    };
    return { outcome, fault: { error } };
  }
}

/** The page that was requested, and the hash of the body that was read; null where none was. */
interface LoggedPage {
  pageId: number;
  hash: Uint8Array | null;
}

export function logRequest(
  host: LeasedHost,
  around: ExchangeSurroundings,
  exchange: Exchange,
  kind: RequestKind,
  page: LoggedPage | null,
): void {
  const { outcome, sentAt, endedAt } = exchange;
  if (sentAt === null || endedAt === null) return;
  around.events.request(outcome.head?.status ?? 0, outcome.failure, outcome.wireBytes);
  around.store.hosts.log({
    kind,
    hostId: host.lease.hostId,
    pageId: page?.pageId ?? null,
    slotAt: exchange.slotAt,
    sentAt,
    endedAt,
    delayMs: exchange.delayMs,
    perHost: exchange.perHost,
    statusCode: outcome.head?.status ?? 0,
    wireBytes: outcome.wireBytes,
    contentHash: page?.hash ?? null,
    blockedUntil: exchange.blockedUntil,
    failure: outcome.failure,
  });
}

function emitBlock(host: LeasedHost, around: ExchangeSurroundings, outcome: Outcome, until: number): void {
  const status = outcome.head?.status;
  around.events.host({
    host: host.lease.host,
    what: status === undefined ? 'breaker' : 'blocked',
    detail: status === undefined ? `${outcome.failure}: ${outcome.message ?? ''}` : `http ${status}`,
    until,
  });
}

/** The request is to be sent once more, on another slot and over a new connection. */
export function wasNotTaken(answer: object): boolean {
  return 'failure' in answer && answer.failure === 'not-taken';
}
