/**
 * One loop that has the run to itself: the store answers at once, on this thread, and nobody else adds to the run or
 * takes from it. Nothing is asked of the store that only others would want to know.
 */
import type { Clock } from '../../primitives/clock.ts';
import type { FrontierPort } from '../../store/frontier-port.ts';
import type { RunPort } from '../../store/run-port.ts';
import { type Crew, type Heartbeat, LEASES_AT_ONCE } from './crew.ts';

/** Each host whose sitemaps are read waits for its own slots, and holds little meanwhile. */
const HOSTS_READ_AT_ONCE = 1024;
const RECHECK_MS = 1_000;

export interface CrewAloneParts {
  store: { frontier: Pick<FrontierPort, 'onWork'>; run: Pick<RunPort, 'isDone'> };
  clock: Clock;
}

/** There is nobody to tell, and no other machine to wait for. */
const NO_HEARTBEAT: Heartbeat = { pagesOfOthers: 0, silentMs: 0, answerMs: null, stop() {} };

export function createCrewAlone({ store, clock }: CrewAloneParts): Crew {
  return {
    othersMayHaveMore: false,
    asksForOrdersMs: null,
    leaseCount: ({ free }) => (free > 0 ? LEASES_AT_ONCE : 0),
    hostsReadAtOnce: (maxHosts) => Math.min(HOSTS_READ_AT_ONCE, maxHosts),
    awaitSearch: (search) => search,
    watchWork(recheck) {
      let cancel: (() => void) | null = null;
      let isStopped = false;
      const ring = () => {
        cancel = null;
        if (!isStopped) recheck();
      };
      // Another session of this process may have passed a host on.
      store.frontier.onWork(() => {
        if (!isStopped) recheck();
      });
      return {
        async isRunOver(limit) {
          // Nobody else had permits: none left means that all were used.
          const isOver = limit !== null || (await store.run.isDone());
          if (!isOver && !isStopped) cancel ??= clock.after(RECHECK_MS, ring);
          return isOver;
        },
        stop() {
          isStopped = true;
          cancel?.();
        },
      };
    },
    startHeartbeat: () => NO_HEARTBEAT,
    totals: (own) => own,
    wasAnswered: async () => false,
  };
}
