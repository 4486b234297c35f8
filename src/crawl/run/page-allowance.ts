/**
 * How many pages the run may still request, shared by all who work on it: permits come from the store in blocks, one is
 * taken before a GET and given back when it comes to nothing. Whatever a worker does not use goes back to the store.
 *
 * It promises that no more pages are requested than permits were had. Without a limit the store is never asked.
 */
import type { RunPort } from '../../store/run-port.ts';

export interface Budget {
  /** No permit is at hand; asking for more may help. */
  readonly isDry: boolean;
  /** No permit is at hand, and the store had none when it was asked last. */
  readonly isSpent: boolean;
  /** A page is requested. When its answer counts, the store counts the permit as used. */
  take(): void;
  /** The answer came to nothing. */
  giveBack(): void;
  /** Asks the store for a block of permits, once until `askAgain`; true when one is at hand. */
  refill(): Promise<boolean>;
  /** Somebody may have given permits back. */
  askAgain(): void;
  /** Gives back what is at hand, so that others can use it. */
  returnUnused(): Promise<void>;
}

const UNLIMITED: Budget = {
  isDry: false,
  isSpent: false,
  take() {},
  giveBack() {},
  refill: async () => true,
  askAgain() {},
  returnUnused: async () => {},
};

export interface BudgetSurroundings {
  run: Pick<RunPort, 'reservePages' | 'returnPages'>;
  /** Permits asked for at once. */
  block: number;
  /** There were no permits and now there are. */
  onMore: () => void;
  onFailure: (error: unknown) => void;
}

export function createBudget(limit: number | null, around: BudgetSurroundings): Budget {
  if (limit === null) return UNLIMITED;
  const { run, block, onMore } = around;
  let atHand = 0;
  let isInVain = false;
  let refilling: Promise<boolean> | null = null;

  function add(count: number): void {
    const wasDry = atHand === 0;
    atHand += count;
    if (wasDry && count > 0) onMore();
  }

  function refill(): Promise<boolean> {
    if (isInVain) return Promise.resolve(atHand > 0);
    refilling ??= reserve().finally(() => {
      refilling = null;
    });
    return refilling;
  }

  async function reserve(): Promise<boolean> {
    const count = await run.reservePages(block, limit!);
    isInVain = count === 0;
    add(count);
    return atHand > 0;
  }

  return {
    get isDry() {
      return atHand === 0;
    },
    get isSpent() {
      return atHand === 0 && isInVain;
    },
    take() {
      atHand--;
      // Ahead of need, so that nobody waits for the store between two pages.
      if (atHand < block / 2 && !isInVain && refilling === null) refill().catch(around.onFailure);
    },
    giveBack: () => add(1),
    refill,
    askAgain() {
      isInVain = false;
    },
    async returnUnused() {
      await refilling;
      const count = atHand;
      atHand = 0;
      if (count > 0) await run.returnPages(count);
      // They are there to be had again, by us too.
      if (count > 0) isInVain = false;
    },
  };
}
