/**
 * What is known of every page and host, in typed arrays: the evidence on change rates, the average of changes a day,
 * signals and the trust in them. All rules use the same facts, so a change of the rule loses nothing. 34 bytes per
 * page, 40 per host. Times inside are days since 1970. It orders nothing and decides nothing.
 */
import { MOST_CHANGES_A_DAY } from '../visit-record.ts';
import { changeFrequencyAfter } from './change-frequency.ts';
import { grown, roomFor } from './column.ts';
import type { PageOutlook } from './crawl-value.ts';
import { afterChange, chanceSame, fitPrior, type GammaRate, LEAST_RATE_NUMBER } from './gamma-posterior.ts';
import type { Finding, HostStates, PageStates } from './revisit-plan.ts';

export const DAY_MS = 86_400_000;

export const PAGE_FLAGS = {
  /** It was gone at the last news. */
  gone: 1,
  /** Gone because nothing leads to it: then an answer is no news. Meaningless without `gone`. */
  orphan: 2,
  /** Its evidence is of the changes that no signal announced. */
  unsignalled: 4,
  /** Gone, but something new speaks for it. */
  recalled: 128,
} as const;

/** The bits between them count the visits in vain in a row: the visit failed, or the page was gone. */
const VAIN_SHIFT = 3;
const MOST_VAIN = 15;

/** From a page's flags, as a store keeps them. */
export const vainVisitsIn = (flags: number) => (flags >> VAIN_SHIFT) & MOST_VAIN;

const GONE: ReadonlySet<Finding> = new Set<Finding>(['gone', 'removed', 'orphaned']);

/** If nothing is known at all: a change in ten days, with a large variance. */
const FIRST_PRIOR: GammaRate = { shape: 0.6, days: 6 };
const FIRST_FALSE = 0.6;
const FIRST_TESTED = 2;
/** Signals that are false more often than this are noise. */
const TRUSTED_BELOW = 0.7;
/** Trust is learned from about so many signals, because a site may change its behaviour. */
const TRUST_MEMORY = 400;
/** Evidence fades over so many days, because pages change their behaviour, too. */
const MEMORY_DAYS = 180;
/** A Last-Modified this close to the answer is the server's clock, not a date of the page. */
const LEAST_AGE = 1 / 1440;
/** A host's prior counts as much as so many pages, against what is known of all hosts. */
const SHRINK_PAGES = 10;
/** Fewer pages than this say nothing about all others. */
const LEAST_FITTED = 50;

export class PageFacts {
  count = 0;
  hostCount = 0;
  host = new Uint32Array(0);
  weight = new Float32Array(0);
  depth = new Uint8Array(0);
  /** NaN: never. */
  lastVisit = new Float64Array(0);
  rateShape = new Float32Array(0);
  rateDays = new Float32Array(0);
  frequency = new Float32Array(0);
  signals = new Uint8Array(0);
  signalsInAll = new Uint16Array(0);
  flags = new Uint8Array(0);
  #priorShape = new Float32Array(0);
  #priorDays = new Float32Array(0);
  #falseSignals = new Float32Array(0);
  #testedSignals = new Float32Array(0);
  #signalsSince = new Float64Array(0);
  /** For the next fit: seen pages, their rates and logarithms of rates. */
  #fitPages = new Float32Array(0);
  #fitRates = new Float32Array(0);
  #fitLogs = new Float32Array(0);
  /** The prior of hosts without evidence: the last fit over all pages. */
  #prior: Readonly<GammaRate> = FIRST_PRIOR;

  /** The state of a saved plan. */
  restoreHosts(states: HostStates, prior: GammaRate): void {
    this.#prior = prior;
    const count = states.priorShape.length;
    this.#reserveHosts(count);
    for (let host = 0; host < count; host++) {
      this.#priorShape[host] = states.priorShape[host];
      this.#priorDays[host] = states.priorDays[host];
      this.#falseSignals[host] = states.falseSignals[host];
      this.#testedSignals[host] = states.testedSignals[host];
      this.#signalsSince[host] = states.signalsSince[host] / DAY_MS;
    }
  }

  saveHosts(): HostStates {
    const count = this.hostCount;
    return {
      priorShape: this.#priorShape.slice(0, count),
      priorDays: this.#priorDays.slice(0, count),
      falseSignals: this.#falseSignals.slice(0, count),
      testedSignals: this.#testedSignals.slice(0, count),
      signalsSince: this.#signalsSince.slice(0, count).map((day) => day * DAY_MS),
    };
  }

