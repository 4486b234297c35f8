/**
 * How many visits a watch may make now: N in a period, for all hosts together and for each. One rule: visits come evenly with
 * the time; a look has what came since the one before it and what earlier ones left, and never more than N less what the
 * looks of the last period visited. A new host begins with N in hand, and a first crawl has all that is free.
 * It counts visits and not allowances, so that no order of other budgets, restarts and crashes makes N into more. Where
 * only some hours of the day are open, a day's visits come in these.
 * It never reads a clock and never stores: its state goes in and out.
 */
import type { DayHours } from '../config/watch-values.ts';

/** N visits in a period. */
export interface VisitRate {
  visits: number;
  periodMs: number;
  perDay: number;
}

export interface BudgetOptions {
  all: VisitRate;
  /** Of one host; null: no limit. */
  host: VisitRate | null;
  /** Null: all day. */
  hours: DayHours | null;
}

/** What is in hand, and the looks of the last period: when one began, when it ended, what it visited, the next one, … */
export type SavedPurse = readonly [inHand: number, ...made: number[]];

export interface SavedBudget {
  /** When the last look began (wall milliseconds). */
  lookedAt: number;
  all: SavedPurse;
  /** Those that have not got N in hand, by the store's id. */
  hosts: Record<string, SavedPurse>;
}

interface Purse {
  inHand: number;
  /** Of N, what the last period left; as of the look. */
  free: number;
  made: Made[];
}

interface Made {
  at: number;
  until: number;
  visits: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Sums of many small parts come out a hair below whole numbers. */
const HAIR = 1e-6;
/** As a part of the period: looks further apart are those of a cron, or of a machine that sleeps. */
const OFTEN = 1 / 20;
/** Cron is never on time, and the day on which clocks are put forward has 23 hours: so much of the time since its last look may be missing. */
const EARLY = 1 / 20;
/** As a part of the period: looks this close together count as one, for nobody keeps a line for each second of a week. */
const TOGETHER = 1 / 100;

export class VisitBudget {
  readonly #options: BudgetOptions;
  readonly #all: Purse;
  readonly #hosts = new Map<number, Purse>();
  /** What a host has that was not visited yet, or not for long. */
  #newHost: number;
  #lookedAt: number;

  constructor(options: BudgetOptions, { lookedAt, all, hosts }: SavedBudget) {
    this.#options = options;
    this.#lookedAt = lookedAt;
    this.#all = readPurse(all);
    for (const [id, purse] of Object.entries(hosts)) this.#hosts.set(Number(id), readPurse(purse));
    this.#newHost = options.host?.visits ?? Number.POSITIVE_INFINITY;
  }

  /** When the last look began: what it visits counts from then on. */
  get lookedAt(): number {
    return this.#lookedAt;
  }

  /** A look begins. `isFirstCrawl`: nothing is saved for later, all that is free is in hand. */
  look(now: number, isFirstCrawl = false): void {
    const { all, host } = this.#options;
    this.#fill(this.#all, all, now, isFirstCrawl);
    if (host !== null) {
      for (const [id, purse] of this.#hosts) {
        this.#fill(purse, host, now, isFirstCrawl);
        if (purse.made.length === 0 && purse.inHand >= host.visits) this.#hosts.delete(id);
      }
      this.#newHost = Math.max(host.visits, this.#came(host, now));
    }
    this.#lookedAt = now;
  }

