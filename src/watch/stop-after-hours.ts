/** At the end of the hours nothing new is begun, and the run under way is left as an interrupted one. */
import type { DayHours } from '../config/watch-values.ts';
import type { CrawlHandle } from '../crawl/start-crawl.ts';
import type { Clock } from '../primitives/clock.ts';
import { nextClosed } from './visit-budget.ts';

const LOOK_AT_CLOCK_MS = 60_000;

/** Answers how to end the wait for it. */
export function stopAfterHours(
  handle: Pick<CrawlHandle, 'stop'>,
  clock: Clock,
  hours: DayHours | null,
): () => void {
  let cancel = () => {};
  const look = () => {
    const now = clock.now();
    const end = nextClosed(now, hours);
    if (end === null) return;
    if (end <= now) handle.stop();
    // Not in one go: the clock on the wall may be set meanwhile.
    else cancel = clock.after(Math.min(end - now, LOOK_AT_CLOCK_MS), look);
  };
  look();
  return () => cancel();
}
