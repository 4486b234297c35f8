/**
 * The other workers on a run, as far as a loop must know of them: they may leave work for us, and the run is only over
 * when they have nothing left either.
 *
 * It looks when the store says that something happened and otherwise once a second; a store that nobody shares is only
 * looked at while the run is not over though nothing is left to do here.
 */
import type { Clock } from '../../primitives/clock.ts';
import type { RunStore } from '../../store/store-port.ts';

const LOOK_EVERY_MS = 1_000;
/** Counting the pages of a large project takes time: it gets at most a twentieth of it. */
const COUNT_SHARE = 20;

export interface OtherWorkers {
  /** With a limit: whether the run has so many pages; otherwise whether nothing waits or is in flight anywhere. */
  isRunOver(limit: number | null): Promise<boolean>;
  stop(): void;
}

/** `look` is called whenever it may be worth it to ask the store again. */
export function watchOthers(store: RunStore, clock: Clock, look: () => void): OtherWorkers {
  let cancel: (() => void) | null = null;
  let isStopped = false;
  let countAgainAt = Number.NEGATIVE_INFINITY;
  store.frontier.onWork(() => {
    if (!isStopped) look();
  });
  if (store.isShared) lookLater();

  function lookLater(): void {
    if (isStopped) return;
    cancel ??= clock.after(LOOK_EVERY_MS, () => {
      cancel = null;
      if (store.isShared) lookLater();
      look();
    });
  }

  /** No permit is left. Whoever still has some asks for a page with it or gives it back: then the count tells. */
  async function hasPages(limit: number): Promise<boolean> {
    // Nobody else had permits.
    if (!store.isShared) return true;
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
    async isRunOver(limit) {
      const isOver = limit === null ? await store.run.isDone() : await hasPages(limit);
      if (!isOver) lookLater();
      return isOver;
    },
    stop() {
      isStopped = true;
      cancel?.();
    },
  };
}
