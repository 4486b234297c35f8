/**
 * How many visits a watch may make now: so many a day, for all hosts together and for each. What is not spent stays,
 * but no more than a day's worth of it. Where only some hours of the day are open, the day's visits come in these.
 * It never reads a clock and never stores: its state goes in and out, so that a restart goes on where it was.
 */
import type { DayHours } from '../config/watch-values.ts';

export interface BudgetOptions {
  visitsPerDay: number;
  /** Of one host; null: no limit. */
  hostVisitsPerDay: number | null;
  /** Null: all day. */
  hours: DayHours | null;
}

/** Visits in hand at a moment (wall milliseconds); of hosts only those that spent some lately, by the store's id. */
export interface SavedBudget {
  visits: number;
  at: number;
  hosts: Record<string, readonly [visits: number, at: number]>;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Sums of many small parts come out a hair below whole numbers. */
const HAIR = 1e-6;

export class VisitBudget {
  readonly #options: BudgetOptions;
  #visits: number;
  #at: number;
  readonly #hosts = new Map<number, { visits: number; at: number }>();

  constructor(options: BudgetOptions, saved: SavedBudget) {
    this.#options = options;
    this.#visits = saved.visits;
    this.#at = saved.at;
    for (const [host, [visits, at]] of Object.entries(saved.hosts))
      this.#hosts.set(Number(host), { visits, at });
  }

  /** Whole visits in hand. */
  visits(now: number): number {
    const { visitsPerDay } = this.#options;
    this.#visits = this.#grown(this.#visits, this.#at, now, visitsPerDay);
    this.#at = now;
    return Math.max(0, Math.floor(this.#visits + HAIR));
  }

  hostVisits(hostId: number, now: number): number {
    const { hostVisitsPerDay } = this.#options;
    if (hostVisitsPerDay === null) return Number.POSITIVE_INFINITY;
    const host = this.#hosts.get(hostId);
    const visits =
      host === undefined ? most(hostVisitsPerDay) : this.#grown(host.visits, host.at, now, hostVisitsPerDay);
    return Math.max(0, Math.floor(visits + HAIR));
  }

  /** Visits that were made, or are about to be; negative for some that were not made after all. Null: no host's. */
  charge(hostId: number | null, visits: number, now: number): void {
    this.visits(now);
    this.#visits = Math.min(this.#visits - visits, most(this.#options.visitsPerDay));
    const { hostVisitsPerDay } = this.#options;
    if (hostVisitsPerDay === null || hostId === null) return;
    const host = this.#hosts.get(hostId) ?? { visits: most(hostVisitsPerDay), at: now };
    const before = this.#grown(host.visits, host.at, now, hostVisitsPerDay);
    this.#hosts.set(hostId, { visits: Math.min(before - visits, most(hostVisitsPerDay)), at: now });
  }

  save(now: number): SavedBudget {
    this.visits(now);
    const { hostVisitsPerDay } = this.#options;
    const hosts: Record<string, readonly [number, number]> = {};
    for (const [id, { visits, at }] of this.#hosts) {
      if (hostVisitsPerDay === null) break;
      const grown = this.#grown(visits, at, now, hostVisitsPerDay);
      // Who has all in hand needs no line.
      if (grown < most(hostVisitsPerDay)) hosts[id] = [grown, now];
      else this.#hosts.delete(id);
    }
    return { visits: this.#visits, at: this.#at, hosts };
  }

  #grown(visits: number, at: number, now: number, perDay: number): number {
    // A clock that went back takes nothing away.
    const open = openMs(at, now, this.#options.hours);
    return Math.min(visits + (open * perDay) / openMsADay(this.#options.hours), most(perDay));
  }
}

/** One visit at least, or a budget of three a week would never come to one. */
const most = (perDay: number) => Math.max(perDay, 1);

export function isOpen(at: number, hours: DayHours | null): boolean {
  if (hours === null) return true;
  const hour = new Date(at).getHours();
  const { from, to } = hours;
  return from < to ? hour >= from && hour < to : hour >= from || hour < to;
}

/** The next moment, from this one on, that is open. */
export function nextOpen(at: number, hours: DayHours | null): number {
  let moment = at;
  while (!isOpen(moment, hours)) moment = hourEnd(moment);
  return moment;
}

function openMsADay(hours: DayHours | null): number {
  return hours === null ? DAY_MS : ((hours.to - hours.from + 24) % 24 || 24) * HOUR_MS;
}

/** Milliseconds of the span that are open; what lies further back than two days cannot matter. */
function openMs(from: number, to: number, hours: DayHours | null): number {
  if (to <= from) return 0;
  if (hours === null) return to - from;
  let open = 0;
  for (let moment = Math.max(from, to - 2 * DAY_MS); moment < to; ) {
    const end = Math.min(hourEnd(moment), to);
    if (isOpen(moment, hours)) open += end - moment;
    moment = end;
  }
  return open;
}

/** When the hour on the wall is over; hours are of the machine's own time zone, some of which are half an hour off. */
function hourEnd(at: number): number {
  const date = new Date(at);
  return at + HOUR_MS - (date.getMinutes() * 60_000 + date.getSeconds() * 1000 + date.getMilliseconds());
}
