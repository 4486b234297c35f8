/** The hours of the day in which a watch may visit (`--hours`), by the clock of the machine; null: all day. */
import type { DayHours } from '../config/watch-values.ts';
import type { CrawlHandle } from '../crawl/run/crawl-handle.ts';
import type { Clock } from '../primitives/clock.ts';

const HOUR_MS = 3_600_000;
const CHECK_EVERY_MS = 60_000;

export function isOpen(at: number, hours: DayHours | null): boolean {
  if (hours === null) return true;
  const hour = new Date(at).getHours();
  return hours.from < hours.to
    ? hour >= hours.from && hour < hours.to
    : hour >= hours.from || hour < hours.to;
}

/** The first moment from this one on that is in the hours. */
export function nextOpen(at: number, hours: DayHours | null): number {
  let moment = at;
  while (!isOpen(moment, hours)) moment = hourEnd(moment);
  return moment;
}

/** The first moment from this one on that is not; null where there is none. */
export function nextClosed(at: number, hours: DayHours | null): number | null {
  if (hours === null) return null;
  let moment = at;
  while (isOpen(moment, hours)) moment = hourEnd(moment);
  return moment;
}

/** Milliseconds of the span that are in the hours. */
export function openMs(from: number, to: number, hours: DayHours | null): number {
  if (to <= from) return 0;
  if (hours === null) return to - from;
  let open = 0;
  for (let moment = from; moment < to; ) {
    const end = Math.min(hourEnd(moment), to);
    if (isOpen(moment, hours)) open += end - moment;
    moment = end;
  }
  return open;
}

export function openMsADay(hours: DayHours): number {
  return ((hours.to - hours.from + 24) % 24 || 24) * HOUR_MS;
}

/** Stops the run when the hours end: the run is left as interrupted. Returns a function that ends the wait. */
export function stopAtClosing(
  handle: Pick<CrawlHandle, 'stop'>,
  clock: Clock,
  hours: DayHours | null,
): () => void {
  let cancel = () => {};
  const check = () => {
    const now = clock.now();
    const end = nextClosed(now, hours);
    if (end === null) return;
    if (end <= now) handle.stop();
    // The clock of the machine may be set meanwhile, so it is read once a minute.
    else cancel = clock.after(Math.min(end - now, CHECK_EVERY_MS), check);
  };
  check();
  return () => cancel();
}

/** The end of this hour by the local clock. Some time zones are off by half an hour. */
function hourEnd(at: number): number {
  const date = new Date(at);
  return at + HOUR_MS - (date.getMinutes() * 60_000 + date.getSeconds() * 1000 + date.getMilliseconds());
}
