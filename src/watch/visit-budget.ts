/**
 * How many visits a watch may make now: so many a day, for all hosts together and for each. What is not spent stays,
 * but no more than a day's worth of it, or a week's where so many a week are given. Where only some hours of the day are open, the day's visits come in these.
 * Whoever begins (a first crawl, a host that was not asked before) has the number that the operator wrote in hand, and
 * gets no more before the time that it is for is over: 10 a day are never 20 in a day. Who looks no more often than that has
 * such a number in hand at each look.
 * It never reads a clock and never stores: its state goes in and out, so that a restart goes on where it was.
 */
import type { DayHours } from '../config/watch-values.ts';

/** Visits a day, those in hand at the beginning, and as many as may be saved up. */
export interface VisitRate {
  perDay: number;
  atOnce: number;
  most: number;
}

export interface BudgetOptions {
  all: VisitRate;
  /** Of one host; null: no limit. */
  host: VisitRate | null;
  /** Null: all day. */
  hours: DayHours | null;
}

/** Visits in hand at a moment (wall milliseconds), from which on they grow; it may lie ahead. */
interface Purse {
  visits: number;
  at: number;
}

/** Of hosts only those that were asked, by the store's id. */
export interface SavedBudget extends Purse {
  hosts: Record<string, readonly [visits: number, at: number]>;
  /** When the last look began, and when this was last reckoned: what a purse has lies ahead of that in an advance only. */
  lookedAt?: number;
  seenAt?: number;
  /** What an advance was by these budgets: who writes another number has the difference at once. */
  atOnce?: { all: number; host: number | null };
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Sums of many small parts come out a hair below whole numbers. */
const HAIR = 1e-6;
/** Of a span that counts as whole: cron is some seconds early or late, and of ten in hand nine would be left. */
const NEARLY = 0.99;
/** The day on which clocks are put forward has 23 hours: it has its part, in place of nothing. */
const SHORT = 0.95;

export class VisitBudget {
  readonly #options: BudgetOptions;
  #all: Purse;
  readonly #hosts = new Map<number, Purse>();
  #lookedAt: number;
  #seenAt: number;

  constructor(options: BudgetOptions, { visits, at, hosts, lookedAt, seenAt, atOnce }: SavedBudget) {
    this.#options = options;
    this.#lookedAt = lookedAt ?? Number.POSITIVE_INFINITY;
    this.#seenAt = seenAt ?? Number.POSITIVE_INFINITY;
    this.#all = this.#asWritten({ visits, at }, options.all, atOnce?.all);
    const { host } = options;
    for (const [id, [inHand, since]] of Object.entries(hosts)) {
      const purse = { visits: inHand, at: since };
      this.#hosts.set(Number(id), host === null ? purse : this.#asWritten(purse, host, atOnce?.host));
    }
  }

  /** Of a watch that begins with a first crawl. */
  static atStart(options: BudgetOptions, now: number): VisitBudget {
    return new VisitBudget(options, {
      ...fullPurse(options.all, now),
      ...{ hosts: {}, lookedAt: now, seenAt: now },
    });
  }

