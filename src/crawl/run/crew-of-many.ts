/**
 * A worker among others on one run: it takes no more hosts than it can serve at once, never waits for the store while a
 * host of its own has a turn, says that it is alive, and believes the store where its own counts are only a part.
 */
import type { Clock } from '../../primitives/clock.ts';
import type { LoopLag } from '../../primitives/loop-lag.ts';
import type { RunPort } from '../../store/run-port.ts';
import { type Crew, LEASES_AT_ONCE } from './crew.ts';
import { type HeartbeatStore, startHeartbeat } from './heartbeat.ts';
import { type SharedWork, watchSharedWork } from './other-workers.ts';

/** Reading a host's sitemaps may wait for a worker that holds the host: the store is then asked for it each second. */
const HOSTS_READ_AT_ONCE = 64;
/** An order is obeyed within five seconds. */
const ASK_FOR_ORDERS_MS = 2_000;
/** Timers that run so late are those of a process with more work than its processor can do. */
const BUSY_LAG_MS = 25;

export interface CrewOfManyParts {
  store: SharedWork & HeartbeatStore & { run: Pick<RunPort, 'isDone' | 'counts' | 'heartbeat'> };
  clock: Clock;
  lag: LoopLag;
  pace: { delayMs: number; perHost: number };
}

export function createCrewOfMany({ store, clock, lag, pace }: CrewOfManyParts): Crew {
  return {
    othersMayHaveMore: true,
    asksForOrdersMs: ASK_FOR_ORDERS_MS,
    leaseCount({ free, ready, held }) {
      // Hosts that this process would only serve late are left to others; the next recheck tells whether any want them.
      if (held > 0 && lag.lagMs > BUSY_LAG_MS) return 0;
      // Some may have become ready while the store was asked for something else: their requests are free for a moment only.
      const left = free - ready;
      if (left <= 0) return 0;
      // No more than can be requested from at once: what is held here is lost to others.
      return Math.min(LEASES_AT_ONCE, pace.delayMs > 0 ? left : Math.ceil(left / pace.perHost));
    },
    hostsReadAtOnce: () => HOSTS_READ_AT_ONCE,
    awaitSearch: (search, event) => Promise.race([search, event()]),
    watchWork: (recheck) => watchSharedWork(store, clock, recheck),
    startHeartbeat: (options) => startHeartbeat(store, clock, options),
    totals: (_own, { pages, requests, bytes }) => ({ pages, requests, bytes }),
    async wasAnswered() {
      const { pages, byState, ledger } = await store.run.counts();
      // Without a page only start URLs are known: one that was skipped was refused by a robots.txt, which is an answer.
      return pages > 0 || (byState.Skipped ?? 0) > 0 || ledger.some(({ outcome }) => outcome === 'unchanged');
    },
  };
}
