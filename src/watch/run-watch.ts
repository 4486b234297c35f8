/**
 * The life of a watch: the first crawl if the project has none, then a tick every `--every`, within the hours, until it
 * is stopped. If another process holds the store, or the database restarts, the watch loses a tick and goes on.
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
  /** Aborted: the run under way is stopped, then the watch ends. */
  signal: AbortSignal;
  onPrepared: (summary: SummaryEvent) => void;
  /** A tick failed by an error that passes by itself. Or the watch has ended, and could not note it in the store. */
  onMissed: (error: SumiError) => void;
  /** The watch waits for the next tick, which may be begun at once. */
  onWait: (until: number, beginNow: () => void) => void;
  /** Waits for deliveries before the watch ends. */
  onEnd?: () => Promise<void>;
}

/** Errors that pass by themselves. */
const PASSING: ReadonlySet<string> = new Set([
  'db-in-use',
  'db-locked',
  'db-open-here',
  'project-in-use',
  'run-under-way',
  'store-away',
  'store-unreachable',
]);

const isPassing = (error: unknown): error is SumiError =>
  error instanceof SumiError && PASSING.has(error.code);

/** `failed`: the first crawl got no answer, or the only tick (`--once`) got none. */
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

/** If the store cannot be written now, the next watch finds this process dead. So the error does not count. */
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
      // Outside of the hours no first crawl begins or goes on.
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
      // Cron needs the exit code. A watch that stays has its next tick.
      if (isOnce && status === 'failed') return 'failed';
    } catch (error) {
      const mayPass = !isOnce && (isPrepared || !isFirst);
      if (!mayPass || !isPassing(error)) throw error;
      isPrepared = false;
      tell.onMissed(error);
    }
    if (isOnce) return 'done';
    const until = nextOpen(Math.max(startedAt + settings.everyMs, clock.now()), settings.hours);
    const rest = wait(until - clock.now(), clock, signal);
    tell.onWait(until, rest.end);
    await rest.over;
    if (signal.aborted) return 'stopped';
  }
}

function wait(delayMs: number, clock: Clock, signal: AbortSignal): { over: Promise<void>; end: () => void } {
  let end = () => {};
  const over = new Promise<void>((resolve) => {
    end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(Math.max(delayMs, 0), () => end());
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
  return { over, end: () => end() };
}
