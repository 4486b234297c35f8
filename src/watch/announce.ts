/** Who hears of changes outside of this program: webhooks and a command, each with a queue of its own. */
import type { Clock } from '../primitives/clock.ts';
import { createAddressGuard } from './allowed-address.ts';
import { createDeliveryQueue, type DeliveryQueue } from './delivery-queue.ts';
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

export function createAnnouncer(options: AnnounceOptions): DeliveryQueue {
  const { receivers, userAgent, clock, env, tell } = options;
  const guard = createAddressGuard(receivers.allowedHosts);
  const shared = { clock, tell, firstPauseMs: FIRST_PAUSE_MS, mostWaiting: MOST_WAITING };
  const queues = receivers.webhooks.map((url) =>
    createDeliveryQueue({
      ...shared,
      // A webhook's path is often its password.
      to: `webhook ${new URL(url).host}`,
      deliver: createWebhook({
        ...{ url, guard, userAgent, clock },
        secret: receivers.secret,
        timeoutMs: WEBHOOK_TIMEOUT_MS,
      }),
      // One after another: who receives sees changes in their order.
      parallel: 1,
      tries: WEBHOOK_TRIES,
    }),
  );
  if (receivers.command !== null)
    queues.push(
      createDeliveryQueue({
        ...shared,
        to: `command ${receivers.command[0]}`,
        deliver: createCommand({ words: receivers.command, env, timeoutMs: COMMAND_TIMEOUT_MS }),
        parallel: 4,
        tries: 1,
      }),
    );
  return {
    get settled() {
      return queues.reduce((sum, queue) => sum + queue.settled, 0);
    },
    push(event: ChangeEvent) {
      for (const queue of queues) queue.push(event);
    },
    async drained() {
      await Promise.all(queues.map((queue) => queue.drained()));
    },
    stop() {
      for (const queue of queues) queue.stop();
    },
  };
}
