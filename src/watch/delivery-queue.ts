/**
 * Events on their way to somebody outside: a few at once, each tried again with growing pauses where that may help. The
 * queue is bounded. Where all tries of an event were in vain, the receiver is away, and what waits leaves the queue: tried
 * one by one, the events of a look would take hours. Where an outbox has them, they come again at the next look;
 * else they are dropped. Nothing here ever throws; what went wrong is told, once for each event that was tried,
 * and once for all others.
 */
import type { Clock } from '../primitives/clock.ts';
import type { ChangeEvent, DeliveryEvent } from './watch-event.ts';

/** Null when it arrived; else what went wrong, and whether another try makes sense. `isForAll`: no event would arrive there. */
export type Delivered = { error: string; isWorthRetrying: boolean; isForAll?: boolean } | null;

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
  /** Where events are kept until they are done with; null: nowhere. With one, they go one after another. */
  outbox: EventKeeper | null;
}

/** Keeps events until the queue is done with them. */
export interface EventKeeper {
  /** This one arrived, or never will. */
  onDone(event: ChangeEvent): void;
  /** Nothing arrives there now: what was not done with has left the queue. */
  onAway(): void;
  /** The queue has ended; so has what was not done with. */
  onStop(): void;
  /** Whether the next one was tried for long enough. */
  readonly mayGiveUp: boolean;
}

export interface DeliveryQueue {
  /** False: there is no room. */
  push(event: ChangeEvent): boolean;
  /** Events that are done with: they arrived, or nothing can help them. */
  readonly settled: number;
  /** Resolves when nothing waits or is under way. */
  drained(): Promise<void>;
  /** Gives up what waits, and ends what is under way. */
  stop(): void;
}

export function createDeliveryQueue(options: DeliveryOptions): DeliveryQueue {
  const { to, deliver, parallel, tries, firstPauseMs, mostWaiting, clock, tell, outbox } = options;
  const waiting: ChangeEvent[] = [];
  const abort = new AbortController();
  /** By the reason. */
  const dropped = new Map<string, number>();
  let [active, settled, kept] = [0, 0, 0];
  let isFull = false;
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
      if (failure === null) return outbox?.onDone(event);
      const { error, isWorthRetrying, isForAll } = failure;
      if (attempt < tries && isWorthRetrying && !abort.signal.aborted) {
        await pause(firstPauseMs * 2 ** (attempt - 1));
        if (!abort.signal.aborted) continue;
      }
      const times = attempt === 1 ? '' : ` (${attempt} tries)`;
      const isAway = isForAll === true || (isWorthRetrying && attempt > 1 && attempt === tries);
      const isOver = leave(event, isAway || abort.signal.aborted);
      const hope = isOver ? '' : ', tried again at the next look';
      tell({ type: 'delivery', to, id: event.id, url: event.url, error: `${error}${times}${hope}` });
      return;
    }
  }

  /** It did not arrive, and no other would. Whether it never will. */
  function leave(event: ChangeEvent, isAway: boolean): boolean {
    const isOver = outbox === null || !isAway || outbox.mayGiveUp;
    if (isOver) outbox?.onDone(event);
    if (isAway) clearWaiting('the one before them did not arrive by any try');
    if (isAway && !abort.signal.aborted) outbox?.onAway();
    return isOver;
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

  function clearWaiting(reason: string): void {
    if (outbox === null) drop(waiting.length, reason);
    else kept += waiting.length;
    waiting.length = 0;
  }

  function tellDropped(): void {
    if (isFull) {
      const error = `more than ${mostWaiting} events waited; the others come at the next look`;
      tell({ type: 'delivery', to, id: null, url: null, error });
    }
    isFull = false;
    if (kept > 0) {
      const events = kept === 1 ? '1 more event waits' : `${kept} more events wait`;
      tell({ type: 'delivery', to, id: null, url: null, error: `${events} for the next look` });
    }
    kept = 0;
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
      if (abort.signal.aborted) return false;
      const hasRoom = waiting.length < mostWaiting;
      if (hasRoom) waiting.push(event);
      else if (outbox === null) drop(1, `more than ${mostWaiting} waited`);
      else isFull = true;
      pump();
      return hasRoom;
    },
    drained: () =>
      new Promise((resolve) => {
        onDrained = [...onDrained, resolve];
        pump();
      }),
    stop() {
      if (abort.signal.aborted) return;
      clearWaiting('the watch ended');
      abort.abort();
      outbox?.onStop();
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