  /** Whole visits in hand. */
  visits(): number {
    return wholeOf(this.#all);
  }

  hostVisits(hostId: number): number {
    const { host } = this.#options;
    return host === null ? Number.POSITIVE_INFINITY : wholeOf(this.#hostPurse(hostId));
  }

  /** Visits of the look that began then, made until that moment or about to be; negative for some that were not made after all. */
  charge(visits: number, at: number, until = at): void {
    spend(this.#all, { visits, at, until }, this.#options.all);
  }

  /** The same of one host's own. */
  chargeHost(hostId: number, visits: number, at: number, until = at): void {
    const { host } = this.#options;
    if (host === null || (visits === 0 && !this.#hosts.has(hostId))) return;
    const purse = this.#hostPurse(hostId);
    this.#hosts.set(hostId, purse);
    spend(purse, { visits, at, until }, host);
  }

  /** The first crawl is over: from now on visits come evenly, and what it left of all that was free is not saved. */
  endFirstCrawl(): void {
    for (const purse of [this.#all, ...this.#hosts.values()]) purse.inHand = 0;
  }

  save(): SavedBudget {
    const hosts = [...this.#hosts].map(([id, purse]) => [id, writePurse(purse)] as const);
    return { lookedAt: this.#lookedAt, all: writePurse(this.#all), hosts: Object.fromEntries(hosts) };
  }

  #hostPurse(hostId: number): Purse {
    return this.#hosts.get(hostId) ?? { inHand: this.#newHost, free: this.#newHost, made: [] };
  }

  #fill(purse: Purse, rate: VisitRate, now: number, isFirstCrawl: boolean): void {
    const { visits, periodMs } = rate;
    // A clock that was ahead and is set back: what was visited then counts as visited now.
    for (const look of purse.made)
      Object.assign(look, { at: Math.min(look.at, now), until: Math.min(look.until, now) });
    purse.made = purse.made.filter(({ until }) => until > now - periodMs);
    const sinceLookMs = Math.min(Math.max(now - this.#lookedAt, 0), periodMs);
    // Who looks often is held to visits, who looks rarely to looks: one that takes an hour is no reason to skip the next.
    const isRare = sinceLookMs > periodMs * OFTEN;
    const countedFrom = now - periodMs + (isRare ? sinceLookMs * EARLY : 0);
    const counted = purse.made
      .filter(({ at, until }) => (isRare ? at : until) > countedFrom)
      .reduce((sum, look) => sum + look.visits, 0);
    const came = this.#came(rate, now);
    // Where looks are further apart than the period, what came since the last one is more than N.
    purse.free = Math.max(0, Math.max(visits, came) - counted);
    const inHand = Math.max(purse.inHand, -1) + came;
    // A part of a visit is not lost, though none is free at the moment.
    purse.inHand = isFirstCrawl ? purse.free : Math.min(inHand, purse.free + (inHand % 1));
  }

  /** Since the last look; no more than a period's, or a day's where the period is shorter. */
  #came({ visits, periodMs }: VisitRate, now: number): number {
    const { hours } = this.#options;
    const from = Math.max(this.#lookedAt, now - Math.max(periodMs, DAY_MS));
    // 5 an hour are 5 in each hour that is open; 5 a day come in those that the day has.
    const isOfDays = hours !== null && periodMs >= DAY_MS;
    const openMsAPeriod = isOfDays ? (periodMs / DAY_MS) * openMsADay(hours) : periodMs;
    return (visits * openMs(from, now, hours)) / openMsAPeriod;
  }
}

/** To the nearest: of ten a week, nine and a half are no nine for who comes an hour early; what is missing is owed. */
function wholeOf({ inHand, free }: Purse): number {
  return Math.max(0, Math.min(Math.floor(inHand + 0.5), Math.floor(free + HAIR)));
}

function spend(purse: Purse, { at, until, visits }: Made, { periodMs }: VisitRate): void {
  purse.inHand -= visits;
  purse.free -= visits;
  const made = purse.made.find((look) => at >= look.at && at - look.at < periodMs * TOGETHER);
  // A crawl of half a day does not put off the next by as much.
  const end = Math.min(until, at + periodMs * OFTEN);
  if (made === undefined) purse.made.push({ at, until: end, visits });
  else Object.assign(made, { visits: made.visits + visits, until: Math.max(made.until, end) });
  purse.made = purse.made.filter((look) => look.visits !== 0);
}

function readPurse([inHand, ...flat]: SavedPurse): Purse {
  const made: Made[] = [];
  for (let i = 0; i + 2 < flat.length; i += 3)
    made.push({ at: flat[i], until: flat[i + 1], visits: flat[i + 2] });
  return { inHand, free: Math.max(inHand, 0), made };
}

function writePurse({ inHand, made }: Purse): SavedPurse {
  return [inHand, ...made.flatMap(({ at, until, visits }) => [at, until, visits])];
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

function openMsADay(hours: DayHours): number {
  return ((hours.to - hours.from + 24) % 24 || 24) * HOUR_MS;
}

/** Milliseconds of the span that are open. */
function openMs(from: number, to: number, hours: DayHours | null): number {
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

/** When the hour on the wall is over; hours are of the machine's own time zone, some of which are half an hour off. */
function hourEnd(at: number): number {
  const date = new Date(at);
  return at + HOUR_MS - (date.getMinutes() * 60_000 + date.getSeconds() * 1000 + date.getMilliseconds());
}
