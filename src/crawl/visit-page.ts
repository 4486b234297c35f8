/**
 * Steps 5 to 9 for one page: may we, fetch, parse, compare, settle. One call makes at most one request; whatever needs
 * another one (HEAD then GET, a retry, a redirect) is queued and takes a slot of its own later.
 */
import { compareWithLast, contentHash } from '../change/fingerprint.ts';
import type { Outcome, ResponseHead } from '../fetch/fetcher.ts';
import {
  type Candidate,
  type Claim,
  CONFIRM_GONE_PRIORITY,
  REDIRECT_PRIORITY,
} from '../frontier/candidate.ts';
import { PAGE_STATES, type PageState, pageStateName } from '../frontier/page-state.ts';
import { essenceOf } from '../parse/mime-type.ts';
import type { ToldLink } from '../report/events.ts';
import type { Report } from '../report/report.ts';
import type { PageFacts, Settled, Settlement } from '../store/port.ts';
import type { ActiveHost, PageTurn } from './active-host.ts';
import type { Miss } from './discover-links.ts';
import { type Exchange, type ExchangeSurroundings, exchangeWith, logRequest } from './exchange.ts';
import { type Answer, judgeAnswer } from './judge-answer.ts';
import { detachFromBuffers, isClosing, type KeptBody, keepBody } from './keep-body.ts';
import { factsOf, fillFacts, resolveUrl } from './page-facts.ts';
import type { CrawlParts } from './parts.ts';
import { readContent } from './read-content.ts';
import { retryPauseMs } from './retry-policy.ts';
import { linksToTell } from './tell-links.ts';

const HTML_TYPES: ReadonlySet<string> = new Set(['text/html', 'application/xhtml+xml']);

export interface VisitSurroundings extends CrawlParts, ExchangeSurroundings {
  /** The host takes no more pages in this run. */
  closeHost: (host: ActiveHost, state: PageState, reason: string) => Promise<void>;
  /** Pages were queued for this host. */
  wakeHost: (host: string) => void;
  budget: { take(): void; giveBack(): void };
}

export async function visitPage(host: ActiveHost, turn: PageTurn, around: VisitSurroundings): Promise<void> {
  const { claim } = turn;
  const isHead = turn.method === 'HEAD';
  if (!isHead) around.budget.take();
  const exchange = await exchangeWith(host, around, claim.fetchUrl, turn.method, claim);
  const { outcome } = exchange;
  let answer = judgeAnswer(outcome, {
    maxBodyBytes: around.limits.maxBodyBytes,
    retryRefused: around.policy.retryRefused,
  });
  if (isHead && leavesItToGet(answer, outcome.head, around)) {
    logRequest(host, around, exchange, 'HEAD', claim.pageId, null);
    host.turns.unshift({ claim, method: 'GET' });
    around.placed(host);
    return;
  }
  if (isHead && answer.kind === 'page')
    answer = {
      kind: 'final',
      state: 'ContentMismatch',
      reason: `type: ${outcome.head?.contentType ?? 'none'}`,
    };
  let settlement = settlementOf(claim, answer, exchange, around);
  let unkept: { error: unknown } | null = null;
  if (typeof settlement.body === 'string') settlement.facts!.bodyKey = settlement.body;
  else if (settlement.body !== null) {
    // While the body store is busy other pages are parsed into the same buffers.
    detachFromBuffers(settlement);
    try {
      settlement.facts!.bodyKey = await settlement.body;
    } catch (error) {
      // Never a row that points nowhere: the page is fetched again, whenever the run goes on.
      unkept = { error };
      settlement = again(claim, { attempts: claim.attempts, notBefore: null, priority: null });
    }
  }
  const isFinal = settlement.requeue === null;
  // A HEAD that decides is no page fetched.
  if (isHead) settlement.countsAsPage = false;
  else if (!settlement.countsAsPage) around.budget.giveBack();
  const hash = settlement.facts?.contentHash ?? null;
  logRequest(host, around, exchange, isHead ? 'HEAD' : 'GET', claim.pageId, hash);
  const settled = await around.store.settle(host.lease, settlement);
  outcome.body?.release();
  // The run ends with it: pages fetched while no body can be kept would be fetched in vain. One that was told to drop
  // what was on its way did as it was told.
  if (unkept !== null && !isClosing(unkept.error)) throw unkept.error;
  if (settled === null) {
    // The lease is somebody else's by now, and so is the page.
    if (settlement.countsAsPage) around.budget.giveBack();
    return;
  }
  if (settlement.countsAsPage) around.report.counters.pages++;
  around.discovery.remember(settlement.misses, settled.candidateIds);
  wakeHosts(settlement.candidates, around);
  if (settlement.toldLinks !== null) around.report.links(claim.url, settlement.toldLinks);
  if (isFinal) tellPage(settled, settlement, outcome, around.report);
  if (answer.kind === 'rate-limited' && around.policy.on429 === 'suspend') {
    await around.closeHost(host, 'RateLimited', 'rate-limit: 429 Too Many Requests');
  }
}

