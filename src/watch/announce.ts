/** Receivers of changes outside of this program: webhooks, which get every event in the end, and a command. Each has its own queue. */
import { createHash } from 'node:crypto';
import type { Clock } from '../primitives/clock.ts';
import { createAddressGuard } from './allowed-address.ts';
import { createDeliveryQueue, type DeliveryQueue } from './delivery-queue.ts';
import { Outbox, type Outboxes, placeOfChange, type SavedOutboxes } from './outbox.ts';
import { createCommand } from './run-command.ts';
import { createWebhook } from './send-webhook.ts';
import type { ChangeEvent, DeliveryEvent } from './watch-event.ts';
import type { Receivers } from './watch-settings.ts';

export interface AnnounceOptions {
  receivers: Receivers;
  userAgent: string;
  clock: Clock;
  env: NodeJS.ProcessEnv;
  tell: (event: DeliveryEvent) => void;
}

const WEBHOOK_TRIES = 6;
const FIRST_PAUSE_MS = 1000;
const WEBHOOK_TIMEOUT_MS = 15_000;
const COMMAND_TIMEOUT_MS = 60_000;
const MOST_WAITING = 10_000;

export interface Announcer extends Omit<DeliveryQueue, 'push'> {
  /** For the command. Webhooks get their events from the store. */
  push(event: ChangeEvent): void;
  outboxes: Outboxes;
}

export function createAnnouncer(options: AnnounceOptions): Announcer {
  const { receivers, userAgent, clock, env, tell } = options;
  const guard = createAddressGuard(receivers.allowedHosts);
  const shared = { clock, tell, firstPauseMs: FIRST_PAUSE_MS, mostWaiting: MOST_WAITING };
  const boxes = receivers.webhooks.map((url) => ({
    // The path of a webhook is often a password, so the store gets a hash.
    key: createHash('sha256').update(url).digest('hex').slice(0, 16),
    box: new Outbox({
      ...shared,
      to: `webhook ${new URL(url).host}`,
      placeOf: placeOfChange,
      deliver: createWebhook({
        ...{ url, guard, userAgent, clock },
        secret: receivers.secret,
        timeoutMs: WEBHOOK_TIMEOUT_MS,
      }),
      // One after another, so that the receiver gets changes in order.
      parallel: 1,
      tries: WEBHOOK_TRIES,
    }),
  }));
  const command =
    receivers.command === null
      ? null
      : createDeliveryQueue({
          ...shared,
          to: `command ${receivers.command[0]}`,
          deliver: createCommand({ words: receivers.command, env, timeoutMs: COMMAND_TIMEOUT_MS }),
          parallel: 4,
          tries: 1,
          outbox: null,
        });
  const queues = [...boxes.map(({ box }) => box.queue), ...(command === null ? [] : [command])];
  return {
    get settled() {
      return queues.reduce((sum, queue) => sum + queue.settled, 0);
    },
    push: (event) => void command?.push(event),
    outboxes: outboxesOf(boxes),
    async drained() {
      await Promise.all(queues.map((queue) => queue.drained()));
    },
    stop() {
      for (const queue of queues) queue.stop();
    },
  };
}

function outboxesOf(boxes: readonly { key: string; box: Outbox }[]): Outboxes {
  return {
    begin(saved, run) {
      for (const { key, box } of boxes)
        if (saved === null || box.save() === null) box.begin(saved?.[key], run);
    },
    async fill(eventsAfter, toRun) {
      for (const { box } of boxes) await box.fill(eventsAfter, toRun);
    },
    save() {
      const saved = boxes.map(({ key, box }) => [key, box.save()] as const);
      return saved.some(([, box]) => box === null) ? null : (Object.fromEntries(saved) as SavedOutboxes);
    },
  };
}
