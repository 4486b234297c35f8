/**
 * Events on their way to somebody outside: a few at once, each tried again with growing pauses where that may help. The
 * queue is bounded: when whoever receives is too slow, the newest events are dropped and that is told. Where all tries
 * of an event were in vain, the receiver is away, and what waits then is dropped with it: tried one by one, the events of
 * a look would take hours. Those that come later are tried again. Nothing here ever throws; what went wrong is told, once
 * for each event that was tried, and once for all that were dropped.
 */
import type { Clock } from '../primitives/clock.ts';
import type { ChangeEvent, DeliveryEvent } from './watch-event.ts';

/** Null when it arrived; else what went wrong, and whether another try makes sense. */
export type Delivered = { error: string; isWorthRetrying: boolean } | null;

export interface DeliveryOptions {
  /** Who receives, for messages. */
  to: string;
  deliver: (event: ChangeEvent, signal: AbortSignal) => Promise<Delivered>;
  parallel: number;
  tries: number;
  firstPauseMs: number;
  mostWaiting: number;
  clock: Clock;
  tell: (event: DeliveryEvent) => void;
}

export interface DeliveryQueue {
  push(event: ChangeEvent): void;
  /** Events that are done with: they arrived, or nothing can help them. */
  readonly settled: number;
  /** Resolves when nothing waits or is under way. */
  drained(): Promise<void>;
  /** Gives up what waits, and ends what is under way. */
  stop(): void;
}

export function createDeliveryQueue(options: DeliveryOptions): DeliveryQueue {
  const { to, deliver, parallel, tries, firstPauseMs, mostWaiting, clock, tell } = options;
  const waiting: ChangeEvent[] = [];
  const abort = new AbortController();
  /** By the reason. */
  const dropped = new Map<string, number>();
  let [active, settled] = [0, 0];
  let onDrained: (() => void)[] = [];

  function pump(): void {
    while (active < parallel && waiting.length > 0) {
      active++;
      const event = waiting.shift()!;
      void send(event).then(() => {
        active--;
        settled++;
        pump();
      });
    }
    if (active > 0 || waiting.length > 0) return;
    tellDropped();
    for (const resolve of onDrained.splice(0)) resolve();
  }

  async function send(event: ChangeEvent): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      const failure = await tryOnce(event);
      if (failure === null) return;
      if (attempt < tries && failure.isWorthRetrying && !abort.signal.aborted) {
        await pause(firstPauseMs * 2 ** (attempt - 1));
        if (!abort.signal.aborted) continue;
      }
      const times = attempt === 1 ? '' : ` (${attempt} tries)`;
      tell({ type: 'delivery', to, id: event.id, url: event.url, error: `${failure.error}${times}` });
      if (attempt > 1 && attempt === tries) dropWaiting('the one before them did not arrive by any try');
      return;
    }
  }

  async function tryOnce(event: ChangeEvent): Promise<Delivered> {
    try {
      return await deliver(event, abort.signal);
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error), isWorthRetrying: true };
    }
  }

  function pause(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        cancel();
        abort.signal.removeEventListener('abort', end);
        resolve();
      };
      const cancel = clock.after(delayMs, end);
      abort.signal.addEventListener('abort', end);
    });
  }

  function drop(count: number, reason: string): void {
    if (count > 0) dropped.set(reason, (dropped.get(reason) ?? 0) + count);
  }

  function dropWaiting(reason: string): void {
    drop(waiting.length, reason);
    waiting.length = 0;
  }

  function tellDropped(): void {
    for (const [reason, count] of dropped) {
      const events = count === 1 ? '1 event was' : `${count} events were`;
      tell({ type: 'delivery', to, id: null, url: null, error: `${events} dropped: ${reason}` });
    }
    dropped.clear();
  }

  return {
    get settled() {
      return settled;
    },
    push(event) {
      if (abort.signal.aborted) return;
      if (waiting.length >= mostWaiting) drop(1, `more than ${mostWaiting} waited`);
      else waiting.push(event);
      pump();
    },
    drained: () =>
      new Promise((resolve) => {
        onDrained = [...onDrained, resolve];
        pump();
      }),
    stop() {
      dropWaiting('the watch ended');
      abort.abort();
      pump();
    },
  };
}

export interface Draining {
  drainMs: number;
  clock: Clock;
  /** Aborted: this is all the time there is. */
  signal: AbortSignal;
}

/** Waits for events on their way, as long as one after another is done with, and for none of them longer than this. */
export function drain(
  queue: Pick<DeliveryQueue, 'settled' | 'drained'>,
  { drainMs, clock, signal }: Draining,
): Promise<void> {
  return new Promise((resolve) => {
    let cancel = () => {};
    const end = () => {
      cancel();
      signal.removeEventListener('abort', hurry);
      resolve();
    };
    const wait = (then: () => void) => {
      cancel();
      cancel = clock.after(drainMs, then);
    };
    const look = (before: number) => {
      if (queue.settled === before) return end();
      const { settled } = queue;
      wait(() => look(settled));
    };
    const hurry = () => wait(end);
    signal.addEventListener('abort', hurry);
    if (signal.aborted) hurry();
    else look(-1);
    void queue.drained().then(end);
  });
}