/** The settlement, and beside it what is to be done with it once the candidates have ids. */
interface PageSettlement extends Settlement {
  misses: Miss[];
  body: KeptBody | null;
  /** Null unless an output sink wants them. */
  toldLinks: ToldLink[] | null;
}

function settlementOf(
  claim: Claim,
  answer: Answer,
  exchange: Exchange,
  around: VisitSurroundings,
): PageSettlement {
  const { outcome } = exchange;
  switch (answer.kind) {
    case 'unasked':
      return again(claim, { attempts: claim.attempts, notBefore: null, priority: null });
    case 'page':
      return readPage(claim, exchange, around);
    case 'redirect':
      return redirected(claim, answer.location, factsOf(outcome, claim, around.clock.now()), around);
    case 'not-modified':
      // Nobody asked whether it changed: a server that says so of a page we never had says nothing.
      if (claim.last === null) return finalAnswer(claim, 'Failed', 'http: 304', exchange, around);
      return { ...final(claim, 'Processed', null), facts: null, countsAsPage: true };
    case 'rate-limited':
      if (around.policy.on429 === 'suspend')
        return finalAnswer(claim, 'RateLimited', 'rate-limit: 429 Too Many Requests', exchange, around);
      return retried(claim, 'RateLimited', answer.reason, exchange, around);
    case 'retry':
      return retried(claim, answer.state, answer.reason, exchange, around);
    case 'final':
      return isVanished(claim, answer.state)
        ? again(claim, { attempts: claim.attempts, notBefore: null, priority: CONFIRM_GONE_PRIORITY })
        : finalAnswer(claim, confirmedState(claim, answer.state), answer.reason, exchange, around);
  }
}

/** A page that was there before and now is not: once may be an accident, so it is asked again at the end of the run. */
function isVanished(claim: Claim, state: PageState): boolean {
  return state === 'DeadLink' && claim.last?.statusCode === 200 && claim.priority !== CONFIRM_GONE_PRIORITY;
}

function confirmedState(claim: Claim, state: PageState): PageState {
  return state === 'DeadLink' && claim.priority === CONFIRM_GONE_PRIORITY ? 'Gone' : state;
}

function retried(
  claim: Claim,
  state: PageState,
  reason: string,
  exchange: Exchange,
  around: VisitSurroundings,
): PageSettlement {
  const attempts = claim.attempts + 1;
  const pauseMs = retryPauseMs(attempts, around.policy.retry);
  if (pauseMs === null) return finalAnswer(claim, state, reason, exchange, around);
  // A host that is blocked anyway must not wait twice.
  const notBefore = exchange.blockedUntil ?? around.clock.now() + pauseMs;
  return again(claim, { attempts, notBefore: Math.ceil(notBefore), priority: null });
}

function again(claim: Claim, requeue: NonNullable<Settlement['requeue']>): PageSettlement {
  return { ...final(claim, 'Queued', null), requeue };
}

function finalAnswer(
  claim: Claim,
  state: PageState,
  reason: string,
  { outcome }: Exchange,
  around: VisitSurroundings,
): PageSettlement {
  const facts = { ...factsOf(outcome, claim, around.clock.now()), error: reason };
  if (state === 'Gone' || state === 'DeadLink') facts.change = claim.last === null ? null : 'gone';
  return { ...final(claim, state, reason), facts, countsAsPage: outcome.head !== null };
}

function final(claim: Claim, state: PageState, reason: string | null): PageSettlement {
  return {
    claim,
    state: PAGE_STATES[state],
    reason,
    requeue: null,
    facts: null,
    text: null,
    links: null,
    candidates: [],
    redirect: null,
    countsAsPage: false,
    misses: [],
    body: null,
    toldLinks: null,
  };
}

export function skipped(claim: Claim, state: PageState, reason: string): Settlement {
  return final(claim, state, reason);
}

function redirected(
  claim: Claim,
  location: string,
  facts: PageFacts,
  around: VisitSurroundings,
): PageSettlement {
  const found = around.normalizer.normalize(location, claim.fetchUrl);
  if (found === null) {
    const reason = `redirect: to ${JSON.stringify(location.slice(0, 200))}, which is no web address`;
    return { ...final(claim, 'Failed', reason), facts: { ...facts, error: reason }, countsAsPage: true };
  }
  if (found.url === claim.url && found.fetchUrl === claim.fetchUrl) {
    const reason = `redirect: loop at ${claim.fetchUrl}`;
    return { ...final(claim, 'Failed', reason), facts: { ...facts, error: reason }, countsAsPage: true };
  }
  const { maxRedirects } = around.limits;
  const target = around.discovery.judge(found, claim.depth, 'redirect', false, isStart(claim, around));
  return {
    ...final(claim, 'Processed', null),
    facts,
    candidates: [target.state === PAGE_STATES.Queued ? onward(claim, target, maxRedirects) : target],
    redirect: { candidate: 0, maxHops: maxRedirects },
    countsAsPage: true,
  };
}

