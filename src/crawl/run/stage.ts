/** What a crawl has before it knows its run: the events, the store, and a place for what goes wrong meanwhile. */

import type { Config } from '../../config/load-config.ts';
import { createEventHub, type EventHub } from '../../events/event-hub.ts';
import { type CrawlEvent, type EventListener, TOPICS } from '../../events/events.ts';
import { attachSink } from '../../events/output-sink.ts';
import { systemClock } from '../../primitives/clock.ts';
import { newWorkerName } from '../../primitives/worker-name.ts';
import { openStore } from '../../store/open-store.ts';
import type { Store } from '../../store/store-port.ts';
import type { Extensions } from '../wire.ts';
import type { CrawlLoop } from './crawl-loop.ts';
import { extensionFailed, guardTap } from './guard-extensions.ts';

export interface Listeners {
  listeners?: readonly EventListener[];
  /** Hear of everything but pages, so that no page event is made for them. */
  runListeners?: readonly EventListener[];
}

export interface Stage {
  events: EventHub;
  extensions: Extensions;
  failures: unknown[];
  store: Store;
  /** Closes a store that was opened for this crawl; that of a program stays open. */
  closeStore(): Promise<void>;
  owner: string;
  /** From now on a failure that no call can answer for ends this loop. */
  watch(loop: Pick<CrawlLoop, 'fail'>): void;
}

const WITHOUT_PAGES = TOPICS.filter((topic) => topic !== 'page');

export async function openStage(
  extensions: Extensions,
  { listeners = [], runListeners = [] }: Listeners,
  { storeAddress, storePatience }: Pick<Config, 'storeAddress' | 'storePatience'>,
): Promise<Stage> {
  const clock = extensions.clock ?? systemClock;
  const events = createEventHub(clock);
  const failures: unknown[] = [];
  let loop: Pick<CrawlLoop, 'fail'> | null = null;
  const fail = (error: unknown) => {
    failures.push(error);
    loop?.fail(error);
  };
  const guarded = (listener: EventListener) => (event: CrawlEvent) =>
    attempt('event listener', () => listener(event), fail);
  for (const listener of listeners) events.subscribe(guarded(listener));
  for (const listener of runListeners) events.subscribe(guarded(listener), WITHOUT_PAGES);
  for (const sink of extensions.sinks ?? [])
    attachSink(events, sink, (call) => attempt('output sink', call, fail));
  const patienceMs = storePatience * 1000;
  const store =
    extensions.store ?? (await openStore({ address: storeAddress, clock, onFailure: fail, patienceMs }));
  return {
    events,
    extensions:
      extensions.tap === undefined ? extensions : { ...extensions, tap: guardTap(extensions.tap, fail) },
    failures,
    store,
    async closeStore() {
      if (extensions.store === undefined) await store.close();
    },
    owner: newWorkerName(),
    watch(found) {
      loop = found;
      if (failures.length > 0) loop.fail(failures[0]);
    },
  };
}

/** Whatever goes wrong before the loop runs must not leave the store open. */
export async function orClose<T>({ closeStore }: Stage, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await closeStore();
    throw error;
  }
}

/** Listeners are also called by timers, where a throw would end the process: it ends the run instead. */
function attempt(part: string, call: () => unknown, fail: (error: unknown) => void): void {
  const failed = (error: unknown) => fail(extensionFailed(part, null, error));
  try {
    const answer = call();
    if (answer instanceof Promise) answer.catch(failed);
  } catch (error) {
    failed(error);
  }
}
