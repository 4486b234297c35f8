/**
 * The plan of revisits: facts about pages, a queue for each host, and the selected rule. Every event costs the
 * logarithm of the number of pages. Work over all pages is spread over the calls of `next`, a bounded share each. Time
 * and chance come from the caller: the same calls give the same pages.
 */
import { sumOfParts } from './change-frequency.ts';
import { chanceSame } from './gamma-posterior.ts';
import { HostQueues } from './host-queues.ts';
import { DAY_MS, PAGE_FLAGS, PageFacts, vainVisitsIn } from './page-facts.ts';
import type {
  Explanation,
  Finding,
  PageStates,
  RevisitKind,
  RevisitPlan,
  SavedPlan,
} from './revisit-plan.ts';
import { createScoreRule } from './score-rule.ts';
import { createValueRule } from './value-rule.ts';
import { createBandsRule, type PriceOptions, type VisitRule } from './visit-rule.ts';

export interface RevisitPlanOptions {
  kind: RevisitKind;
  /** The expected number of visits a day, which decides what a visit must be worth. */
  visitsPerDay: number;
  /** From 0 up to 1. */
  random(): number;
  /** No page is visited again sooner than after so many days (default: a quarter of an hour). */
  leastIntervalDays?: number;
  /** Every page is due after so many days (default: a year). */
  mostIntervalDays?: number;
  /** A failed visit is tried again after so many days, then twice as many each time (default: six hours). */
  retryDays?: number;
  saved?: SavedPlan;
}

/** Candidates per requested page: keys are as old as the last price, values are of now. */
const POOL = 2;
/** A round over all pages takes a day, or longer: at most so many pages for each requested page and each call. */
const TENDED_PER_VISIT = 4;
const TENDED_PER_CALL = 64;
/**
 * Pages that are skipped because they were visited a moment ago, for each requested page. Beyond that, fewer are
 * returned.
 */
const EARLY_PER_VISIT = 4;
const RETRY_DAYS = 1 / 4;
export const FIRST_RETRY_MS = RETRY_DAYS * DAY_MS;
/** A page that is gone is requested again after so many days, then twice as many each time. */
const RETURN_DAYS = 1;
/** A page that is visited in vain again and again is tried at least once in so many days. */
const LONGEST_RETRY_DAYS = 30;
/**
 * The share of pages that are gone among the requested pages while others wait, and the number of pages that a call
 * searches for them.
 */
const RESTING_SHARE = 0.1;
const LOOKED_AT_PER_CALL = 100_000;
/** Keys of pages that were never visited: before all days, the heavier the earlier. */
const NEVER_VISITED = -1e15;

const RULES: Record<RevisitKind, (facts: PageFacts, options: PriceOptions) => VisitRule> = {
  value: createValueRule,
  score: createScoreRule,
  bands: createBandsRule,
};

export function createRevisitPlan(options: RevisitPlanOptions): RevisitPlan {
  return new QueuedPlan(options);
}

/**
 * When a page with these flags, tried at that time, is tried again (milliseconds). NaN: its last visit did not fail.
 */
export function retryAt(flags: number, triedAt: number, retryDays = RETRY_DAYS): number {
  const failures = vainVisitsIn(flags);
  return failures === 0 ? Number.NaN : triedAt + pauseDays(failures, retryDays) * DAY_MS;
}

function pauseDays(vainVisits: number, firstDays: number): number {
  return Math.min(firstDays * 2 ** (Math.max(vainVisits, 1) - 1), LONGEST_RETRY_DAYS);
}

/** A page that may not be visited yet, out of its queue during one call. */
interface Early {
  page: number;
  key: number;
}

/** What is put aside while candidates are gathered: hosts without budget, pages whose time has not come. */
interface Aside {
  held: number[];
  early: Early[];
}

interface Candidate {
  page: number;
  host: number;
  worth: number;
}

class QueuedPlan implements RevisitPlan {
  readonly kind: RevisitKind;
  readonly #facts = new PageFacts();
  readonly #queues = new HostQueues();
  readonly #rule: VisitRule;
  readonly #leastInterval: number;
  readonly #retryDays: number;
  #visitsPerDay: number;
  /** The rolling round over all pages: its position, the pages that it still must process, and when it last ran. */
  #cursor = 0;
  #owed = 0;
  #tendedAt = Number.NaN;
  /** Resting pages are in no queue: few come back, and a search through them needs no memory. */
  restingCount = 0;
  /** Where the next search for them begins. -1: at a random place, so that each new plan begins elsewhere. */
  #restingCursor = -1;
  /** Those of them that the caller has. */
  readonly #lent = new Set<number>();
  readonly #random: () => number;

