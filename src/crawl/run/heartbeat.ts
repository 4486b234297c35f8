/**
 * What a worker on a shared store does beside the loop: it says every few seconds that it is alive, and hears how far
 * all of them have come. A store that nobody shares is left in peace.
 */
import type { Clock } from '../../primitives/clock.ts';
import type { RunStore } from '../../store/store-port.ts';
import type { WorkerReport } from '../../store/worker-report.ts';

const HEARTBEAT_EVERY_MS = 5_000;
/** Counting may take long in a large store: it gets at most a twentieth of the time. */
const COUNT_SHARE = 20;

export interface StoreWatchOptions {
  store: RunStore;
  clock: Clock;
  wantsCounts: boolean;
  /** Pages of the run that are counted here: what was done before, and by this worker. */
  pagesHere: () => number;
  report: () => WorkerReport;
  onAnswer: (tookMs: number) => void;
  onFailure: (error: unknown) => void;
}

export interface StoreWatch {
  /** About how many pages of the run others have done since. */
  readonly pagesOfOthers: number;
  stop(): void;
}

export function watchStore(options: StoreWatchOptions): StoreWatch {
  const { store, clock } = options;
  let others = 0;
  let countAgainAt = 0;
  let isStopped = !store.isShared;
  let cancel = () => {};
  if (!isStopped) beatLater();

  function beatLater(): void {
    if (isStopped) return;
    cancel = clock.after(HEARTBEAT_EVERY_MS, () => {
      // The next one waits for this: a store that is away is not asked again and again.
      beat().then(beatLater, (error) => {
        if (!isStopped) options.onFailure(error);
      });
    });
  }

  async function beat(): Promise<void> {
    const askedAt = clock.monotonic();
    await store.run.heartbeat(options.report());
    options.onAnswer(clock.monotonic() - askedAt);
    if (!options.wantsCounts || isStopped || clock.monotonic() < countAgainAt) return;
    const countedFrom = clock.monotonic();
    const { pages } = await store.run.counts();
    others = Math.max(others, pages - options.pagesHere());
    countAgainAt = clock.monotonic() + COUNT_SHARE * (clock.monotonic() - countedFrom);
  }

  return {
    get pagesOfOthers() {
      return others;
    },
    stop() {
      isStopped = true;
      cancel();
    },
  };
}
