/**
 * Sends what waits for a webhook, one event after another, until nothing waits or the receiver is away. An event is marked as
 * sent before the next one is sent, so that whoever goes on after a crash sends at most the last one again.
 */
import type { Clock } from '../../primitives/clock.ts';
import { Outbox } from '../../watch/outbox.ts';
import type { PostEvent } from '../../watch/send-webhook.ts';
import { type Hold, RENEW_MS } from './webhook-hold.ts';
import { isPast, type QueuedEvent, type Tried, type WebhookQueue } from './webhook-queue.ts';

export interface RoundOptions {
  webhookId: string;
  hold: Hold;
  queue: WebhookQueue;
  post: PostEvent;
  /** The store's time; timers are those of this process. */
  clock: Clock;
  /** Aborted: what is under way is broken off. */
  signal: AbortSignal;
}

/** Nothing waits; or the receiver is away, and is tried again at a later time; or it was broken off. */
export type RoundEnd = { is: 'through' } | { is: 'away'; nextTryAt: number } | { is: 'broken off' };

const TRIES = 6;
const FIRST_PAUSE_MS = 1000;
/** Events in memory. */
const MOST_WAITING = 200;
const TIDY_EVERY = 200;
/** Between two rounds: as long as the receiver has been away, within these. */
const LEAST_AWAY_MS = 60_000;
const MOST_AWAY_MS = 3_600_000;
const NOT_TRIED: Tried = { attempts: 0, status: null, error: 'broken off' };

export async function sendRound(options: RoundOptions): Promise<RoundEnd> {
  const { webhookId, hold, queue, post, clock, signal } = options;
  const tried = new Map<string, Tried>();
  let settledSince = 0;
  const writes = createWrites(() => box.queue.stop());
  const box: Outbox<QueuedEvent> = new Outbox<QueuedEvent>({
    ...{ to: webhookId, parallel: 1, tries: TRIES, firstPauseMs: FIRST_PAUSE_MS, mostWaiting: MOST_WAITING },
    ...{ clock, tell() {}, placeOf: ({ place }) => place },
    async deliver(event, aborted) {
      await writes.done();
      const { status, failure } = await post(event.payload, aborted);
      const attempts = (tried.get(event.id)?.attempts ?? 0) + 1;
      tried.set(event.id, { attempts, status, error: failure?.error ?? null });
      return failure;
    },
    onSettled(event) {
      const result = tried.get(event.id) ?? NOT_TRIED;
      tried.delete(event.id);
      writes.add(async () => {
        const now = clock.now();
        await queue.settled(event, result, now);
        const arrived = result.error === null ? { lastDeliveryAt: now } : {};
        await hold.save({ ...arrived, done: event.place, failingSince: null, nextTryAt: null });
        if (++settledSince % TIDY_EVERY === 0) await queue.tidy(event.place);
      });
    },
  });
  const stop = () => box.queue.stop();
  signal.addEventListener('abort', stop);
  const stopRenewing = renewEach(RENEW_MS, clock, () => writes.add(() => hold.save({})));
  box.begin({ done: hold.state.done, failingSince: hold.state.failingSince }, 0);
  try {
    for (;;) {
      const to = await queue.newest();
      const before = String(box.save()!.done);
      const head: QueuedEvent[] = [];
      await box.fill(async function* (place) {
        for await (const event of queue.eventsAfter(place, to)) {
          if (head.length === 0) head.push(event);
          yield event;
        }
      }, to);
      await box.queue.drained();
      await writes.done();
      if (signal.aborted) return { is: 'broken off' };
      const { done, failingSince } = box.save()!;
      if (isPast(done, to)) {
        await hold.save({ done });
        if ((await queue.newest()) === to) return { is: 'through' };
      } else if (String(done) === before) return await rest(options, head[0], tried, failingSince);
    }
  } finally {
    stopRenewing();
    signal.removeEventListener('abort', stop);
    box.queue.stop();
    await writes.ended();
  }
}

/** The receiver is away. */
async function rest(
  { hold, queue, clock }: RoundOptions,
  head: QueuedEvent | undefined,
  tried: ReadonlyMap<string, Tried>,
  failing: number | null,
): Promise<RoundEnd> {
  const now = clock.now();
  const failingSince = failing ?? now;
  const nextTryAt = now + Math.min(Math.max(now - failingSince, LEAST_AWAY_MS), MOST_AWAY_MS);
  const result = head && tried.get(head.id);
  if (head !== undefined && result !== undefined) await queue.failed(head, result, nextTryAt);
  await hold.save({ failingSince, nextTryAt });
  return { is: 'away', nextTryAt };
}

/** One write after another; after one that failed there is none, and whoever waits hears of it. */
function createWrites(onFailure: () => void) {
  let last: Promise<void> = Promise.resolve();
  let failure: { error: unknown } | null = null;
  const write = async (work: () => Promise<void>) => {
    if (failure !== null) return;
    try {
      await work();
    } catch (error) {
      failure = { error };
      onFailure();
    }
  };
  return {
    add(work: () => Promise<void>): void {
      last = last.then(() => write(work));
    },
    async done(): Promise<void> {
      await last;
      if (failure !== null) throw failure.error;
    },
    ended: () => last,
  };
}

function renewEach(delayMs: number, clock: Clock, renew: () => void): () => void {
  let cancel = () => {};
  const next = () => {
    cancel = clock.after(delayMs, () => {
      renew();
      next();
    });
  };
  next();
  return () => cancel();
}
