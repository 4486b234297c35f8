/** What the makers of feeds share: the session's store, its settings, and a count of what is still to be ended. */
import type { ConfigSources } from '../../config/load-config.ts';
import { systemClock } from '../../primitives/clock.ts';
import type { Store } from '../../store/store-port.ts';
import {
  entriesOf,
  type ResolvedOptions,
  resolveOptions,
  type SessionSettings,
} from '../language/crawl-options.ts';
import type { RowQueue } from './row-queue.ts';

/** Option values by their camelCase names, as `loadConfig({ options })` takes them. */
export type SqlSettings = NonNullable<ConfigSources['options']>;

export interface FeedSurroundings {
  /** The store beside the table: one for all of the session, so that all share the clocks of hosts. */
  openStore: () => Promise<Store>;
  /**
   * What the session has set. It must not ask the DuckDB thread: that waits for a feed now and answers nobody. So these are
   * the settings as they were when the statement began.
   */
  settings: () => Promise<SessionSettings>;
  /** Options that hold whatever a query says. */
  fixed?: SqlSettings;
}

/** The surroundings with what one table of makers adds. */
export interface FeedHouse {
  openStore: () => Promise<Store>;
  /** What a CRAWL would make of the options that a query gives to a function. */
  resolve(given: Readonly<Record<string, unknown>>): Promise<ResolvedOptions>;
  /** A crawl that goes on only as its rows are taken, from now on until the answer is called. */
  holdBack(queue: Pick<RowQueue<unknown>, 'letGo'>): () => void;
  /** Resolves when `work` has ended, whoever waits for it. */
  track<T>(work: Promise<T>): Promise<T>;
  /** A name for the project of one crawl that no other crawl under way has. */
  takeName(): string;
  giveName(name: string): void;
}

/** The thread waits for one feed at a time. After so long, what it waits for may be a host that another feed holds. */
const PATIENCE_MS = 500;

export interface FullHouse extends FeedHouse {
  /** The same rows; while one of them is waited for long, no other feed is held back. */
  watch<Row>(rows: AsyncIterable<Row>): AsyncGenerator<Row, void>;
  /** Resolves when all that was tracked has ended. */
  rest(): Promise<void>;
}

export function createFeedHouse({ openStore, settings, fixed }: FeedSurroundings): FullHouse {
  const held = new Set<Pick<RowQueue<unknown>, 'letGo'>>();
  let waiting = 0;

  function wait(change: 1 | -1): void {
    waiting += change;
    for (const queue of held) queue.letGo(waiting > 0);
  }

  async function patiently<T>(answer: Promise<T>): Promise<T> {
    let isLong = false;
    const cancel = systemClock.after(PATIENCE_MS, () => {
      isLong = true;
      wait(1);
    });
    try {
      return await answer;
    } finally {
      cancel();
      if (isLong) wait(-1);
    }
  }

  const underWay = new Set<Promise<unknown>>();
  const names = new Set<string>();
  return {
    openStore,
    holdBack(queue) {
      held.add(queue);
      queue.letGo(waiting > 0);
      return () => void held.delete(queue);
    },
    async *watch(rows) {
      const iterator = rows[Symbol.asyncIterator]();
      try {
        for (;;) {
          const next = await patiently(iterator.next());
          if (next.done === true) return;
          yield next.value;
        }
      } finally {
        await iterator.return?.();
      }
    },
    async resolve(given) {
      const resolved = resolveOptions(entriesOf(given), await settings());
      return { ...resolved, config: { ...resolved.config, ...fixed } };
    },
    track(work) {
      const tracked = work.finally(() => underWay.delete(tracked));
      underWay.add(tracked);
      // Whoever waits for it hears of it; nobody may.
      tracked.catch(() => {});
      return tracked;
    },
    takeName() {
      let number = 1;
      while (names.has(nameOf(number))) number++;
      names.add(nameOf(number));
      return nameOf(number);
    },
    giveName: (name) => void names.delete(name),
    async rest() {
      while (underWay.size > 0) await Promise.allSettled(underWay);
    },
  };
}

/** Used again and again, so that a session leaves few projects in its store. */
function nameOf(number: number): string {
  return `crawl() ${number}`;
}
