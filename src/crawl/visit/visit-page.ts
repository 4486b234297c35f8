/**
 * Steps 5 to 9 for one page: may we, fetch, parse, compare, settle. One call makes at most one request; whatever needs
 * another one (HEAD then GET, a check of a 304, a retry, a redirect) is queued and takes a slot of its own later.
 */
import { isOverBefore } from '../../change/freshness.ts';
import type { KnownBy } from '../../change/visit-record.ts';
import type { Outcome } from '../../fetch/fetcher.ts';
import type { Candidate, Claim } from '../../frontier/candidate.ts';
import { PAGE_STATES, type PageState } from '../../frontier/page-state.ts';
import type { Settled, Settlement } from '../../store/settlement.ts';
import type { SitemapDiscovery, StartAnswer } from '../discover/discover-sitemaps.ts';
import { isFeedHead } from '../discover/start-feeds.ts';
import { type Exchange, type ExchangeSurroundings, exchangeWith, logRequest } from '../hosts/exchange.ts';
import { emitUnknownHost } from '../hosts/learn-robots.ts';
import type { ActiveHost, PageTurn } from '../hosts/leased-host.ts';
import type { CrawlParts } from '../parts.ts';
import { conditionsOf, sparedSettlement } from '../revisit/skip-unchanged.ts';
import { compareWithPast, readPast } from './compare-visit.ts';
import { emitPageEvent } from './emit-page-event.ts';
import { respelled } from './follow-redirect.ts';
import { getAfterHead, isAskedByGet, learnOfHead, leavesItToGet } from './head-first.ts';
import { type Answer, judgeAnswer } from './judge-answer.ts';
import { detachFromBuffers, isClosing } from './keep-body.ts';
import { faultSettlement } from './page-faults.ts';
import { bareSettlement, type PageSettlement, queuedAgain, wasRead } from './page-settlement.ts';
import { settlementOf } from './settle-answer.ts';

export interface VisitSurroundings extends CrawlParts, ExchangeSurroundings {
  /** The host takes no more pages in this run. */
  closeHost: (host: ActiveHost, state: PageState, reason: string) => Promise<void>;
  /** Pages were queued for this host. */
  wakeHost: (host: string) => void;
  /** Hears of each answer at depth 0 that decides, and where none is needed; null when nobody wants to. */
  onStart: SitemapDiscovery['seeStart'] | null;
  budget: { take(host: ActiveHost): void; giveBack(host: ActiveHost): void };
}

export async function visitPage(host: ActiveHost, given: PageTurn, around: VisitSurroundings): Promise<void> {
  const { claim } = given;
  // What was learned since the page was claimed.
  const isByGet = given.method === 'HEAD' && isAskedByGet(host.lease.state);
  const turn: PageTurn = isByGet ? { ...given, method: 'GET' } : given;
  const isHead = turn.method === 'HEAD';
  let conditions: Record<string, string> | undefined;
  try {
    if (claim.last !== null && turn.check === undefined)
      conditions = conditionsOf(claim, host.lease.state, around);
  } catch (error) {
    return settleFault(host, claim, error, around);
  }
  if (!isHead) around.budget.take(host);
  if (around.modes.mode === null) around.modes.expect(claim);
  const request = {
    url: claim.fetchUrl,
    method: turn.method,
    maxBytes: around.limits.maxBodyBytes,
    headers: conditions,
    isResent: turn.isResent,
  };
  const exchange = await exchangeWith(host, around, request, claim);
  const { outcome } = exchange;
  const read = readAnswer(host, turn, exchange, around);
  if ('next' in read) {
    logRequest(host, around, exchange, turn.method, claim.pageId, null);
    outcome.body?.release();
    if (!isHead) around.budget.giveBack(host);
    host.turns.unshift(read.next);
    around.placed(host);
    return;
  }
  let { settlement } = read;
  let unkept: { error: unknown } | null = null;
  // From parsing to settling nothing is awaited, unless copies are made: other pages are parsed into the same buffers.
  if (!isComplete(settlement)) {
    detachFromBuffers(settlement);
    ({ settlement, unkept } = await complete(settlement, exchange, around));
  }
  // A HEAD that decides is no page fetched.
  if (isHead) settlement.countsAsPage = false;
  else if (!settlement.countsAsPage) around.budget.giveBack(host);
  const hash = settlement.facts?.contentHash ?? settlement.visit?.contentHash ?? null;
  logRequest(host, around, exchange, turn.method, claim.pageId, hash);
  if (claim.last !== null) learnOfHost(host, turn, settlement, around);
  const settled = await around.store.frontier.settle(host.lease, settlement);
  outcome.body?.release();
  // The run ends with it: pages fetched while no body can be kept would be fetched in vain. One that was told to drop
  // what was on its way did as it was told.
  if (unkept !== null && !isClosing(unkept.error)) throw unkept.error;
  if (settled === null) {
    // The lease is somebody else's by now, and so is the page.
    if (settlement.countsAsPage) around.budget.giveBack(host);
    if (around.modes.mode === null) await around.modes.observe(claim, null);
    return;
  }
  tellSettled(host, settlement, settled, outcome, around);
  if (around.modes.mode === null) await around.modes.observe(claim, settlement.visit?.outcome ?? null);
  if (outcome.failure === 'unknown-host') await closeUnknown(host, settlement, around);
  if (read.answer?.kind === 'rate-limited' && around.policy.on429 === 'suspend') {
    await around.closeHost(host, 'RateLimited', 'rate-limit: 429 Too Many Requests');
  }
  around.faults.check();
}

