/**
 * The life of a watch: the first crawl where there is none, then a tick every so often, in the hours that are open, until
 * it is told to stop. A store that somebody else has for the moment, or that is restarted, costs a tick, not the watch.
 */
import { SumiError } from '../errors.ts';
import type { SummaryEvent } from '../events/events.ts';
import type { Clock } from '../primitives/clock.ts';
import { isOpen, nextOpen } from './open-hours.ts';
import type { Watch } from './watch-project.ts';
import type { WatchSettings } from './watch-settings.ts';

export interface WatchLife {
  watch: Watch;
  settings: WatchSettings;
  clock: Clock;
  /** One tick only. */
  isOnce: boolean;
  /** Aborted: the run under way ends in good order, then the watch. */
  signal: AbortSignal;
  onPrepared: (summary: SummaryEvent) => void;
  /** The tick could not be made, and the next one is tried; or the watch ends, and could not say so in the store. */
  onMissed: (error: SumiError) => void;
  /** When the next tick will be. */
  onWait: (until: number) => void;
  /** It ends, in good order: what is on its way is waited for, so that it is known what arrived. */
  onEnd?: () => Promise<void>;
}

/** Errors that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  'db-in-use',
  'db-locked',
  'project-in-use',
  'store-away',
  'store-unreachable',
]);

const isPassing = (error: unknown): error is SumiError =>
  error instanceof SumiError && PASSING.has(error.code);

/** `failed`: the first crawl got no answer, or the only look did not. */
export type WatchEnd = 'done' | 'stopped' | 'interrupted' | 'failed';

export async function runWatch(life: WatchLife): Promise<WatchEnd> {
  const { watch, signal } = life;
  const stopRun = () => watch.stop();
  signal.addEventListener('abort', stopRun);
  try {
    const end = await live(life);
    await life.onEnd?.();
    return end;
  } finally {
    signal.removeEventListener('abort', stopRun);
    await sayGoodbye(life);
  }
}

/** Where the store cannot be had for it, the next watch finds this process gone; that is no reason to end otherwise. */
async function sayGoodbye({ watch, onMissed }: WatchLife): Promise<void> {
  try {
    await watch.close();
  } catch (error) {
    if (!isPassing(error)) throw error;
    onMissed(error);
  }
}

async function live({ watch, settings, clock, isOnce, signal, ...tell }: WatchLife): Promise<WatchEnd> {
  for (let [isFirst, isPrepared] = [true, false]; ; isFirst = false) {
    const startedAt = clock.now();
    try {
      // No first crawl is made outside of the hours; one that they cut off goes on in the next.
      if (!isPrepared && isOpen(startedAt, settings.hours)) {
        const first = await watch.prepare();
        if (first !== null) tell.onPrepared(first);
        if (first?.status === 'failed') return 'failed';
        if (signal.aborted) return first?.status === 'interrupted' ? 'interrupted' : 'stopped';
        isPrepared = watch.isPrepared;
      }
      const { status } = await watch.tick(startedAt);
      isPrepared = watch.isPrepared;
      if (signal.aborted) return status === 'interrupted' ? 'interrupted' : 'stopped';
      // Whoever started it, cron most of all, has to hear of it; a watch that stays looks again.
      if (isOnce && status === 'failed') return 'failed';
    } catch (error) {
      const mayPass = !isOnce && (isPrepared || !isFirst);
      if (!mayPass || !isPassing(error)) throw error;
      isPrepared = false;
      tell.onMissed(error);
    }
    if (isOnce) return 'done';
    const until = nextOpen(Math.max(startedAt + settings.everyMs, clock.now()), settings.hours);
    tell.onWait(until);
    await wait(until - clock.now(), clock, signal);
    if (signal.aborted) return 'stopped';
  }
}

function wait(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(Math.max(delayMs, 0), end);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}