  get prior(): GammaRate {
    return { ...this.#prior };
  }

  append(pages: PageStates): number {
    const first = this.count;
    const added = pages.host.length;
    this.#reservePages(first + added);
    let hosts = 0;
    for (let i = 0; i < added; i++) {
      const page = first + i;
      hosts = Math.max(hosts, pages.host[i] + 1);
      this.host[page] = pages.host[i];
      this.weight[page] = pages.weight[i];
      this.depth[page] = Math.min(pages.depth[i], 255);
      this.lastVisit[page] = pages.lastVisit[i] / DAY_MS;
      this.rateShape[page] = pages.rateShape?.[i] ?? 0;
      this.rateDays[page] = pages.rateDays?.[i] ?? 0;
      this.frequency[page] = Math.min(pages.changeFrequency?.[i] ?? 0, MOST_CHANGES_A_DAY);
      this.signals[page] = pages.signals?.[i] ?? 0;
      this.signalsInAll[page] = pages.signalsInAll?.[i] ?? 0;
      this.flags[page] = pages.flags?.[i] ?? 0;
    }
    this.count += added;
    this.#reserveHosts(hosts);
    return first;
  }

  save(pages: ArrayLike<number>): Omit<Required<PageStates>, 'nextVisit'> {
    const take = (column: ArrayLike<number>) => Float64Array.from(pages, (page) => column[page]);
    return {
      host: take(this.host),
      weight: take(this.weight),
      depth: take(this.depth),
      lastVisit: take(this.lastVisit).map((day) => day * DAY_MS),
      rateShape: take(this.rateShape),
      rateDays: take(this.rateDays),
      changeFrequency: take(this.frequency),
      signals: take(this.signals),
      signalsInAll: take(this.signalsInAll),
      flags: take(this.flags),
    };
  }

  isVisited(page: number): boolean {
    return !Number.isNaN(this.lastVisit[page]);
  }

  is(page: number, flag: number): boolean {
    return (this.flags[page] & flag) !== 0;
  }

  /** Whether the page rests: it is gone, and nothing new speaks for it. A start URL never rests. */
  isResting(page: number): boolean {
    const state = this.flags[page] & (PAGE_FLAGS.gone | PAGE_FLAGS.recalled);
    return state === PAGE_FLAGS.gone && this.depth[page] > 0;
  }

  /** The posterior of the page's rate: its host's prior and its own evidence. */
  rate(page: number, into: GammaRate): void {
    const host = this.host[page];
    const counts = this.#evidenceCounts(page);
    const shape = this.#priorShape[host] + (counts ? this.rateShape[page] : 0);
    const days = this.#priorDays[host] + (counts ? this.rateDays[page] : 0);
    into.shape = Math.max(shape, LEAST_RATE_NUMBER);
    into.days = Math.max(days, LEAST_RATE_NUMBER);
  }

  /** The page as its crawl value sees it on that day. */
  outlook(page: number, day: number, into: PageOutlook): void {
    const host = this.host[page];
    this.rate(page, into);
    into.weight = this.weight[page];
    into.signals = 0;
    into.signalRate = 0;
    into.falseShare = 1;
    if (!this.#isTrusted(host)) return;
    into.signals = this.signals[page];
    const watched = Math.max(day - this.#signalsSince[host], 0);
    into.signalRate = (this.signalsInAll[page] + 0.5) / (watched + 5);
    into.falseShare = this.#falseShare(host);
  }

  /** How many visits were in vain since one that was not. */
  vainVisits(page: number): number {
    return vainVisitsIn(this.flags[page]);
  }

  /** `keepsFrequency`: the average of changes a day already includes the visit. */
  observe(
    page: number,
    finding: Finding,
    day: number,
    lastModified: number | undefined,
    keepsFrequency: boolean,
  ): void {
    const wasGone = this.is(page, PAGE_FLAGS.gone);
    const isGone = this.#isGoneAfter(page, finding);
    if (finding === 'failed' && !isGone) {
      this.#setVain(page, this.vainVisits(page) + 1);
      return;
    }
    if (isGone) this.#setGone(page, finding, wasGone);
    else this.flags[page] &= PAGE_FLAGS.unsignalled;
    const elapsed = day - this.lastVisit[page];
    const age = lastModified === undefined ? Number.NaN : day - lastModified;
    // For a start URL, to be gone is a change like any other.
    const isChanged = finding === 'changed' || (isGone && !wasGone);
    const isSeen = isGone ? this.depth[page] === 0 : finding === 'changed' || finding === 'unchanged';
    // A clock that went back, and two visits at one moment, say nothing about the rate.
    if (elapsed > 0 && isSeen) {
      this.#learn(page, isChanged, elapsed, age);
    } else if (!this.isVisited(page) && age > LEAST_AGE) {
      this.#forgetSignalled(page);
      if (!this.#isTrusted(this.host[page])) this.#addEvidence(page, 1, age);
    }
    if (!keepsFrequency)
      this.frequency[page] = changeFrequencyAfter(this.frequency[page], finding === 'changed', elapsed);
    this.lastVisit[page] = day;
    this.signals[page] = 0;
  }

  /**
   * Forgets visits in vain, which say nothing about the page. A page that was never read still differs from one that
   * was never tried.
   */
  forgive(page: number): void {
    this.#setVain(page, this.isVisited(page) ? 0 : 1);
  }

  /** Whether the date is news: after the last visit, and not in the future. */
  signal(page: number, lastModified: number, day: number): boolean {
    const last = this.lastVisit[page];
    if (lastModified > day + 1 || !(lastModified > last)) return false;
    const host = this.host[page];
    if (Number.isNaN(this.#signalsSince[host])) this.#signalsSince[host] = day;
    this.signals[page] = Math.min(this.signals[page] + 1, 255);
    this.signalsInAll[page] = Math.min(this.signalsInAll[page] + 1, 65_535);
    return true;
  }

  /** Whether the sitemap dates of the page's host were right. */
  trustsSignals(page: number): boolean {
    return this.#isTrusted(this.host[page]);
  }

  /**
   * Something speaks for a resting page, so its rest ends. If it was requested in vain since it went, its rest only
   * begins again at that request; otherwise news could cause a request each time. `isNews`: this was not so when the
   * page went; what was already so then counts once. An orphan exists, whatever was requested. False: no change.
   */
  recall(page: number, isNews: boolean): boolean {
    if (!this.isResting(page)) return false;
    const isDoubtful = this.vainVisits(page) > 1 && !this.is(page, PAGE_FLAGS.orphan);
    if (isDoubtful && !isNews) return false;
    if (isDoubtful) this.#setVain(page, 1);
    else this.flags[page] |= PAGE_FLAGS.recalled;
    return true;
  }

  /** Adds the page's rate to the next fit of the priors. */
  sample(page: number, rate: GammaRate, meanLog: number): void {
    const host = this.host[page];
    this.#fitPages[host] += 1;
    this.#fitRates[host] += rate.shape / rate.days;
    this.#fitLogs[host] += meanLog;
  }

  /** Whether the page has evidence of its own. */
  hasEvidence(page: number): boolean {
    return this.#evidenceCounts(page) && (this.rateShape[page] !== 0 || this.rateDays[page] !== 0);
  }

  /** New priors from the sampled pages, each host's moved towards that of all. */
  fitPriors(): void {
    let [pages, rates, logs] = [0, 0, 0];
    for (let host = 0; host < this.hostCount; host++) {
      pages += this.#fitPages[host];
      rates += this.#fitRates[host];
      logs += this.#fitLogs[host];
    }
    if (pages >= LEAST_FITTED) {
      const [meanRate, meanLog] = [rates / pages, logs / pages];
      this.#prior = fitPrior(meanRate, meanLog);
      for (let host = 0; host < this.hostCount; host++) {
        const own = this.#fitPages[host];
        const fitted =
          own === 0
            ? this.#prior
            : fitPrior(
                (SHRINK_PAGES * meanRate + this.#fitRates[host]) / (SHRINK_PAGES + own),
                (SHRINK_PAGES * meanLog + this.#fitLogs[host]) / (SHRINK_PAGES + own),
              );
        this.#priorShape[host] = fitted.shape;
        this.#priorDays[host] = fitted.days;
      }
    }
  }

  beginSample(): void {
    for (const sums of [this.#fitPages, this.#fitRates, this.#fitLogs]) sums.fill(0);
  }

  /** A page that is gone stays so if a visit fails, and an orphan if it only answers as always. */
  #isGoneAfter(page: number, finding: Finding): boolean {
    if (GONE.has(finding)) return true;
    if (!this.isResting(page)) return false;
    return finding === 'failed' || (finding === 'unchanged' && this.is(page, PAGE_FLAGS.orphan));
  }

  #setGone(page: number, finding: Finding, wasGone: boolean): void {
    const isOrphan = finding === 'orphaned' || (!GONE.has(finding) && this.is(page, PAGE_FLAGS.orphan));
    const kept = PAGE_FLAGS.unsignalled | (wasGone ? MOST_VAIN << VAIN_SHIFT : 0);
    this.flags[page] = (this.flags[page] & kept) | PAGE_FLAGS.gone | (isOrphan ? PAGE_FLAGS.orphan : 0);
    // Start URLs stay in the plan, so nothing is counted for them. A page that is gone permanently is requested as
    // rarely as possible.
    if (this.depth[page] > 0)
      this.#setVain(page, finding === 'removed' ? MOST_VAIN : this.vainVisits(page) + 1);
  }

  #setVain(page: number, visits: number): void {
    const others = this.flags[page] & ~(MOST_VAIN << VAIN_SHIFT);
    this.flags[page] = others | (Math.min(visits, MOST_VAIN) << VAIN_SHIFT);
  }

  #learn(page: number, isChanged: boolean, elapsed: number, age: number): void {
    const host = this.host[page];
    const rate = { ...FIRST_PRIOR };
    this.#forgetSignalled(page);
    const faded = Math.exp(-elapsed / MEMORY_DAYS);
    this.rateShape[page] *= faded;
    this.rateDays[page] *= faded;
    this.rate(page, rate);
    const isTrusted = this.#isTrusted(host);
    const logFalse = isTrusted ? this.signals[page] * Math.log(this.#falseShare(host)) : 0;
    if (this.signals[page] > 0) this.#learnTrust(host, isChanged, chanceSame(rate, elapsed));
    if (!isChanged) this.#addEvidence(page, 0, elapsed);
    else if (!isTrusted && age > LEAST_AGE && age < elapsed) this.#addEvidence(page, 1, age);
    else {
      const after = afterChange(rate, elapsed, logFalse);
      this.#addEvidence(page, after.shape - rate.shape, after.days - rate.days);
    }
  }

  #addEvidence(page: number, shape: number, days: number): void {
    this.rateShape[page] += shape;
    this.rateDays[page] += days;
  }

  /** If signals are trusted, evidence is of the changes without one. Older evidence is of all changes. */
  #evidenceCounts(page: number): boolean {
    return this.is(page, PAGE_FLAGS.unsignalled) || !this.#isTrusted(this.host[page]);
  }

  #forgetSignalled(page: number): void {
    if (this.#evidenceCounts(page)) return;
    this.rateShape[page] = 0;
    this.rateDays[page] = 0;
    this.flags[page] |= PAGE_FLAGS.unsignalled;
  }

  /** A signalled page that had not changed is a false signal, unless it would have stayed the same anyway. */
  #learnTrust(host: number, isChanged: boolean, same: number): void {
    this.#falseSignals[host] += isChanged ? 0 : 1;
    this.#testedSignals[host] += Math.max(same, 0.05);
    this.#falseSignals[host] = Math.min(this.#falseSignals[host], this.#testedSignals[host]);
    if (this.#testedSignals[host] < TRUST_MEMORY) return;
    this.#falseSignals[host] /= 2;
    this.#testedSignals[host] /= 2;
  }

  #falseShare(host: number): number {
    return Math.min(Math.max(this.#falseSignals[host] / this.#testedSignals[host], 0.01), 0.999);
  }

  #isTrusted(host: number): boolean {
    return !Number.isNaN(this.#signalsSince[host]) && this.#falseShare(host) < TRUSTED_BELOW;
  }

  #reservePages(needed: number): void {
    const room = roomFor(needed, this.host.length);
    this.host = grown(this.host, room);
    this.weight = grown(this.weight, room);
    this.depth = grown(this.depth, room);
    this.lastVisit = grown(this.lastVisit, room);
    this.rateShape = grown(this.rateShape, room);
    this.rateDays = grown(this.rateDays, room);
    this.frequency = grown(this.frequency, room);
    this.signals = grown(this.signals, room);
    this.signalsInAll = grown(this.signalsInAll, room);
    this.flags = grown(this.flags, room);
  }

  #reserveHosts(needed: number): void {
    if (needed <= this.hostCount) return;
    const room = roomFor(needed, this.#priorShape.length);
    this.#priorShape = grown(this.#priorShape, room);
    this.#priorDays = grown(this.#priorDays, room);
    this.#falseSignals = grown(this.#falseSignals, room);
    this.#testedSignals = grown(this.#testedSignals, room);
    this.#signalsSince = grown(this.#signalsSince, room);
    this.#fitPages = grown(this.#fitPages, room);
    this.#fitRates = grown(this.#fitRates, room);
    this.#fitLogs = grown(this.#fitLogs, room);
    this.#priorShape.fill(this.#prior.shape, this.hostCount, needed);
    this.#priorDays.fill(this.#prior.days, this.hostCount, needed);
    this.#falseSignals.fill(FIRST_FALSE, this.hostCount, needed);
    this.#testedSignals.fill(FIRST_TESTED, this.hostCount, needed);
    this.#signalsSince.fill(Number.NaN, this.hostCount, needed);
    this.hostCount = needed;
  }
}
