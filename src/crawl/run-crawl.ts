/**
 * The crawl as a loop: whose turn is it, give it the turn, and when nobody can go, wait for the next answer or slot.
 *
 * It promises that a host with a free slot and a waiting page is never left idle while a connection is free, and that
 * it returns only when nothing waits, the limit of pages is reached, or it is told to stop. The stages are functions of
 * their own: frontier/ decides the order, politeness/ the moment, visit-page.ts does one page.
 */

import { HostSchedule } from '../frontier/host-schedule.ts';
import { type PageState, pageStateName } from '../frontier/page-state.ts';
import type { ActiveHost, PageTurn } from './active-host.ts';
import { createBudget } from './budget.ts';
import { exchangeWith, logRequest } from './exchange.ts';
import { createHostDesk } from './host-desk.ts';
import type { CrawlParts } from './parts.ts';
import { skipped, tellPage, type VisitSurroundings, visitPage } from './visit-page.ts';

const LOWERED_PAGES_AT_ONCE = 64;
const CLAIMS_AT_ONCE = 16;

interface Refusal {
  state: PageState;
  reason: string;
  /** The whole host is done for this run, not just the page. */
  closesHost: boolean;
}

export type LoopEnd = 'done' | 'limit' | 'stopped';

export interface CrawlLoop {
  run(pagesDone: number): Promise<LoopEnd>;
  /** Finish what is in flight, start nothing new. */
  stop(): void;
  /** Ends the loop with an error that no call can answer for. */
  fail(error: unknown): void;
  /** For the progress display. */
  readonly now: { inFlight: number; hosts: number; cooling: number };
}

export function createCrawlLoop(parts: CrawlParts): CrawlLoop {
  const { store, clock, limits, policy } = parts;
  const budget = createBudget(limits.maxPages, () => placeAll());
  const schedule = new HostSchedule<ActiveHost>(clock, () => wake());
  const desk = createHostDesk(
    parts,
    schedule,
    () => budget.isSpent,
    () => wake(),
    fail,
  );
  const around: VisitSurroundings = {
    ...parts,
    budget,
    placed(host) {
      schedule.place(host);
      // The loop may sleep by now: a claim can bring more pages than the one that waited for it.
      if (host.place === 'ring') wake();
    },
    wakeHost: (host) => desk.wake(host),
    closeHost: (host, state, reason) => desk.close(host, state, reason),
  };
  let inFlight = 0;
  let isStopped = false;
  let failure: { error: unknown } | null = null;
  let isAwake = false;
  let endSleep: () => void = () => {};

  /** Also heard while the loop waits for the store, so that nothing that happens meanwhile is slept over. */
  function wake(): void {
    isAwake = true;
    endSleep();
  }

  async function run(pagesDone: number): Promise<LoopEnd> {
    budget.begin(pagesDone);
    for (;;) {
      if (failure !== null) break;
      isAwake = false;
      const host = isStopped || inFlight >= limits.concurrency ? null : schedule.next();
      if (host !== null) {
        takeTurn(host);
        continue;
      }
      const hasRoom = !isStopped && inFlight < limits.concurrency && !budget.isSpent;
      if (hasRoom && ((await lowerDepths()) || (await desk.leaseMore()))) continue;
      if (inFlight === 0 && (isStopped || isOver())) break;
      if (isAwake) continue;
      await new Promise<void>((resolve) => {
        endSleep = resolve;
      });
    }
    schedule.stop();
    desk.stop();
    if (failure !== null) throw failure.error;
    await desk.releaseAll();
    return isStopped ? 'stopped' : budget.isSpent ? 'limit' : 'done';
  }

  /** One turn of a host: an errand, a page that is on its way, or a newly claimed one. Never throws. */
  function takeTurn(host: ActiveHost): void {
    inFlight++;
    host.openTurns++;
    const errand = host.errands.shift();
    const turn = errand ? runErrand(host, errand) : takePage(host);
    turn.catch(fail).finally(() => {
      inFlight--;
      host.openTurns--;
      schedule.place(host);
      if (host.isIdle) desk.releaseIfIdle(host).catch(fail);
      wake();
    });
  }

  async function takePage(host: ActiveHost): Promise<void> {
    const { closed } = host.lease;
    if (closed !== null) return desk.close(host, pageStateName(closed.state), closed.reason);
    const turn = host.turns.shift() ?? (await claimPage(host));
    if (turn === null) return;
    if (isStopped || budget.isSpent || host.pace.readyAt() > clock.monotonic()) {
      // Claimed ahead of its slot, or others went ahead while it was claimed.
      host.turns.unshift(turn);
      return;
    }
    const refusal = mayAsk(host, turn);
    if (refusal === 'wait') return;
    if (refusal === null) await visitPage(host, turn, around);
    else if (refusal.closesHost) await desk.close(host, refusal.state, refusal.reason);
    else {
      // A refused page costs no slot: the host's next one may go at once.
      const settlement = skipped(turn.claim, refusal.state, refusal.reason);
      const settled = await store.settle(host.lease, settlement);
      if (settled !== null) tellPage(settled, settlement, null, parts.report);
    }
  }

  async function claimPage(host: ActiveHost): Promise<PageTurn | null> {
    host.isWaiting = true;
    const { pace } = host;
    const count = pace.delayMs > 0 ? 1 : Math.min(CLAIMS_AT_ONCE, pace.perHost, limits.concurrency);
    host.isDrained = true; // a page queued while we ask takes this back
    const { claims, nextRetryAt } = await store.claim(host.lease, count, clock.now());
    host.isWaiting = false;
    if (claims.length === 0) {
      if (nextRetryAt !== null) {
        host.isDrained = false;
        host.retryAt = clock.monotonic() + Math.max(0, nextRetryAt - clock.now());
      }
      return null;
    }
    host.isDrained = false;
    host.retryAt = 0;
    for (const claim of claims) host.turns.push({ claim, method: policy.headFirst ? 'HEAD' : 'GET' });
    return host.turns.shift()!;
  }

  /** Step 5: null lets the page go; otherwise why not. */
  function mayAsk(host: ActiveHost, turn: PageTurn): Refusal | 'wait' | null {
    const { claim } = turn;
    if (policy.robots !== null) {
      const origin = originOf(claim.fetchUrl);
      const robots = host.robots.get(origin);
      if (robots !== undefined && 'unreachable' in robots)
        return { state: 'Unreachable', reason: robots.unreachable, closesHost: false };
      if (robots === undefined || robots.expiresAt <= clock.now()) {
        desk.openGate(host, turn, origin);
        return 'wait';
      }
      const { allowed, rule } = robots.rules.decide(claim.fetchUrl);
      // The site has answered, if only by its robots.txt.
      if (!allowed) parts.report.counters.answers++;
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
    const exchange = await exchangeWith(host, around, errand.url, 'GET', null, errand.maxBytes);
    logRequest(host, around, exchange, 'robots', null, null);
    errand.done(exchange.outcome);
  }

  async function lowerDepths(): Promise<boolean> {
    const hosts = await store.lowerDepths(LOWERED_PAGES_AT_ONCE);
    for (const host of hosts ?? []) desk.wake(host);
    return hosts !== null;
  }

  function isOver(): boolean {
    if (budget.isSpent) return true;
    if (!schedule.isEmpty || desk.isReleasing) return false;
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
      isStopped = true;
      desk.stop();
      wake();
    },
    get now() {
      return { inFlight, hosts: desk.size, cooling: schedule.cooling };
    },
  };
}

function originOf(url: string): string {
  const slash = url.indexOf('/', url.indexOf('//') + 2);
  return slash === -1 ? url : url.slice(0, slash);
}
