/**
 * The crawl as a loop: whose turn is it, give it the turn, and when nobody can go, wait for the next answer or slot.
 *
 * It promises that a host with a free slot and a waiting page is never left idle while a connection is free, and that
 * it returns only when nothing waits, here or at any other worker on the run, the limit of pages is reached, or it is
 * told to stop. Nothing is sent under a lease that ran out. Stages do not call each other: `crawlPage` connects them.
 */
import { pageStateName } from '../frontier/page-state.ts';
import { claimPages } from './hosts/claim-pages.ts';
import { requestAgain, requestPage } from './hosts/exchange.ts';
import type { LeasedHost } from './hosts/leased-host.ts';
import { mayRequest } from './hosts/may-request.ts';
import { sendHostRequest } from './hosts/send-host-request.ts';
import { waitingFor } from './hosts/waiting-for.ts';
import type { CrawlParts } from './parts.ts';
import type { CrawlLoop } from './run/crawl-loop.ts';
import { createRunEnd } from './run/end-of-run.ts';
import { createWorkFinder } from './run/find-work.ts';
import type { LoopEnd } from './run/loop-end.ts';
import { createLoopParts } from './run/loop-parts.ts';
import { createTurns } from './run/turns.ts';
import { runAfterParse } from './visit/after-parse.ts';
import { runBeforeSettle } from './visit/before-settle.ts';
import { comparePage, mustCompare } from './visit/compare-page.ts';
import { judgeFound } from './visit/judge-found.ts';
import { readAnswer } from './visit/read-answer.ts';
import { refusePage, settlePage } from './visit/settle-page.ts';
import { tellPage } from './visit/tell-page.ts';

/** `discoverer`: this loop finds out what the start URLs and their hosts' sitemaps are; the others of the run have null. */
export function createCrawlLoop(parts: CrawlParts, discoverer: { isResumed: boolean } | null): CrawlLoop {
  const loop = createLoopParts(parts, discoverer);
  const { alarm, hosts, schedule, signal, sitemapDiscovery, slots } = loop;
  const turns = createTurns(loop, giveTurn);
  const work = createWorkFinder(loop, turns);
  const end = createRunEnd(loop, turns);

  async function run(): Promise<LoopEnd> {
    loop.begin();
    // At once: another worker may wait for it. A search that was cut off has not found all there is.
    const discovered = sitemapDiscovery?.ended
      .then(() => (signal.mayBegin ? parts.store.run.knowsNoMore() : undefined))
      .catch(signal.fail);
    try {
      await giveTurns();
      signal.throwFailure();
      await discovered;
      await hosts.releaseAll();
      await loop.permits.returnUnused();
    } finally {
      loop.close();
    }
    return end.reason;
  }

  async function giveTurns(): Promise<void> {
    while (!signal.hasFailed) {
      alarm.reset();
      const mayBegin = signal.mayBegin && slots.free > 0;
      const host = mayBegin ? schedule.next() : null;
      if (host !== null) turns.take(host);
      else if (await work.find(mayBegin)) continue;
      else if (await end.isReached()) break;
      else await alarm.sleep();
    }
    await work.finish();
    schedule.stop();
    sitemapDiscovery?.stop();
    hosts.stop();
  }

  function giveTurn(host: LeasedHost, now: number): Promise<void> {
    const request = host.takeRequest(now);
    if (request !== undefined) return sendHostRequest(host, request, loop);
    const { closed } = host.lease;
    if (closed !== null) return hosts.close(host, pageStateName(closed.state), closed.reason);
    return crawlPage(host);
  }

  /** Steps 4 to 10 for one page. What needs another request (HEAD then GET, a retry, a redirect) comes back for it later. */
  async function crawlPage(host: LeasedHost): Promise<void> {
    const turn = host.turns.shift() ?? (await claimPages(host, loop)); // 4 claim
    if (turn === null) return;
    const verdict = mayRequest(host, turn, loop); // 5 may we, and when
    if (verdict === 'later') return;
    if (verdict !== 'now') return refusePage(host, turn, verdict, loop);
    const exchange = await requestPage(host, turn, loop); // 6 request
    const page = readAnswer(host, turn, exchange, loop); // 7 parse
    if ('next' in page) return requestAgain(host, page, loop);
    if (page.settlement.parsed !== null) await runAfterParse(page, loop);
    if (mustCompare(page, loop)) await comparePage(page, loop); // 8 compare
    if (loop.urlJudge !== null) await judgeFound(page, loop);
    if (loop.beforeSettle !== null) await runBeforeSettle(page, loop);
    const settled = await settlePage(host, page, loop); // 9 settle
    return tellPage(host, page, settled, loop); // 10 tell
  }

  return {
    run,
    fail: signal.fail,
    stop: loop.stop,
    waitingFor: () => waitingFor(loop),
    hadFurtherPages: () => end.hadFurtherPages,
    hasMoreToFind: () => sitemapDiscovery?.isCut ?? false,
    get now() {
      return { inFlight: turns.open, hosts: hosts.size, cooling: schedule.cooling };
    },
  };
}
