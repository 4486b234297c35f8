/**
 * The crawl as a loop: whose turn is it, give it the turn, and when nobody can go, wait for the next answer or slot.
 *
 * It promises that a host with a free slot and a waiting page is never left idle while a connection is free, and that
 * it returns only when nothing waits, here or at any other worker on the run, the limit of pages is reached, or it is
 * told to stop. Nothing is sent under a lease that ran out. The stages are functions of their own: frontier/ decides the
 * order, politeness/ the moment, visit-page.ts does one page.
 */

import type { WaitingFor } from '../events/events.ts';
import type { Claim } from '../frontier/candidate.ts';
import { HostSchedule } from '../frontier/host-schedule.ts';
import { type PageState, pageStateName } from '../frontier/page-state.ts';
import type { ClaimAnswer } from '../store/frontier-port.ts';
import { createSitemapDiscovery } from './discover/discover-sitemaps.ts';
import { createDepthPasser } from './discover/pass-on-depths.ts';
import { type Exchange, exchangeWith, logRequest } from './hosts/exchange.ts';
import type { ActiveHost, Lookup, PageTurn } from './hosts/leased-host.ts';
import { createHostDesk } from './hosts/leased-hosts.ts';
import { waitingFor } from './hosts/waiting-for.ts';
import type { CrawlParts } from './parts.ts';
import { awaitsDates, isDated, sparedBy } from './revisit/skip-unchanged.ts';
import { createPutOff } from './revisit/wait-for-sitemap-dates.ts';
import { createAlarm } from './run/alarm.ts';
import { createFurtherPages } from './run/further-pages.ts';
import { createHostPermits } from './run/host-allowance.ts';
import type { LoopEnd } from './run/loop-end.ts';
import { watchOthers } from './run/other-workers.ts';
import { createBudget } from './run/page-allowance.ts';
import { emitPageEvent } from './visit/emit-page-event.ts';
import { settleFault, skipped, spareVisit, type VisitSurroundings, visitPage } from './visit/visit-page.ts';

const CLAIMS_AT_ONCE = 16;
const PERMITS_AT_ONCE = 64;

interface Refusal {
  state: PageState;
  reason: string;
  /** The whole host is done for this run, not just the page. */
  closesHost: boolean;
  /** It says nothing of the page itself: what is known of that stays. */
  isUnasked?: true;
}

export interface CrawlLoop {
  run(): Promise<LoopEnd>;
  /** Finish what is in flight, but wait no longer for it than the drain time; start nothing new. */
  stop(): void;
  /** Ends the loop with an error that no call can answer for. */
  fail(error: unknown): void;
  /** Pages were queued besides those that were due. */
  hadFurtherPages(): boolean;
  /** After the end: sitemaps were not read that may name more pages. */
  hasMoreToFind(): boolean;
  /** Why nothing happens, where that can be told. */
  waitingFor(): WaitingFor | null;
  /** For the progress display. */
  readonly now: { inFlight: number; hosts: number; cooling: number };
}

