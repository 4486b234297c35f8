/**
 * What one loop works with besides the crawl's parts, put together here: the hosts it holds, whose turn it is, how many
 * pages it may still request, and what it sleeps on. Nothing here decides anything while the loop runs.
 */
import { setMaxListeners } from 'node:events';
import { HostSchedule } from '../../frontier/host-schedule.ts';
import { createSitemapDiscovery, type SitemapDiscovery } from '../discover/discover-sitemaps.ts';
import { createDepthPasser, type DepthPasser } from '../discover/pass-on-depths.ts';
import type { LeasedHost } from '../hosts/leased-host.ts';
import { createLeasedHosts, type LeasedHosts } from '../hosts/leased-hosts.ts';
import type { CrawlParts } from '../parts.ts';
import { createPutOff, type PutOff } from '../revisit/wait-for-sitemap-dates.ts';
import type { VisitParts } from '../visit/visit-parts.ts';
import { WaitingForProgram } from '../visit/wait-for-program.ts';
import { createAlarm } from './alarm.ts';
import type { WorkWatch } from './crew.ts';
import { createLoopSignal, type LoopSignal } from './loop-signal.ts';
import { createPagePermits, type PagePermits } from './page-permits.ts';

export interface LoopParts extends VisitParts {
  signal: LoopSignal;
  alarm: ReturnType<typeof createAlarm>;
  permits: PagePermits;
  schedule: HostSchedule<LeasedHost>;
  hosts: LeasedHosts;
  /** Null where this loop finds no pages by sitemaps. */
  sitemapDiscovery: SitemapDiscovery | null;
  putOff: PutOff;
  depths: DepthPasser;
  others: WorkWatch;
  waitingForProgram: WaitingForProgram;
  /** Requests under way that nobody waits for when the run is stopped. */
  dispensable: number;
  begin(): void;
  /** Nothing more is begun. What is under way has the drain time to end. */
  stop(): void;
  /** The loop has ended: no timer and no listener stays behind. */
  close(): void;
}

/** `discoverer`: this loop finds out what the start URLs and their hosts' sitemaps are; one loop of a run does. */
export function createLoopParts(parts: CrawlParts, discoverer: { isResumed: boolean } | null): LoopParts {
  const { store, clock, allowance, crew, slots, limits, fetcher, bodies } = parts;
  const alarm = createAlarm(clock);
  const onChange = alarm.ring;
  const signal = createLoopSignal(onChange);
  const onFailure = signal.fail;
  const permits = createPagePermits(parts, { onMore: placeAll, onFailure });
  const schedule = new HostSchedule<LeasedHost>(clock, onChange);
  const hosts = createLeasedHosts(parts, {
    ...{ schedule, permits, onChange, onFailure },
    // Others may have been given what we were permitted.
    onLost: () => void permits.returnUnused().catch(onFailure),
  });
  const wakeHost = (host: string) => hosts.wake(host);
  const drop = new AbortController();
  // Every page that waits for a program hears it: Node would take so many for a leak, and say so on standard error.
  setMaxListeners(0, drop.signal);
  const hears = { hosts, isOutOfPages, onChange, onFailure, dropped: drop.signal };
  const sitemapDiscovery =
    discoverer === null ? null : createSitemapDiscovery(parts, { ...hears, ...discoverer });
  const visit: VisitParts = {
    ...parts,
    permits,
    dropped: drop.signal,
    placed(host) {
      schedule.place(host);
      // The loop may sleep by now: a claim can bring more pages than the one that waited for it.
      if (host.place === 'ring') onChange();
    },
    wakeHost,
    closeHost: (host, state, reason) => hosts.close(host, state, reason),
    onStart: sitemapDiscovery === null ? null : sitemapDiscovery.seeStart,
  };

  function placeAll(): void {
    for (const host of hosts.all()) schedule.place(host);
    onChange();
  }

  /** A run that waits for a larger allowance keeps what is named: once it has read all pages, that is all it has to know. */
  function isOutOfPages(): boolean {
    return permits.isSpent && (!allowance?.pausesAt.includes('limit') || store.frontier.waiting() > 0);
  }

  /** Others may have left something for us, or could use something of ours. */
  function recheck(): void {
    permits.askAgain();
    if (slots.free === 0) hosts.giveBackUnserved().catch(onFailure);
    hosts.recheck();
  }

  const depths = createDepthPasser({ frontier: store.frontier, clock, wakeHost, onTime: onChange });
  const others = crew.watchWork(recheck);
  let leaveSlots: () => void = () => {};
  let cancelDrain: () => void = () => {};
  return {
    ...visit,
    ...{ signal, alarm, permits, schedule, hosts, sitemapDiscovery, depths, others },
    putOff: createPutOff({ ...visit, ...hears }),
    waitingForProgram: new WaitingForProgram(),
    dispensable: 0,
    begin() {
      leaveSlots = slots.onFree(onChange);
      sitemapDiscovery?.begin();
    },
    stop() {
      if (!signal.stop()) return;
      cancelDrain = clock.after(limits.drainMs, () => {
        fetcher.abortAll();
        drop.abort();
        // Bodies that are still on their way are given up: their pages are fetched again.
        bodies?.close().catch(onFailure);
      });
      sitemapDiscovery?.stop();
      hosts.stop();
    },
    close() {
      // What a program's stage is still at work on, after a failure, comes to nothing.
      drop.abort();
      leaveSlots();
      others.stop();
      cancelDrain();
      depths.stop();
      hosts.end();
    },
  };
}
