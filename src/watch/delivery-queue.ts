/**
 * Events on their way to somebody outside: a few at once, each tried again with growing pauses where that may help. The
 * queue is bounded: when whoever receives is too slow, the newest events are dropped and that is told. Nothing here
 * ever throws; what went wrong is told, once for each event.
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
  /** Resolves when nothing waits or is under way. */
  drained(): Promise<void>;
  /** Gives up what waits, and ends what is under way. */
  stop(): void;
}

export function createDeliveryQueue(options: DeliveryOptions): DeliveryQueue {
  const { to, deliver, parallel, tries, firstPauseMs, mostWaiting, clock, tell } = options;
  const waiting: ChangeEvent[] = [];
  const abort = new AbortController();
  let [active, dropped] = [0, 0];
  let onDrained: (() => void)[] = [];

  function pump(): void {
    while (active < parallel && waiting.length > 0) {
      active++;
      const event = waiting.shift()!;
      void send(event).then(() => {
        active--;
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

  function tellDropped(): void {
    if (dropped === 0) return;
    const error = `${dropped} events were dropped: more than ${mostWaiting} waited`;
    dropped = 0;
    tell({ type: 'delivery', to, id: null, url: null, error });
  }

  return {
    push(event) {
      if (abort.signal.aborted) return;
      if (waiting.length >= mostWaiting) dropped++;
      else waiting.push(event);
      pump();
    },
    drained: () =>
      new Promise((resolve) => {
        onDrained = [...onDrained, resolve];
        pump();
      }),
    stop() {
      dropped += waiting.length;
      waiting.length = 0;
      abort.abort();
      pump();
    },
  };
}
