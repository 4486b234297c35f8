/**
 * A bounded queue of events for one receiver: a few are sent at once, and sent again after growing pauses if that may
 * help. If all tries of an event fail, the receiver is away, and waiting events leave the queue: one by one, they would
 * take hours. With an outbox they come again at the next tick, otherwise they are dropped. Nothing here throws. Failures
 * are reported: one for each event that was tried, and one for all others.
 */
import type { Clock } from '../primitives/clock.ts';
import type { ChangeEvent, DeliveryEvent } from './watch-event.ts';

/** What a queue must know of an event; `url`: the page that it is about, for messages. */
export type Queued = Pick<ChangeEvent, 'id'> & { url: string | null };

/** Null: it arrived. Otherwise the error, and whether to try again. `isForAll`: no event can arrive there. */
export type Delivered = { error: string; isWorthRetrying: boolean; isForAll?: boolean } | null;

export interface DeliveryOptions<Event extends Queued = ChangeEvent> {
  /** Who receives, for messages. */
  to: string;
  deliver: (event: Event, signal: AbortSignal) => Promise<Delivered>;
  parallel: number;
  tries: number;
  firstPauseMs: number;
  mostWaiting: number;
  clock: Clock;
  tell: (event: DeliveryEvent) => void;
  /** Keeps events until they are settled; null: nobody does. With an outbox, events are sent one after another. */
  outbox: EventKeeper<Event> | null;
}

/** Keeps events until the queue has settled them. */
export interface EventKeeper<Event extends Queued = ChangeEvent> {
  /** The event arrived, or was given up. */
  onDone(event: Event): void;
  /** The receiver is away: events that are not settled have left the queue. */
  onAway(): void;
  /** The queue has ended. Events that are not settled have left it. */
  onStop(): void;
  /** The next event has failed for long enough. */
  readonly mayGiveUp: boolean;
}

export interface DeliveryQueue<Event extends Queued = ChangeEvent> {
  /** False: the queue is full. */
  push(event: Event): boolean;
  /** Events that arrived or were given up. */
  readonly settled: number;
  /** Resolves when nothing waits or is under way. */
  drained(): Promise<void>;
  /** Drops waiting events and ends the tries under way. */
  stop(): void;
}

export function createDeliveryQueue<Event extends Queued = ChangeEvent>(
  options: DeliveryOptions<Event>,
): DeliveryQueue<Event> {
  const { to, deliver, parallel, tries, firstPauseMs, mostWaiting, clock, tell, outbox } = options;
  const waiting: Event[] = [];
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

  async function send(event: Event): Promise<void> {
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
      const hope = isOver ? '' : ', tried again at the next tick';
      tell({ type: 'delivery', to, id: event.id, url: event.url, error: `${error}${times}${hope}` });
      return;
    }
  }

  /** Settles an event that failed. True if it is given up. */
  function leave(event: Event, isAway: boolean): boolean {
    const isOver = outbox === null || !isAway || outbox.mayGiveUp;
    if (isOver) outbox?.onDone(event);
    if (isAway) clearWaiting('the one before them did not arrive by any try');
    if (isAway && !abort.signal.aborted) outbox?.onAway();
    return isOver;
  }

  async function tryOnce(event: Event): Promise<Delivered> {
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
      const error = `more than ${mostWaiting} events waited; the others come at the next tick`;
      tell({ type: 'delivery', to, id: null, url: null, error });
    }
    isFull = false;
    if (kept > 0) {
      const events = kept === 1 ? '1 more event waits' : `${kept} more events wait`;
      tell({ type: 'delivery', to, id: null, url: null, error: `${events} for the next tick` });
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
  /** Aborted: `drainMs` from now on is all the time that is left. */
  signal: AbortSignal;
}

/** Waits until all events are settled, or until none was settled for `drainMs`. */
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
    const check = (before: number) => {
      if (queue.settled === before) return end();
      const { settled } = queue;
      wait(() => check(settled));
    };
    const hurry = () => wait(end);
    signal.addEventListener('abort', hurry);
    if (signal.aborted) hurry();
    else check(-1);
    void queue.drained().then(end);
  });
}
