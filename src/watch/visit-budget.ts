/**
 * How many pages a watch may visit now: one token bucket for all pages (`--budget`), one for each host (`--host-budget`).
 * Tokens come in the hours of the watch only. Every page visit is charged, of known pages and of new ones; robots.txt,
 * sitemaps, second tries and pages that are fresh without a request are not. A host without charges has N tokens.
 * It reads no clock and no store: its state goes in and out.
 */
import type { DayHours } from '../config/watch-values.ts';
import { openMs, openMsADay } from './open-hours.ts';
import { type SavedBucket, TokenBucket, type VisitRate } from './token-bucket.ts';

export interface BudgetOptions {
  all: VisitRate;
  /** Of one host; null: no limit. */
  host: VisitRate | null;
  /** Null: all day. */
  hours: DayHours | null;
}

export interface SavedBudget {
  /** When the last tick began (wall milliseconds): tokens have come until then. */
  tickedAt: number;
  all: SavedBucket;
  /** By the store's ids of hosts, those that are not as new. */
  hosts: Record<string, SavedBucket>;
}

/** Page visits that were made, in all and by the store's ids of hosts. */
export interface Visits {
  visits: number;
  hosts: Readonly<Record<string, number>>;
}

/** A run of the watch whose visits are not in the log of charges yet. */
export interface OpenCharge {
  /** The last run before it; its own number is known only when it has begun. */
  afterRun: number;
  /** When the tick began. */
  at: number;
  /** The most visits that it may make. */
  room: number;
  /** Visits that the run had before the tick: they were charged then, or somebody else made them. */
  before: Visits;
}

const DAY_MS = 86_400_000;

export class VisitBudget {
  readonly #options: BudgetOptions;
  readonly #all: TokenBucket;
  readonly #hosts = new Map<number, TokenBucket>();
  /** Tokens of a host without charges. */
  #newHost: number;
  #tickedAt: number;

  constructor(options: BudgetOptions, { tickedAt, all, hosts }: SavedBudget) {
    this.#options = options;
    this.#tickedAt = tickedAt;
    this.#all = new TokenBucket(all);
    for (const [id, bucket] of Object.entries(hosts)) this.#hosts.set(Number(id), new TokenBucket(bucket));
    this.#newHost = options.host?.visits ?? Number.POSITIVE_INFINITY;
  }

  /** Without tokens and charges. */
  static emptyAt(options: BudgetOptions, at: number): VisitBudget {
    return new VisitBudget(options, { tickedAt: at, all: [0], hosts: {} });
  }

  /** Of a project that was crawled by hand until then: tokens came since, and at least those between two ticks. */
  static afterCrawl(options: BudgetOptions & { everyMs: number }, at: number): VisitBudget {
    const { visits, periodMs } = options.all;
    const leastMs = Math.max(options.everyMs, periodMs / visits);
    const tokens = (visits * leastMs) / periodMs;
    return new VisitBudget(options, { tickedAt: at + leastMs, all: [tokens], hosts: {} });
  }

  get tickedAt(): number {
    return this.#tickedAt;
  }

  /** A tick begins. `isFull`: a first crawl has all that the last period left. */
  refill(now: number, isFull = false): void {
    const { all, host } = this.#options;
    this.#refill(this.#all, all, now, isFull);
    if (host !== null) {
      for (const [id, bucket] of this.#hosts) {
        this.#refill(bucket, host, now, isFull);
        if (bucket.isLikeNew(host)) this.#hosts.delete(id);
      }
      this.#newHost = Math.max(host.visits, this.#came(host, now));
    }
    this.#tickedAt = now;
  }

  /** Page visits that may be made now. */
  get visits(): number {
    return this.#all.visits;
  }

  hostVisits(hostId: number): number {
    return this.#options.host === null ? Number.POSITIVE_INFINITY : this.#bucketOf(hostId).visits;
  }

  /** Visits of the tick that began at `at`, the last of which was made at `until`. */
  charge({ visits, hosts }: Visits, at: number, until = at): void {
    const { all, host } = this.#options;
    this.#all.charge({ at, until, visits }, all);
    if (host === null) return;
    for (const [id, count] of Object.entries(hosts)) {
      if (count === 0) continue;
      const bucket = this.#bucketOf(Number(id));
      this.#hosts.set(Number(id), bucket);
      bucket.charge({ at, until, visits: count }, host);
    }
  }

  /** A first crawl has paused or ended: the tokens that it left are not kept, and new ones come evenly. */
  drain(): void {
    for (const bucket of [this.#all, ...this.#hosts.values()]) bucket.drain();
  }

  save(): SavedBudget {
    const hosts = [...this.#hosts].map(([id, bucket]) => [id, bucket.save()] as const);
    return { tickedAt: this.#tickedAt, all: this.#all.save(), hosts: Object.fromEntries(hosts) };
  }

  #bucketOf(hostId: number): TokenBucket {
    return this.#hosts.get(hostId) ?? new TokenBucket([this.#newHost]);
  }

  #refill(bucket: TokenBucket, rate: VisitRate, now: number, isFull: boolean): void {
    const sinceMs = Math.min(Math.max(now - this.#tickedAt, 0), rate.periodMs);
    bucket.refill({ rate, now, sinceMs, came: this.#came(rate, now), isFull });
  }

  /** Tokens since the last tick: those of one period at most, or of a day where the period is shorter. */
  #came({ visits, periodMs }: VisitRate, now: number): number {
    const { hours } = this.#options;
    const from = Math.max(this.#tickedAt, now - Math.max(periodMs, DAY_MS));
    // 5/hour are 5 in each open hour. 5/day are 5 in the open hours of a day.
    const isByDay = hours !== null && periodMs >= DAY_MS;
    const openMsAPeriod = isByDay ? (periodMs / DAY_MS) * openMsADay(hours) : periodMs;
    return (visits * openMs(from, now, hours)) / openMsAPeriod;
  }
}
