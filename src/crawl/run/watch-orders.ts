/**
 * The orders that an operator gave the run (pause, resume, stop), wherever they were given: they are stored with it. The
 * store calls when there may be a new one; on a store that workers share it is asked every two seconds besides, so that
 * an order is obeyed within five.
 */
import type { Clock } from '../../primitives/clock.ts';
import type { StoredStatus } from '../../store/steering.ts';
import type { Store } from '../../store/store-port.ts';

export interface OrderWatch {
  /** Asks at once. */
  ask(): Promise<void>;
  /** Answers to what was asked before are not passed on. */
  forget(): void;
  stop(): void;
}

export interface OrderWatchOptions {
  store: Pick<Store, 'projects'>;
  clock: Clock;
  runId: number;
  /** Null: the store calls for each order. */
  askEveryMs: number | null;
  /** Called with the status that the run has in the store, each time it was asked. */
  onStatus: (status: StoredStatus) => void;
  onFailure: (error: unknown) => void;
}

export function watchOrders(options: OrderWatchOptions): OrderWatch {
  const { store, clock, runId, askEveryMs, onStatus, onFailure } = options;
  let isStopped = false;
  let epoch = 0;
  let cancel = () => {};
  const leave = store.projects.onSteer((steered) => {
    if (steered === runId) ask().catch(onFailure);
  });
  askLater();

  function askLater(): void {
    if (isStopped || askEveryMs === null) return;
    cancel = clock.after(askEveryMs, () => {
      ask().then(askLater, (error) => {
        if (!isStopped) onFailure(error);
      });
    });
  }

  async function ask(): Promise<void> {
    const askedIn = epoch;
    const standing = await store.projects.standing(runId);
    if (!isStopped && askedIn === epoch && standing !== null) onStatus(standing.status);
  }

  return {
    ask,
    forget: () => void epoch++,
    stop() {
      isStopped = true;
      cancel();
      leave();
    },
  };
}
