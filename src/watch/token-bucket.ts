/**
 * A token bucket with a log of charges: the budget of page visits for the project, and one for each host.
 *
 * N tokens come in each period, evenly, and a page visit takes one. The log says how many visits each tick of the last
 * period made. The bucket holds at most N less these visits. So with frequent ticks no window of one period has more than
 * N visits, whatever the order of pauses, restarts and other budgets. Rare ticks (RARE_PART) have N each, though they
 * come early by EARLY_PART, and more than N when they are further apart than the period. It reads no clock and no store:
 * its state goes in and out.
 */

/** N visits in a period. */
export interface VisitRate {
  visits: number;
  periodMs: number;
  perDay: number;
}

/** The tokens, then the charges of the last period: three numbers each (`at`, `until`, `visits`). */
export type SavedBucket = readonly [tokens: number, ...charges: number[]];

/** Visits of a tick that began at `at` and made its last one at `until`. */
export interface Charge {
  at: number;
  until: number;
  visits: number;
}

export interface Refill {
  rate: VisitRate;
  now: number;
  /** Since the tick before. */
  sinceMs: number;
  /** Tokens that came since then. */
  came: number;
  /** Fills the bucket: a first crawl does not wait for tokens. */
  isFull: boolean;
}

/** Sums of many fractions come out slightly below whole numbers. */
const ROUNDING = 1e-6;
/** Ticks that are further apart than this part of the period are those of cron, or of a machine that sleeps. */
const RARE_PART = 1 / 20;
/** Cron is late and early, and one day of the year has 23 hours: so much of the time since a rare tick may be missing. */
const EARLY_PART = 1 / 20;
/** Charges that are closer together than this part of the period share one line of the log, so that it stays short. */
const MERGED_PART = 1 / 100;

export class TokenBucket {
  #tokens: number;
  /** N less the visits of the last period, as of the last refill. */
  #free: number;
  #charges: Charge[] = [];

  constructor([tokens, ...flat]: SavedBucket) {
    this.#tokens = tokens;
    this.#free = Math.max(tokens, 0);
    for (let i = 0; i + 2 < flat.length; i += 3)
      this.#charges.push({ at: flat[i], until: flat[i + 1], visits: flat[i + 2] });
  }

  refill({ rate, now, sinceMs, came, isFull }: Refill): void {
    const { visits, periodMs } = rate;
    // The clock was ahead and was set back: charges of the future count from now.
    for (const charge of this.#charges) {
      charge.at = Math.min(charge.at, now);
      charge.until = Math.min(charge.until, now);
    }
    this.#charges = this.#charges.filter(({ until }) => until > now - periodMs);
    // Frequent ticks: a visit leaves the window a period after it was made. Rare ticks: a period after its tick began,
    // so that a daily tick that takes an hour has N the next day, too.
    const isRare = sinceMs > periodMs * RARE_PART;
    const windowStart = now - periodMs + (isRare ? sinceMs * EARLY_PART : 0);
    const charged = this.#charges
      .filter(({ at, until }) => (isRare ? at : until) > windowStart)
      .reduce((sum, charge) => sum + charge.visits, 0);
    // More than N come between ticks that are further apart than the period.
    this.#free = Math.max(0, Math.max(visits, came) - charged);
    const tokens = Math.max(this.#tokens, -1) + came;
    // The fraction of a token is kept, though no visit is free at the moment.
    this.#tokens = isFull ? this.#free : Math.min(tokens, this.#free + (tokens % 1));
  }

  /** Visits that may be made now. To the nearest whole number: what is missing of a token is owed by the next refill. */
  get visits(): number {
    return Math.max(0, Math.min(Math.floor(this.#tokens + 0.5), Math.floor(this.#free + ROUNDING)));
  }

  charge({ at, until, visits }: Charge, { periodMs }: VisitRate): void {
    if (visits === 0) return;
    this.#tokens -= visits;
    this.#free -= visits;
    // A tick of half a day does not put off the next one by as much.
    const end = Math.min(until, at + periodMs * RARE_PART);
    const line = this.#charges.find((charge) => at >= charge.at && at - charge.at < periodMs * MERGED_PART);
    if (line === undefined) this.#charges.push({ at, until: end, visits });
    else Object.assign(line, { visits: line.visits + visits, until: Math.max(line.until, end) });
  }

  drain(): void {
    this.#tokens = 0;
  }

  /** It is as a new one, and need not be kept. */
  isLikeNew({ visits }: VisitRate): boolean {
    return this.#charges.length === 0 && this.#tokens >= visits;
  }

  save(): SavedBucket {
    return [this.#tokens, ...this.#charges.flatMap(({ at, until, visits }) => [at, until, visits])];
  }
}