/** The page is stored by now: what throws here is told, and changes nothing of it. */
function tellSettled(
  host: ActiveHost,
  settlement: PageSettlement,
  settled: Settled,
  outcome: Outcome,
  around: VisitSurroundings,
): void {
  const { claim } = settlement;
  if (settlement.countsAsPage) around.events.counters.pages++;
  try {
    around.discovery.remember(settlement.misses, settled.candidateIds);
    wakeHosts(settlement.candidates, around);
    // The host is kept for it, with what its answers taught.
    if (settlement.requeue !== null) around.wakeHost(host.lease.host);
    if (settlement.toldLinks !== null) around.events.links(claim.url, settlement.toldLinks);
    if (settlement.requeue === null) emitPageEvent(settled, settlement, outcome, around.events);
  } catch (error) {
    around.faults.note(claim.fetchUrl, error, claim.pageId);
  }
}

/** Settles a page on which a stage threw before anything was asked. */
export async function settleFault(
  { lease }: ActiveHost,
  claim: Claim,
  error: unknown,
  around: VisitSurroundings,
): Promise<void> {
  const settlement = faultSettlement(claim, error, null, around);
  if (claim.depth === 0) around.onStart?.(claim, 'other');
  const settled = await around.store.frontier.settle(lease, settlement);
  if (settled !== null) emitPageEvent(settled, settlement, null, around.events);
  around.faults.check();
}

type AnswerRead = { next: PageTurn } | { settlement: PageSettlement; answer: Answer | null };

/** All that is done with an answer before the store hears of it. What throws here is the page's outcome; the answer is null then. */
function readAnswer(
  host: ActiveHost,
  turn: PageTurn,
  exchange: Exchange,
  around: VisitSurroundings,
): AnswerRead {
  const { claim } = turn;
  try {
    if (exchange.fault !== null) throw exchange.fault.error;
    const answer = judgeAnswer(exchange.outcome, {
      maxBodyBytes: around.limits.maxBodyBytes,
      retryRefused: around.policy.retryRefused,
    });
    const lesson = learnOfHead(host, turn, exchange.outcome);
    if (lesson !== null)
      around.events.host({ host: host.lease.host, what: 'head-differs', detail: lesson, until: null });
    const next = nextTurn(host, turn, answer, exchange, around);
    if (next !== null) return { next };
    const isStart = claim.depth === 0;
    if (isStart && around.onStart !== null && DECIDED.has(answer.kind))
      around.onStart(claim, startAnswer(claim, answer, exchange, around));
    const decided = turn.method === 'HEAD' ? decidedByHead(answer, exchange) : answer;
    const settlement = settlementOf(claim, decided, exchange, around);
    // Given up: whoever waits for it would ask for it once more, as it may be a feed.
    if (isStart && !DECIDED.has(answer.kind) && settlement.requeue === null) around.onStart?.(claim, 'other');
    return { settlement, answer };
  } catch (error) {
    const settlement = faultSettlement(claim, error, exchange, around);
    if (claim.depth === 0) around.onStart?.(claim, 'other');
    return { settlement, answer: null };
  }
}

const DECIDED: ReadonlySet<Answer['kind']> = new Set(['page', 'not-modified', 'redirect', 'final']);