  constructor(options: RevisitPlanOptions) {
    this.kind = options.kind;
    this.#visitsPerDay = options.visitsPerDay;
    this.#leastInterval = options.leastIntervalDays ?? 1 / 96;
    this.#retryDays = options.retryDays ?? RETRY_DAYS;
    this.#random = options.random;
    const { saved } = options;
    if (saved !== undefined) {
      this.#facts.restoreHosts(saved.hosts, { shape: saved.priorShape, days: saved.priorDays });
    }
    this.#rule = RULES[options.kind](this.#facts, {
      visitsPerDay: () => this.#visitsPerDay,
      random: options.random,
      leastInterval: this.#leastInterval,
      mostInterval: options.mostIntervalDays ?? 365,
    });
    this.#rule.price = saved?.price ?? null;
  }

  get pageCount(): number {
    return this.#facts.count;
  }

  load(pages: PageStates): number {
    const facts = this.#facts;
    const first = facts.append(pages);
    this.#queues.reserve(facts.count, facts.hostCount);
    for (let page = first; page < facts.count; page++) {
      const known = pages.nextVisit?.[page - first] ?? Number.NaN;
      if (facts.isResting(page)) this.restingCount++;
      else if (Number.isNaN(known) || facts.is(page, PAGE_FLAGS.recalled))
        this.#enqueue(page, facts.lastVisit[page]);
      else this.#enqueueAt(page, known / DAY_MS);
    }
    return first;
  }

  observe(page: number, finding: Finding, now: number, lastModified?: number): void {
    this.#take(page, finding, now, lastModified, false);
  }

  replay(page: number, finding: Finding, visitedAt: number, lastModified?: number): void {
    this.#take(page, finding, visitedAt, lastModified, true);
  }

  hostOf(page: number): number {
    return this.#facts.host[page];
  }

  lastVisit(page: number): number {
    return Math.round(this.#facts.lastVisit[page] * DAY_MS);
  }

  isSignalled(page: number): boolean {
    return this.#facts.signals[page] > 0;
  }

  isGone(page: number): boolean {
    return this.#facts.is(page, PAGE_FLAGS.gone);
  }

  recall(page: number, isNews: boolean): boolean {
    if (this.#lent.has(page) || !this.#facts.recall(page, isNews)) return false;
    if (!this.#facts.isResting(page)) {
      this.restingCount--;
      this.#enqueue(page, this.#facts.lastVisit[page]);
    }
    return true;
  }

  relearn(now: number): void {
    const { tending } = this.#rule;
    if (tending === undefined) return;
    const day = now / DAY_MS;
    const { count } = this.#facts;
    for (let page = 0; page < count; page++) tending.meet(page);
    tending.finishRound();
    tending.begin(day);
    for (let page = 0; page < count; page++) this.#rekey(page, day);
  }

  signal(page: number, lastModified: number, now: number): void {
    const day = now / DAY_MS;
    const isResting = this.#facts.isResting(page);
    const isOut = !this.#queues.has(page);
    if (!this.#facts.signal(page, lastModified / DAY_MS, day)) return;
    if (isResting) {
      this.recall(page, this.#facts.trustsSignals(page));
      return;
    }
    // A page that is being visited is queued by the result of the visit. A page whose visit failed waits as before.
    if (!isOut && !this.#isWaiting(page, day)) this.#enqueue(page, day);
  }

  next(
    now: number,
    budget: number,
    hostBudget?: (host: number) => number,
    leastIntervalDays = this.#leastInterval,
  ): number[] {
    const day = now / DAY_MS;
    const freshSince = day - leastIntervalDays;
    this.#tend(day, budget);
    const left = new Map<number, number>();
    const chosen: number[] = [];
    const held: number[] = [];
    const early: Early[] = [];
    const leftOf = (host: number) => {
      const known = left.get(host);
      if (known !== undefined) return known;
      const allowed = Math.max(0, Math.floor(hostBudget?.(host) ?? Number.POSITIVE_INFINITY));
      left.set(host, allowed);
      return allowed;
    };
    const take = (page: number, host: number) => {
      const allowed = leftOf(host);
      if (chosen.length >= budget || allowed === 0) return false;
      left.set(host, allowed - 1);
      chosen.push(page);
      return true;
    };
    // Chance rounds a share of less than one visit to whole visits.
    if (this.restingCount > 0) this.#wake(day, Math.floor(budget * RESTING_SHARE + this.#random()), take);
    while (chosen.length < budget) {
      const pool = this.#gather(day, freshSince, budget - chosen.length, leftOf, { held, early });
      if (pool.length === 0) break;
      for (const { page, host } of pool) if (!take(page, host)) this.#enqueue(page, day);
    }
    if (this.restingCount > 0) this.#wake(day, budget - chosen.length, take);
    for (const { page, key } of early) this.#enqueueAt(page, key);
    for (const host of held) this.#queues.letGo(host);
    return chosen;
  }

  release(page: number): void {
    this.#lent.delete(page);
    if (!this.#queues.has(page)) this.#enqueue(page, this.#facts.lastVisit[page]);
  }

  forgive(page: number, since: number, now: number): boolean {
    const facts = this.#facts;
    if (!this.#queues.has(page) || !this.#isWaiting(page, now / DAY_MS)) return false;
    const tried = this.#dayOf(page) - pauseDays(facts.vainVisits(page), this.#retryDays);
    // Days are sums of fractions, so they are compared with a tolerance.
    if (tried * DAY_MS < since - 1) return false;
    facts.forgive(page);
    this.#enqueue(page, facts.lastVisit[page]);
    return true;
  }

  explain(page: number, now: number): Explanation {
    const day = now / DAY_MS;
    const facts = this.#facts;
    const outlook = { shape: 1, days: 1, weight: 1, signals: 0, signalRate: 0, falseShare: 1 };
    facts.outlook(page, day, outlook);
    const isVisited = facts.isVisited(page);
    const elapsed = Math.max(day - facts.lastVisit[page], 0);
    const same = chanceSame(outlook, elapsed) * outlook.falseShare ** outlook.signals;
    const isResting = facts.isResting(page);
    const interval = isResting ? this.#restDays(page) : this.#rule.interval(page, day);
    const next = isResting ? facts.lastVisit[page] + this.#restDays(page) : this.#expected(page, day);
    const parts = this.#rule.score?.(page, day) ?? null;
    return {
      ratePerDay: outlook.shape / outlook.days + outlook.signalRate * (1 - outlook.falseShare),
      intervalDays: interval,
      nextVisit: interval === null ? null : next * DAY_MS,
      chanceChanged: isVisited ? 1 - same : null,
      score: parts === null ? null : sumOfParts(parts),
      scoreParts: parts,
      band: this.#rule.band?.(page) ?? null,
    };
  }

  expectVisits(perDay: number): void {
    this.#visitsPerDay = perDay;
  }

  savePages(pages: ArrayLike<number>): Required<PageStates> {
    // A page that is being visited has no day; it gets a new one.
    const nextVisit = Float64Array.from(pages, (page) =>
      this.#facts.isVisited(page) && this.#queues.has(page) ? this.#dayOf(page) * DAY_MS : Number.NaN,
    );
    return { ...this.#facts.save(pages), nextVisit };
  }

  savePlan(): SavedPlan {
    const { shape, days } = this.#facts.prior;
    return {
      price: this.#rule.price,
      priorShape: shape,
      priorDays: days,
      hosts: this.#facts.saveHosts(),
    };
  }

  /**
   * Takes the earliest pages out of the queues of hosts with a budget left, a few more than wanted, best first. Pages
   * that may not be visited yet go to `early`; hosts without budget are held.
   */
  #gather(
    day: number,
    freshSince: number,
    wanted: number,
    leftOf: (host: number) => number,
    { held, early }: Aside,
  ): Candidate[] {
    const worth = this.#rule.worth?.bind(this.#rule);
    const factor = worth === undefined ? 1 : POOL;
    const spare = worth === undefined ? 0 : 1;
    const pool: Candidate[] = [];
    const taken = new Map<number, number>();
    const roundHeld: number[] = [];
    const mostEarly = EARLY_PER_VISIT * wanted + TENDED_PER_CALL;
    while (pool.length < factor * wanted + spare) {
      const host = this.#queues.firstHost();
      if (host === -1) break;
      const allowed = leftOf(host);
      const already = taken.get(host) ?? 0;
      if (already >= Math.min(allowed, wanted) * factor + spare || allowed === 0) {
        this.#queues.hold(host);
        (allowed === 0 ? held : roundHeld).push(host);
        continue;
      }
      const page = this.#queues.firstPage(host);
      const key = this.#queues.keyOf(page, host);
      if ((key > day && !this.#rule.spendsAll) || early.length > mostEarly) break;
      const mustWait = this.#isWaiting(page, day) || this.#facts.lastVisit[page] > freshSince;
      this.#queues.remove(page, host);
      if (mustWait) early.push({ page, key });
      else {
        taken.set(host, already + 1);
        pool.push({ page, host, worth: worth === undefined ? 0 : this.#worthNow(page, day, worth) });
      }
    }
    for (const host of roundHeld) this.#queues.letGo(host);
    // A stable sort: pages of equal worth stay in the order of their days.
    return worth === undefined ? pool : pool.sort((one, other) => other.worth - one.worth);
  }

  /** Returns pages that are gone and whose time has come, continuing where the last search ended. */
  #wake(day: number, most: number, take: (page: number, host: number) => boolean): void {
    const { count, host, lastVisit } = this.#facts;
    let [taken, at] = [0, this.#restingCursor];
    if (at === -1) at = Math.floor(this.#random() * count);
    for (let looked = 0; looked < Math.min(count, LOOKED_AT_PER_CALL) && taken < most; looked++) {
      const page = at % count;
      at = page + 1;
      if (!this.#facts.isResting(page) || this.#lent.has(page)) continue;
      if (lastVisit[page] + this.#restDays(page) > day || !take(page, host[page])) continue;
      this.#lent.add(page);
      taken++;
    }
    this.#restingCursor = at;
  }

  #restDays(page: number): number {
    return pauseDays(this.#facts.vainVisits(page), RETURN_DAYS);
  }

  #take(
    page: number,
    finding: Finding,
    now: number,
    lastModified: number | undefined,
    isPast: boolean,
  ): void {
    const day = now / DAY_MS;
    const modified = lastModified === undefined ? undefined : lastModified / DAY_MS;
    const facts = this.#facts;
    const wasResting = facts.isResting(page);
    facts.observe(page, finding, day, modified, isPast);
    const isResting = facts.isResting(page);
    this.restingCount += Number(isResting) - Number(wasResting);
    this.#lent.delete(page);
    if (isResting) this.#queues.remove(page, facts.host[page]);
    else if (finding === 'failed')
      this.#enqueueAt(page, day + pauseDays(facts.vainVisits(page), this.#retryDays));
    else this.#enqueue(page, day);
  }

  #worthNow(page: number, day: number, worth: (page: number, day: number) => number): number {
    return this.#isFirst(page) ? 1e30 * this.#facts.weight[page] : worth(page, day);
  }

  /** The day a page in its queue is queued for. */
  #dayOf(page: number): number {
    return this.#queues.keyOf(page, this.#facts.host[page]);
  }

  /** Never visited, or gone and recalled. */
  #isFirst(page: number): boolean {
    return !this.#facts.isVisited(page) || this.#facts.is(page, PAGE_FLAGS.recalled);
  }

  /** The day of the next visit: now for a page that was never visited, and for one that is being visited. */
  #expected(page: number, day: number): number {
    if (!this.#queues.has(page)) return day;
    if (this.#isWaiting(page, day)) return this.#dayOf(page);
    if (!this.#facts.isVisited(page)) return day;
    return this.#rule.expected?.(page, day) ?? this.#dayOf(page);
  }

  #isWaiting(page: number, day: number): boolean {
    return this.#facts.vainVisits(page) > 0 && this.#dayOf(page) > day;
  }

  /** Learns and computes keys again, for the share of a day's round that is due since the last call, within limits. */
  #tend(day: number, budget: number): void {
    const { tending } = this.#rule;
    if (tending === undefined) return;
    const { count } = this.#facts;
    if (tending.begin(day)) {
      for (let page = 0; page < count; page++) this.#rekey(page, day);
    }
    const elapsed = Number.isNaN(this.#tendedAt) ? 0 : Math.max(day - this.#tendedAt, 0);
    this.#tendedAt = day;
    this.#owed = Math.min(this.#owed + elapsed * count, count);
    const most = TENDED_PER_CALL + TENDED_PER_VISIT * budget;
    for (let tended = 0; this.#owed >= 1 && tended < most; tended++) {
      this.#owed--;
      tending.meet(this.#cursor);
      this.#rekey(this.#cursor, day);
      if (++this.#cursor < count) continue;
      this.#cursor = 0;
      tending.finishRound();
    }
  }

  #rekey(page: number, day: number): void {
    if (this.#queues.has(page) && !this.#isWaiting(page, day)) this.#enqueue(page, day);
  }

  #enqueue(page: number, day: number): void {
    const facts = this.#facts;
    if (!this.#isFirst(page)) this.#enqueueAt(page, this.#rule.due(page, day));
    else this.#enqueueAt(page, NEVER_VISITED * (1 + facts.weight[page] / (1 + facts.weight[page])));
  }

  #enqueueAt(page: number, key: number): void {
    if (!this.#facts.isResting(page)) this.#queues.set(page, this.#facts.host[page], key);
  }
}
