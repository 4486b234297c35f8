/** Keeps a project fresh within its budget, and tells what changed: here, to webhooks and to a command. */
import type { ConfigSources } from '../config/load-config.ts';
import type { SumiError } from '../errors.ts';
import type { EventListener, SummaryEvent } from '../events/events.ts';
import { systemClock } from '../primitives/clock.ts';
import { createAnnouncer } from '../watch/announce.ts';
import { drain } from '../watch/delivery-queue.ts';
import { runWatch, type WatchEnd } from '../watch/run-watch.ts';
import type { WatchEvent } from '../watch/watch-event.ts';
import { openWatch, type Watch } from '../watch/watch-project.ts';
import { receiversOf, settingsOf } from '../watch/watch-settings.ts';
import type { WatchTarget } from './watch-target.ts';

export type { WatchEnd } from '../watch/run-watch.ts';
export type { ChangeEvent, TickEvent, WatchEvent } from '../watch/watch-event.ts';
export type { Watch } from '../watch/watch-project.ts';

export interface WatchOrder {
  target: WatchTarget;
  /** Make one tick and end. */
  isOnce: boolean;
  /** Of the command that hears of changes. */
  env: ConfigSources['env'];
  /** Aborted: the run under way ends in good order, then the watch. */
  signal: AbortSignal;
  /** Hear of everything that the runs tell but pages. */
  runListeners?: readonly EventListener[];
  /** Changes, ticks, and deliveries that failed. */
  onEvent: (event: WatchEvent) => void;
  /** The first crawl, or the rest of it, has ended. */
  onPrepared?: (summary: SummaryEvent) => void;
  /** A tick failed by an error that passes by itself; the next one is tried. */
  onMissed?: (error: SumiError) => void;
  /** When the next tick begins, in wall time. */
  onWait?: (until: number) => void;
}

export interface Watching {
  readonly watch: Watch;
  /** To be called once: from the first crawl to the end, deliveries included. */
  live(): Promise<WatchEnd>;
}

/** Options that are wrong are told before anything is watched. */
export async function startWatching(order: WatchOrder): Promise<Watching> {
  const { target, isOnce, env, signal, onEvent } = order;
  const { config, startUrls, project } = target;
  const settings = settingsOf(config);
  const announcer = createAnnouncer({
    receivers: await receiversOf(config),
    ...{ userAgent: config.userAgent, clock: systemClock, env: { ...env }, tell: onEvent },
  });
  const watch = openWatch({
    ...{ config, startUrls, project, settings, outboxes: announcer.outboxes },
    runListeners: order.runListeners,
    onEvent(event) {
      onEvent(event);
      if (event.type === 'change') announcer.push(event);
    },
  });
  const hush = async () => {
    announcer.stop();
    // Nothing is waited for any more, but what was under way says that it did not arrive.
    await announcer.drained();
  };
  return {
    watch,
    async live() {
      try {
        return await runWatch({
          ...{ watch, settings, isOnce, clock: systemClock, signal },
          onPrepared: (summary) => order.onPrepared?.(summary),
          onMissed: (error) => order.onMissed?.(error),
          onWait: (until) => order.onWait?.(until),
          async onEnd() {
            await drain(announcer, { drainMs: config.drainSeconds * 1000, clock: systemClock, signal });
            await hush();
          },
        });
      } finally {
        await hush();
      }
    },
  };
}
