/** Emits a progress event once a second while somebody listens. */
import type { Clock } from '../primitives/clock.ts';
import type { EventHub } from './event-hub.ts';
import type { EventBody, WaitingFor } from './events.ts';

const EVERY_MS = 1000;

export interface ProgressSource {
  clock: Clock;
  events: EventHub;
  maxPages: number | null;
  /** Pages of the run so far, by all workers. */
  pages(): number;
  /** Pages waiting, hosts held and cooling, requests in flight. */
  look(): { waiting: number; inFlight: number; hosts: number; cooling: number };
  /** What is waited for. Only called if no page was read since the last progress event. */
  waitingFor(): WaitingFor | null;
}

export function startProgress(source: ProgressSource): { stop(): void } {
  const { clock, events } = source;
  const startedAt = clock.monotonic();
  const pagesBefore = source.pages();
  let pagesTold = pagesBefore;
  let cancel = clock.after(EVERY_MS, tick);

  function tick(): void {
    events.emit(progressNow());
    cancel = clock.after(EVERY_MS, tick);
  }

  function progressNow(): EventBody {
    const { waiting, inFlight, hosts, cooling } = source.look();
    const { errors } = events.counters;
    const pages = source.pages();
    const seconds = (clock.monotonic() - startedAt) / 1000;
    const perSecond = seconds > 0 ? (pages - pagesBefore) / seconds : 0;
    const total = estimatedTotal(pages, waiting + inFlight, source.maxPages);
    const left = total - pages;
    const isStill = pages === pagesTold;
    pagesTold = pages;
    return {
      type: 'progress',
      pages,
      pages_per_second: Math.round(perSecond * 10) / 10,
      waiting,
      hosts_active: hosts - cooling,
      hosts_cooling: cooling,
      in_flight: inFlight,
      errors,
      percent: total === 0 ? 0 : Math.min(100, Math.round((1000 * pages) / total) / 10),
      seconds_left: perSecond > 0 ? Math.round(left / perSecond) : null,
      waiting_for: isStill ? source.waitingFor() : null,
    };
  }

  return { stop: () => cancel() };
}

/** Starts at max-pages and moves to the number of pages that really wait. */
export function estimatedTotal(pages: number, waiting: number, maxPages: number | null): number {
  const known = pages + waiting;
  return maxPages === null ? known : Math.min(maxPages, known);
}