/** `discoverer`: this loop finds out what the start URLs and their hosts' sitemaps are; one loop of a run does, the others have null. */
export function createCrawlLoop(parts: CrawlParts, discoverer: { isResumed: boolean } | null): CrawlLoop {
  const { store, clock, limits, policy, slots } = parts;
  const alarm = createAlarm(clock);
  const wake = alarm.ring;
  const budget = createBudget(limits.maxPages, {
    run: store.run,
    // Many at once spare the store; of few, no worker keeps more than it can use from the others.
    block: Math.min(PERMITS_AT_ONCE, Math.max(slots.total, Math.ceil((limits.maxPages ?? 0) / 50))),
    onMore: () => placeAll(),
    onFailure: fail,
  });
  const hostPermits = createHostPermits(parts.allowance);
  const isOutOfBudget = (hostId: number) => budget.isDry || hostPermits.isSpent(hostId);
  const schedule = new HostSchedule<ActiveHost>(clock, () => wake());
  const desk = createHostDesk(parts, {
    schedule,
    isOutOfBudget,
    onChange: () => wake(),
    // Others may have been given what we were permitted.
    onLost: () => void budget.returnUnused().catch(fail),
    onFailure: fail,
  });
  const hears = { desk, isOutOfPages, onChange: () => wake(), onFailure: fail };
  const sitemaps = discoverer === null ? null : createSitemapDiscovery(parts, { ...hears, ...discoverer });
  const around: VisitSurroundings = {
    ...parts,
    budget: {
      take({ lease }) {
        budget.take();
        hostPermits.take(lease.hostId);
      },
      giveBack({ lease }) {
        budget.giveBack();
        hostPermits.giveBack(lease.hostId);
      },
    },
    placed(host) {
      schedule.place(host);
      // The loop may sleep by now: a claim can bring more pages than the one that waited for it.
      if (host.place === 'ring') wake();
    },
    wakeHost: (host) => desk.wake(host),
    closeHost: (host, state, reason) => desk.close(host, state, reason),
    onStart: sitemaps === null ? null : sitemaps.seeStart,
  };
  const further = createFurtherPages(store, parts.allowance, hostPermits, desk);
  const putOff = createPutOff({ ...around, ...hears });
  const depths = createDepthPasser({
    frontier: store.frontier,
    clock,
    wakeHost: (host) => desk.wake(host),
    onTime: wake,
  });
  const others = watchOthers(store, clock, look);
  let [inFlight, lookupsInFlight, isStopped] = [0, 0, false];
  let limit: Extract<LoopEnd, 'limit' | 'host-limit'> | null = null;
  let cancelDrain: () => void = () => {};
  let failure: { error: unknown } | null = null;
  async function run(): Promise<LoopEnd> {
    const leaveSlots = slots.onFree(wake);
    sitemaps?.begin();
    // At once: another who looks, too, may wait for it. Cut off, it has not found all there is.
    const looked = sitemaps?.ended
      .then(() => (isStopped || failure !== null ? undefined : store.run.knowsNoMore()))
      .catch(fail);
    try {
      await giveTurns();
      if (failure !== null) throw failure.error;
      await looked;
      await desk.releaseAll();
      await budget.returnUnused();
    } finally {
      leaveSlots();
      others.stop();
      cancelDrain();
      depths.stop();
      desk.end();
    }
    return isStopped ? 'stopped' : (limit ?? 'done');
  }

  async function giveTurns(): Promise<void> {
    /** Goes on beside the loop: a store on another machine takes its time to answer, and must hold up nobody whose turn it is. */
    let search: Promise<boolean> | null = null;
    /** Something happened since the search began, of which it may not know. */
    let isStale = false;
    for (;;) {
      if (failure !== null) break;
      alarm.reset();
      const hasSlot = !isStopped && slots.free > 0;
      const host = hasSlot ? schedule.next() : null;
      if (host !== null) {
        takeTurn(host);
        continue;
      }
      if (hasSlot && search === null) {
        search = findMore();
        isStale = false;
      }
      if (search !== null) {
        const hasMore = await (store.isShared ? Promise.race([search, alarm.sleep()]) : search);
        if (hasMore === undefined) {
          isStale = true;
          continue;
        }
        search = null;
        if (hasMore || isStale) continue;
      }
      // A run that is stopped has no use for what sitemaps say: it waits for pages only.
      if (isStopped && inFlight > 0 && inFlight === lookupsInFlight) parts.fetcher.abortAll();
      // What has happened since the search began may be a page that it did not find.
      const isQuiet = !alarm.hasRung;
      if (inFlight === 0 && (isStopped || (isQuiet && (await isOver())))) break;
      await alarm.sleep();
    }
    await search?.catch(fail);
    schedule.stop();
    sitemaps?.stop();
    desk.stop();
  }

  /** Nobody can go: permits, depths to pass on, hosts to lease. */
  async function findMore(): Promise<boolean> {
    if (budget.isDry && desk.size > 0 && (await budget.refill())) return true;
    if (budget.isSpent) return false;
    const isIdle = inFlight === 0 && schedule.isEmpty;
    return (await depths.passOn(isIdle)) || (await desk.leaseMore(slots.free));
  }

  /** Nothing is left to do here. Others may be at work on the run, and find more, or give permits back. */
  async function isOverForAll(): Promise<boolean> {
    if (budget.isSpent) {
      // Kept: a look at others makes the budget worth asking again, though the run is over.
      const isAtLimit = await others.isRunOver(limits.maxPages);
      // Nothing is in flight: permits that the store still counts as ours were in an answer that got lost.
      if (isAtLimit) limit = 'limit';
      else await store.run.returnPages(limits.maxPages!);
      return isAtLimit;
    }
    await budget.returnUnused();
    if (await further.queue()) {
      wake();
      return false;
    }
    if (hasStarving()) {
      limit = 'host-limit';
      return true;
    }
    return others.isRunOver(null);
  }

  /** A run that waits for a larger allowance keeps what is named: once it has read all pages, that is all it has to know. */
  function isOutOfPages(): boolean {
    return budget.isSpent && (!parts.allowance?.pausesAt.includes('limit') || store.frontier.waiting() > 0);
  }

  /** What waits here is of hosts that may not be asked for more. */
  function hasStarving(): boolean {
    for (const { isDrained, turns, lease } of desk.all())
      if ((!isDrained || turns.length > 0) && hostPermits.isSpent(lease.hostId)) return true;
    return false;
  }

  /** Time to look whether others left something for us, or could use something of ours. */
  function look(): void {
    budget.askAgain();
    if (slots.free === 0) desk.giveBackUnserved().catch(fail);
    desk.lookAgain();
  }

  /** One turn of a host: an errand, a page that is on its way, or a newly claimed one. Never throws. */
  function takeTurn(host: ActiveHost): void {
    const now = clock.monotonic();
    if (host.leaseEnds <= now) {
      host.isLapsed = true; // until the lease is renewed
      return;
    }
    inFlight++;
    slots.take();
    host.openTurns++;
    host.turnSince = now;
    const end = () => endTurn(host);
    giveTurn(host, now).then(end, (error) => {
      fail(error);
      end();
    });
  }

  function endTurn(host: ActiveHost): void {
    inFlight--;
    slots.give();
    host.openTurns--;
    if (host.openTurns === 0 && desk.isPausedTooLong(host))
      return void desk.closePaused(host).catch(fail).then(wake);
    host.giveUpGuesses(clock.now());
    schedule.place(host);
    if (host.isIdle) desk.releaseIfIdle(host).catch(fail);
    else if (host.lease.isWanted) desk.giveBack(host).catch(fail);
    wake();
  }

  function giveTurn(host: ActiveHost, now: number): Promise<void> {
    const errand = host.errands.shift();
    if (errand !== undefined) return runErrand(host, errand);
    const lookup = host.takeLookup(now);
    return lookup === null ? takePage(host) : runLookup(host, lookup);
  }

  async function takePage(host: ActiveHost): Promise<void> {
    const { closed } = host.lease;
    if (closed !== null) return desk.close(host, pageStateName(closed.state), closed.reason);
    const turn = host.turns.shift() ?? (await claimPage(host));
    if (turn === null) return;
    const now = clock.monotonic();
    if (isStopped || isOutOfBudget(host.lease.hostId) || host.leaseEnds <= now || host.pace.readyAt() > now) {
      // Claimed ahead of its slot, or others went ahead while it was claimed, or the claim outlasted the lease.
      host.turns.unshift(turn);
      return;
    }
    let refusal: ReturnType<typeof mayAsk>;
    try {
      refusal = mayAsk(host, turn);
    } catch (error) {
      return settleFault(host, turn.claim, error, around);
    }
    if (refusal === 'wait') return;
    host.owesPage = false;
    if (refusal === null) await visitPage(host, turn, around);
    else if (refusal.closesHost) await desk.close(host, refusal.state, refusal.reason);
    else {
      // A refused page costs no slot: the host's next one may go at once.
      const settlement = skipped(turn.claim, refusal.state, refusal.reason);
      if (refusal.isUnasked && parts.allowance === null) settlement.isUnasked = true;
      const settled = await store.frontier.settle(host.lease, settlement);
      if (settled !== null) emitPageEvent(settled, settlement, null, parts.events);
    }
  }

  async function claimPage(host: ActiveHost): Promise<PageTurn | null> {
    host.isClaiming = true;
    const { pace } = host;
    const count = pace.delayMs > 0 ? 1 : Math.min(CLAIMS_AT_ONCE, pace.perHost, slots.total);
    host.isDrained = true; // a page queued while we ask takes this back
    const { claims, nextRetryAt, readAt } = await claimToAsk(host, count);
    host.isClaiming = false;
    if (claims.length === 0) {
      if (host.awaitsDates) host.isDrained = false;
      // Who queued a page meanwhile has it claimed now: it does not wait for the time of another.
      else if (nextRetryAt !== null && host.isDrained) {
        host.isDrained = false;
        host.retryAt = clock.monotonic() + Math.max(0, nextRetryAt - clock.now());
      }
      return null;
    }
    host.isDrained = false;
    host.retryAt = 0;
    const method = policy.headFirst ? 'HEAD' : 'GET';
    for (const claim of claims) host.turns.push({ claim, method, isDated: isDated(claim.last, readAt) });
    return host.turns.shift()!;
  }

  /** Pages that need no request are settled on the way: they take no slot, and no turn. */
  async function claimToAsk(host: ActiveHost, count: number): Promise<ClaimAnswer & { readAt?: number }> {
    for (;;) {
      // Both before: a claim may be older than what sitemaps say while it is on its way.
      const readAt = parts.readSitemaps.get(host.lease.host);
      const dates = sitemaps?.datesOf(host.lease.host) ?? null;
      const answer = await store.frontier.claim(host.lease, count, clock.now());
      // Sitemaps that were being read may have more to say: whoever goes on with the run judges these pages.
      if (isStopped) return { ...answer, readAt };
      const claims: Claim[] = [];
      const undated: Claim[] = [];
      for (const claim of answer.claims) {
        let knownBy: ReturnType<typeof sparedBy> = null;
        try {
          if (dates !== null && awaitsDates(claim, host.lease.state, parts)) {
            undated.push(claim);
            continue;
          }
          if (claim.last !== null) knownBy = sparedBy(claim, readAt, host.lease.state, parts);
        } catch (error) {
          await settleFault(host, claim, error, around);
          continue;
        }
        if (knownBy === null) claims.push(claim);
        else await spareVisit(host, claim, knownBy, around);
      }
      if (undated.length > 0) await putOff(host, undated, dates!);
      if (claims.length > 0 || answer.claims.length === 0 || host.awaitsDates)
        return { ...answer, claims, readAt };
    }
  }

  /** Step 5: null lets the page go; otherwise why not. */
  function mayAsk(host: ActiveHost, turn: PageTurn): Refusal | 'wait' | null {
    const { claim } = turn;
    if (policy.robots !== null) {
      const origin = originOf(claim.fetchUrl);
      const robots = host.robots.get(origin);
      if (robots !== undefined && 'unreachable' in robots)
        return { state: robots.state, reason: robots.unreachable, closesHost: false, isUnasked: true };
      if (robots === undefined || robots.expiresAt <= clock.now()) {
        desk.openGate(host, turn, origin);
        return 'wait';
      }
      const { allowed, rule } = robots.rules.decide(claim.fetchUrl);
      // The site has answered, if only by its robots.txt.
      if (!allowed) parts.events.counters.answers++;
      if (!allowed) return { state: policy.robots.deniedState, reason: `robots: ${rule}`, closesHost: false };
    }
    const refusal = mayAskHost(host);
    if (refusal !== null) host.turns.unshift(turn);
    return refusal;
  }

  function mayAskHost(host: ActiveHost): Refusal | null {
    const { maxHostRequests } = limits;
    if (maxHostRequests !== null && host.lease.state.requests >= maxHostRequests) {
      return {
        state: 'RequestLimitHit',
        reason: `limit: max-domain-requests ${maxHostRequests}`,
        closesHost: true,
      };
    }
    if (!host.pace.isGivenUp) return null;
    return { state: 'Unreachable', reason: `network: no answer from ${host.lease.host}`, closesHost: true };
  }

  async function runErrand(host: ActiveHost, errand: ActiveHost['errands'][number]): Promise<void> {
    const { url, maxBytes, isResent } = errand;
    const exchange = await exchangeWith(host, around, { url, method: 'GET', maxBytes, isResent }, null);
    logRequest(host, around, exchange, 'robots', null, null);
    errand.done(exchange.outcome);
    noteFault(errand.url, exchange, parts);
  }

  async function runLookup(host: ActiveHost, lookup: Lookup): Promise<void> {
    const refused = host.lease.closed?.reason ?? mayAskHost(host)?.reason;
    if (refused !== undefined) return lookup.done({ refused, mayPass: true });
    const { url, maxBytes, onPiece, isResent, method = 'GET' } = lookup;
    lookupsInFlight++;
    const exchange = await exchangeWith(host, around, { url, method, maxBytes, onPiece, isResent }, null);
    lookupsInFlight--;
    logRequest(host, around, exchange, 'sitemap', null, null);
    // A block or the end of the lease came in the last moment.
    if (exchange.outcome.failure === 'not-sent') host.lookups.unshift(lookup);
    else lookup.done(exchange.outcome);
    noteFault(url, exchange, parts);
  }

  async function isOver(): Promise<boolean> {
    if (!isOverForPages()) return false;
    sitemaps?.noMorePages();
    if (!sitemaps?.isUnderWay) return isOverForAll();
    // Whoever has the host that is to be asked for sitemaps may wait for a permit of ours.
    await budget.returnUnused();
    return false;
  }

  function isOverForPages(): boolean {
    if (budget.isSpent) return true;
    if (!schedule.isEmpty || desk.isExchanging) return false;
    for (const host of desk.all())
      if (host.isWaiting || host.gates.size > 0 || host.errands.length > 0) return false;
    return true;
  }

  function placeAll(): void {
    for (const host of desk.all()) schedule.place(host);
    wake();
  }

  function fail(error: unknown): void {
    failure ??= { error };
    wake();
  }

  return {
    run,
    fail,
    stop() {
      if (isStopped) return;
      isStopped = true;
      cancelDrain = clock.after(limits.drainMs, () => {
        parts.fetcher.abortAll();
        // Bodies that are still on their way are given up: their pages are fetched again.
        parts.bodies?.close().catch(fail);
      });
      sitemaps?.stop();
      desk.stop();
      wake();
    },
    waitingFor: () =>
      waitingFor({
        ...{ hosts: desk.all(), clock, isShared: store.isShared },
        sitemapOf: (host) => sitemaps?.readingOf(host) ?? null,
      }),
    hadFurtherPages: () => further.wereQueued,
    hasMoreToFind: () => sitemaps?.isCut ?? false,
    get now() {
      return { inFlight, hosts: desk.size, cooling: schedule.cooling };
    },
  };
}

function originOf(url: string): string {
  const slash = url.indexOf('/', url.indexOf('//') + 2);
  return slash === -1 ? url : url.slice(0, slash);
}

/** For a request that is no page: whoever made it has heard of it as of one without an answer. */
function noteFault(url: string, { fault }: Exchange, { faults }: CrawlParts): void {
  if (fault === null) return;
  faults.note(url, fault.error);
  faults.check();
}