  /**
   * A look begins. Where the time of an advance went by since the one before it, nobody waits for what comes bit by bit:
   * all that came since then is in hand, and is an advance again.
   */
  look(now: number): void {
    const { all, host } = this.#options;
    this.#all = this.#renewed(this.#all, now, all);
    for (const [id, purse] of host === null ? [] : this.#hosts)
      this.#hosts.set(id, this.#renewed(purse, now, host!));
    this.#lookedAt = now;
    this.#seenAt = now;
  }

  /** Whole visits in hand. */
  visits(now: number): number {
    this.#all = this.#grown(this.#all, now, this.#options.all);
    this.#seenAt = now;
    return wholeOf(this.#all, now, this.#options.all);
  }

  hostVisits(hostId: number, now: number): number {
    const { host } = this.#options;
    return host === null ? Number.POSITIVE_INFINITY : wholeOf(this.#hostPurse(hostId, now, host), now, host);
  }

  /** Visits that were made, or are about to be; negative for some that were not made after all. */
  charge(visits: number, now: number): void {
    this.#all = spent(this.#grown(this.#all, now, this.#options.all), visits, this.#options.all);
    this.#seenAt = now;
  }

  /** The same of one host's own. */
  chargeHost(hostId: number, visits: number, now: number): void {
    const { host } = this.#options;
    if (host === null || visits === 0) return;
    this.#hosts.set(hostId, spent(this.#hostPurse(hostId, now, host), visits, host));
    this.#seenAt = now;
  }

  /** The first crawl is over: what it had in hand beyond its need comes bit by bit, as from now on all does. */
  endStart(now: number): void {
    const { all, host } = this.#options;
    this.#seenAt = now;
    this.#all = withoutAdvance(this.#grown(this.#all, now, all), now, all);
    for (const id of host === null ? [] : this.#hosts.keys())
      this.#hosts.set(id, withoutAdvance(this.#hostPurse(id, now, host!), now, host!));
  }

  save(now: number): SavedBudget {
    const { host } = this.#options;
    this.visits(now);
    const hosts: Record<string, readonly [number, number]> = {};
    for (const id of host === null ? [] : this.#hosts.keys()) {
      const { visits, at } = this.#hostPurse(id, now, host!);
      hosts[id] = [visits, at];
    }
    const atOnce = { all: this.#options.all.atOnce, host: host?.atOnce ?? null };
    return { ...this.#all, hosts, lookedAt: this.#lookedAt, seenAt: now, atOnce };
  }

  #hostPurse(hostId: number, now: number, rate: VisitRate): Purse {
    const purse = this.#hosts.get(hostId);
    return purse === undefined ? fullPurse(rate, now) : this.#grown(purse, now, rate);
  }

  #grown({ visits, at }: Purse, now: number, rate: VisitRate): Purse {
    // Ahead of now by more than any advance: the clock was wrong. One that went back takes nothing away.
    if (at > now) return { visits, at: at - now > advanceMs(rate, Math.max(rate.perDay, 1)) ? now : at };
    return { visits: Math.min(visits + this.#growth(at, now, rate), rate.most), at: now };
  }

  #growth(from: number, to: number, { perDay }: VisitRate): number {
    const { hours } = this.#options;
    return (openMs(from, to, hours) * perDay) / openMsADay(hours);
  }

  /** The rest of an advance that was for another number: no day of waiting for who writes a larger one. */
  #asWritten(purse: Purse, rate: VisitRate, before: number | null | undefined): Purse {
    const isAdvance = purse.at > this.#seenAt;
    if (!isAdvance || before == null) return purse;
    const visits = Math.min(purse.visits + Math.max(0, rate.atOnce - before), rate.most);
    return { visits, at: Math.min(purse.at, this.#seenAt + advanceMs(rate, rate.atOnce)) };
  }

  #renewed(purse: Purse, now: number, rate: VisitRate): Purse {
    const spanMs = advanceMs(rate, rate.atOnce);
    const isAdvance = purse.at > this.#seenAt;
    const share = (now - this.#lookedAt) / spanMs;
    if (!isAdvance || share < SHORT) return purse;
    const whole = Math.max(this.#growth(this.#lookedAt, now, rate), rate.atOnce);
    const came = share < NEARLY ? rate.atOnce * share : whole;
    return { visits: Math.min(purse.visits + came, rate.most), at: now + spanMs };
  }
}

function wholeOf({ visits, at }: Purse, now: number, rate: VisitRate): number {
  const full = rate.most;
  // What was spent of an advance is no time that is missing.
  const isNearlyFull = at <= now && visits >= full * NEARLY;
  return Math.max(0, Math.floor((isNearlyFull ? full : visits) + HAIR));
}

/** The time that so many visits are for. */
const advanceMs = ({ perDay }: VisitRate, visits: number) => (visits / perDay) * DAY_MS;

function fullPurse(rate: VisitRate, now: number): Purse {
  return { visits: rate.atOnce, at: now + advanceMs(rate, rate.atOnce) };
}

function spent({ visits, at }: Purse, count: number, rate: VisitRate): Purse {
  return { visits: Math.min(visits - count, rate.most), at };
}

function withoutAdvance({ visits, at }: Purse, now: number, rate: VisitRate): Purse {
  if (at <= now || visits <= 0) return { visits, at };
  const sooner = at - advanceMs(rate, visits);
  return { visits: 0, at: Math.max(now, sooner) };
}

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

/** The next moment, from this one on, that is not open; null: all are. */
export function nextClosed(at: number, hours: DayHours | null): number | null {
  if (hours === null) return null;
  let moment = at;
  while (isOpen(moment, hours)) moment = hourEnd(moment);
  return moment;
}

function openMsADay(hours: DayHours | null): number {
  return hours === null ? DAY_MS : ((hours.to - hours.from + 24) % 24 || 24) * HOUR_MS;
}

/** Milliseconds of the span that are open; what lies further back than a week and a day cannot matter. */
function openMs(from: number, to: number, hours: DayHours | null): number {
  if (to <= from) return 0;
  if (hours === null) return to - from;
  let open = 0;
  for (let moment = Math.max(from, to - 8 * DAY_MS); moment < to; ) {
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