function startAnswer(
  { fetchUrl }: Claim,
  answer: Answer,
  { outcome }: Exchange,
  { policy, normalizer }: VisitSurroundings,
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

function isComplete({ found, body, facts }: PageSettlement): boolean {
  if (typeof body === 'string') facts!.bodyKey = body;
  return found === null && (body === null || typeof body === 'string');
}

/** Compares with what is stored, and waits until the body is kept; `unkept` when it could not be. */
async function complete(
  settlement: PageSettlement,
  exchange: Exchange,
  around: CrawlParts,
): Promise<{ settlement: PageSettlement; unkept: { error: unknown } | null }> {
  const { claim, body } = settlement;
  const past = await readPast(settlement, around.store.history);
  try {
    compareWithPast(settlement, past);
  } catch (error) {
    return { settlement: faultSettlement(claim, error, exchange, around), unkept: null };
  }
  try {
    if (body !== null) settlement.facts!.bodyKey = await body;
  } catch (error) {
    // Never a row that points nowhere: the page is fetched again, whenever the run goes on.
    const again = queuedAgain(claim, { attempts: claim.attempts, notBefore: null, priority: null });
    return { settlement: again, unkept: { error } };
  }
  return { settlement, unkept: null };
}

/** The page's next request, when this answer does not decide; null when it does. */
function nextTurn(
  { lease }: ActiveHost,
  asked: PageTurn,
  answer: Answer,
  { outcome, isConditional }: Exchange,
  around: VisitSurroundings,
): PageTurn | null {
  // No try of the page: the server never had it.
  if (outcome.failure === 'not-taken') return { ...asked, isResent: true };
  const isPlain = asked.isResent !== true && asked.headSaid === undefined;
  const turn: PageTurn = isPlain ? asked : { ...asked, isResent: false, headSaid: undefined };
  const { claim, method, check } = turn;
  if (method === 'HEAD' && leavesItToGet(answer, outcome, lease.state, around.policy.wantsType))
    return getAfterHead(turn, outcome);
  // To a reader no condition fails: a server that says so cannot deal with them, and would say it at every visit.
  if (outcome.head?.status === 412 && isConditional) return { ...turn, method: 'GET', check: 'unasked' };
  if (answer.kind === 'redirect') return respelled(turn, answer.location, outcome.head!.status, around);
  if (answer.kind !== 'not-modified' || check !== undefined || !wasRead(claim.last)) return null;
  // A 304 that nobody asked for may be a cache's mistake; one that was asked for is checked now and then.
  if (!isConditional) return { ...turn, method: 'GET', check: 'unasked' };
  return around.random() < around.trust.spotCheck ? { ...turn, method: 'GET', check: 'spot' } : null;
}

/** What a visit says of the host's own word: its validators, and the dates of its sitemaps. */
function learnOfHost(
  { lease }: ActiveHost,
  { claim, check, isDated }: PageTurn,
  { visit }: PageSettlement,
  around: VisitSurroundings,
): void {
  if (visit?.outcome !== 'changed') return;
  const { state } = lease;
  const { sitemapDate, visitedAt } = claim.last!;
  if (sitemapDate !== null && isDated) {
    if (sitemapDate > visitedAt) state.announced++;
    else if (isOverBefore(sitemapDate, visitedAt)) state.unannounced++;
  }
  const now = around.clock.now();
  if (check !== 'spot' || state.distrustedUntil > now) return;
  state.distrustedUntil = now + around.trust.distrustMs;
  around.events.host({
    host: lease.host,
    what: 'distrusted',
    detail: `${claim.url} was called not modified and had changed`,
    until: state.distrustedUntil,
  });
}

/** No other page of the host would fare better. */
async function closeUnknown(
  host: ActiveHost,
  { claim, reason }: PageSettlement,
  around: VisitSurroundings,
): Promise<void> {
  const detail = reason ?? 'network: unknown-host';
  if (around.isStartUrl(claim.url))
    emitUnknownHost(around.events, host, detail.replace(/^network: unknown-host(?:, )?/, ''));
  await around.closeHost(host, 'Unreachable', detail);
}

function wakeHosts(candidates: Candidate[], around: VisitSurroundings): void {
  for (let i = 0; i < candidates.length; i++)
    if (candidates[i].state === PAGE_STATES.Queued) around.wakeHost(candidates[i].host);
}

export function skipped(claim: Claim, state: PageState, reason: string): Settlement {
  return bareSettlement(claim, state, reason);
}

/** Settles a page that needs no request. */
export async function spareVisit(
  { lease }: ActiveHost,
  claim: Claim,
  knownBy: KnownBy,
  { store, clock, events, onStart }: VisitSurroundings,
): Promise<void> {
  if (claim.depth === 0) onStart?.(claim, 'unchanged');
  const settlement = sparedSettlement(claim, claim.last!, knownBy, clock.now());
  // Its site has answered, if not today.
  events.counters.answers++;
  const settled = await store.frontier.settle(lease, settlement);
  if (settled !== null) emitPageEvent(settled, settlement, null, events);
}
