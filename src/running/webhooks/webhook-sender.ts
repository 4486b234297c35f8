/** Keeps one webhook going: sends what waits when there is something new, and again when its receiver was away. */
import type { PostEvent } from '../../watch/send-webhook.ts';
import type { Room, RoomProject } from '../room.ts';
import { sendRound } from './send-round.ts';
import { createHeldWebhook, RENEW_MS } from './webhook-hold.ts';
import { createWebhookQueue, isPast } from './webhook-queue.ts';
import type { WebhookRecords } from './webhook-records.ts';

export interface SenderOptions {
  room: Room;
  records: WebhookRecords;
  project: RoomProject;
  webhookId: string;
  /** Null where nothing is to be sent: it is switched off, gone, or cannot be read. */
  poster: () => Promise<PostEvent | null>;
}

export interface WebhookSender {
  /** Something waits, perhaps. `isUrgent`: it is tried now, also after a failure. */
  wake(isUrgent?: boolean): void;
  /** What is under way is broken off; it is sent again by whoever goes on. */
  end(): Promise<void>;
}

const AFTER_ERROR_MS = 60_000;

export function createSender({ room, records, project, webhookId, poster }: SenderOptions): WebhookSender {
  const { clock, report } = room;
  const now = () => room.store.clock.now();
  const held = createHeldWebhook(records, { projectUid: project.uid, webhookId }, now);
  const queue = createWebhookQueue(room, records, { project, webhookId });
  const abort = new AbortController();
  const { signal } = abort;
  let working: Promise<void> | null = null;
  let [isWanted, isUrgent] = [false, false];
  let cancelTimer = () => {};

  function wake(urgent = false): void {
    isWanted = true;
    isUrgent ||= urgent;
    if (signal.aborted || working !== null) return;
    working = work().finally(() => {
      working = null;
      if (isWanted) wake();
    });
  }

  async function work(): Promise<void> {
    cancelTimer();
    isWanted = false;
    let againInMs: number | null;
    try {
      againInMs = await sendAll();
    } catch (error) {
      report(error);
      againInMs = AFTER_ERROR_MS;
    }
    if (againInMs !== null && !signal.aborted) cancelTimer = clock.after(againInMs, () => wake());
  }

  /** Answers when to try again; null: when there is something new. */
  async function sendAll(): Promise<number | null> {
    const { done, nextTryAt } = await held.state();
    if (isPast(done, await queue.newest())) return null;
    const waitMs = (nextTryAt ?? 0) - now();
    if (waitMs > 0 && !isUrgent) return waitMs;
    isUrgent = false;
    const post = await poster();
    if (post === null || signal.aborted) return null;
    const hold = await held.take();
    if (hold === null) return RENEW_MS;
    // The store's time; timers are those of this process.
    const both = {
      now,
      monotonic: () => clock.monotonic(),
      after: (delayMs: number, then: () => void) => clock.after(delayMs, then),
    };
    const end = await sendRound({ webhookId, hold, queue, post, clock: both, signal });
    await queue.tidy(hold.state.done);
    await hold.release();
    return end.is === 'away' ? end.nextTryAt - now() : null;
  }

  return {
    wake,
    async end() {
      abort.abort();
      cancelTimer();
      await working;
      cancelTimer();
    },
  };
}