/** Goes next, unless the chain is too long: then only a link can lead there, else a chain without end had none. */
function onward(claim: Claim, target: Candidate, maxHops: number): Candidate {
  if (claim.hops < maxHops) return { ...target, priority: REDIRECT_PRIORITY, reopens: true };
  const reason = `redirect: more than ${maxHops} hops`;
  return { ...target, state: PAGE_STATES.Skipped, reason, onlyNofollow: true };
}

/** The target of a start URL's redirect is as welcome as the start URL, patterns and all, on an allowed host. */
function isStart(claim: Claim, around: VisitSurroundings): boolean {
  return around.isStartUrl(claim.url);
}

function readPage(claim: Claim, { outcome }: Exchange, around: VisitSurroundings): PageSettlement {
  const { policy } = around;
  const head = outcome.head!;
  const facts = factsOf(outcome, claim, around.clock.now());
  const { body } = outcome;
  if (body === null || body.length === 0)
    return { ...final(claim, 'Processed', null), facts, countsAsPage: true };
  const bytes = body.bytes.subarray(0, body.length);
  facts.contentLength = body.length;
  facts.contentHash = contentHash(bytes);
  facts.change = compareWithLast(facts.contentHash, claim.last);
  const essence = essenceOf(head.contentType);
  const ownParser = essence === null ? undefined : around.contentParsers.get(essence);
  if (ownParser === undefined && essence !== null && !HTML_TYPES.has(essence) && essence !== 'text/plain') {
    const kept = keepBody(facts, bytes, around.bodies);
    return { ...final(claim, 'Processed', null), facts, body: kept, countsAsPage: true };
  }
  const page =
    ownParser === undefined
      ? around.parsePage({
          bytes: body.bytes,
          length: body.length,
          contentType: head.contentType,
          xRobotsTag: head.xRobotsTag,
          agentToken: around.agentToken,
        })
      : readContent(ownParser, { url: claim.fetchUrl, contentType: essence!, body: bytes });
  const baseUrl =
    page.baseHref === null ? claim.fetchUrl : (resolveUrl(page.baseHref, claim.fetchUrl) ?? claim.fetchUrl);
  if (
    policy.followMetaRefresh &&
    page.refresh !== null &&
    page.refresh.seconds === 0 &&
    page.refresh.url !== null
  ) {
    const target = resolveUrl(page.refresh.url, baseUrl);
    const own = around.normalizer.normalize(claim.fetchUrl);
    if (target !== null && around.normalizer.normalize(target)?.url !== own?.url)
      return redirected(claim, target, facts, around);
  }
  fillFacts(facts, page, baseUrl);
  const hidesContent = page.robots.noindex && policy.respectNoindex;
  const kept = hidesContent ? null : keepBody(facts, bytes, around.bodies);
  const { links, candidates, misses } = around.discovery.discover(
    page.links,
    baseUrl,
    claim.depth + 1,
    page.robots.nofollow,
  );
  return {
    ...final(claim, 'Processed', null),
    facts,
    text: policy.storeText && !hidesContent ? page.text : null,
    links,
    candidates,
    countsAsPage: true,
    misses,
    body: kept,
    toldLinks: around.report.wantsLinks
      ? linksToTell(page.links, baseUrl, claim.depth + 1, page.robots.nofollow, around)
      : null,
  };
}

/** HEAD decides 404, 410, 429, redirects and types we do not want; everything else is left to GET. */
function leavesItToGet(answer: Answer, head: ResponseHead | null, around: VisitSurroundings): boolean {
  switch (answer.kind) {
    case 'page':
      return head?.contentType === null || around.policy.wantsType(essenceOf(head!.contentType));
    case 'final':
      return answer.state !== 'DeadLink' && answer.state !== 'Gone' && head !== null;
    case 'retry':
      return head !== null;
    default:
      return false;
  }
}

function wakeHosts(candidates: Candidate[], around: VisitSurroundings): void {
  for (const { state, host } of candidates) if (state === PAGE_STATES.Queued) around.wakeHost(host);
}

/** Counts a settled page and tells whoever listens; `outcome` is null when nothing was asked. */
export function tellPage(
  settled: Settled,
  settlement: Settlement,
  outcome: Outcome | null,
  report: Report,
): void {
  const state = pageStateName(settled.state);
  report.count(state);
  for (const _ of settled.failedSources) report.count('Failed');
  if (!report.wantsPages) return;
  const { claim, facts, links } = settlement;
  report.page({
    type: 'page',
    url: claim.url,
    state,
    reason: settled.reason,
    status_code: facts?.statusCode ?? null,
    title: facts?.title ?? null,
    depth: claim.depth,
    content_type: facts?.contentType ?? null,
    links: links?.count ?? 0,
    bytes: outcome?.wireBytes ?? 0,
    duration_ms: outcome?.responseMs ?? null,
  });
  // They were told as Processed when they redirected; their chain has now come to nothing.
  for (const { url, depth, reason } of settled.failedSources) {
    report.page({ ...NO_ANSWER, url, depth, reason });
  }
}

const NO_ANSWER = {
  type: 'page',
  state: 'Failed',
  status_code: null,
  title: null,
  content_type: null,
  links: 0,
  bytes: 0,
  duration_ms: null,
} as const;
