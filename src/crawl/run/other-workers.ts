/**
 * The other workers on a run, as far as a loop must know of them: they may leave work for us, and the run is only over
 * when they have nothing left either. The store is asked when it says that something happened, and otherwise once a second.
 */
import type { Clock } from '../../primitives/clock.ts';
import type { FrontierPort } from '../../store/frontier-port.ts';
import type { RunPort } from '../../store/run-port.ts';
import type { WorkWatch } from './crew.ts';

const RECHECK_EVERY_MS = 1_000;
/** Counting the pages of a large project takes time: it gets at most a twentieth of it. */
const COUNT_SHARE = 20;

export interface SharedWork {
  frontier: Pick<FrontierPort, 'onWork'>;
  run: Pick<RunPort, 'isDone' | 'counts'>;
  flush(): Promise<void>;
}

export function watchSharedWork(store: SharedWork, clock: Clock, recheck: () => void): WorkWatch {
  let isStopped = false;
  let countAgainAt = Number.NEGATIVE_INFINITY;
  store.frontier.onWork(() => {
    if (!isStopped) recheck();
  });
  let cancel = clock.after(RECHECK_EVERY_MS, ring);

  function ring(): void {
    if (isStopped) return;
    cancel = clock.after(RECHECK_EVERY_MS, ring);
    recheck();
  }

  /** No permit is left. Whoever still has some requests a page with it or gives it back: then the count tells. */
  async function hasPages(limit: number): Promise<boolean> {
    if (clock.monotonic() < countAgainAt) return false;
    await store.flush();
    // From here on: a commit takes as long as others take with theirs, which says nothing of the counting.
    const askedAt = clock.monotonic();
    const { pages } = await store.run.counts();
    const now = clock.monotonic();
    countAgainAt = now + COUNT_SHARE * (now - askedAt);
    return pages >= limit;
  }

  return {
    isRunOver: (limit) => (limit === null ? store.run.isDone() : hasPages(limit)),
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
