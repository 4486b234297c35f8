/**
 * The clock of one host, kept by the worker that holds its lease: when the next request may start, and how each answer
 * changes that.
 *
 * Promises: a slot is reserved before a request starts. While there is a delay, the next slot counts from the moment
 * when the request before it was really written, and no slot is given while another is reserved and not sent. So two
 * requests are never closer than the delay, however busy the machine is. Blocks (429, Retry-After, the breaker) hold
 * for all. Never waits: it only says when. What must survive a restart is in the lease's HostState, in wall time.
 */
import type { FetchFailure } from '../fetch/fetcher.ts';
import type { Clock } from '../primitives/clock.ts';
import type { HostState } from '../store/host-port.ts';
import { LearnedLimit } from './learned-limit.ts';

export interface PaceOptions {
  delayMs: number;
  /** Ceiling of the adaptive delay; a configured or robots.txt delay may be longer. */
  maxDelayMs: number;
  perHost: number;
  isAdaptive: boolean;
  /** A longer Retry-After is cut to this. */
  maxRetryAfterMs: number;
  breakerFailures: number;
  breakerProbes: number;
  /** The host did not answer last time. Until it answers, it gets one request, and no probes. */
  isDoubted?: boolean;
  /** How late this process receives answers now. A wait of this length says nothing about the site. */
  lagMs: () => number;
  /** A program's own pacing, called after each answer. */
  strategy?: PacingStrategy;
}

/** What an answer meant for the host's pace. */
export interface AnswerForPace {
  statusCode: number | null;
  failure: FetchFailure | null;
  responseMs: number | null;
  retryAfterMs: number | null;
  /** The requested page; null or absent for other requests. */
  pageId?: number | null;
  /** Requests open at this host when it was sent, itself included. */
  open?: number;
}

/** Why a host's next slot is not free yet. */
export interface PaceWait {
  why: 'delay' | 'crawl-delay' | 'learned-delay' | 'blocked' | 'silence';
  until: number;
  /** The whole delay. */
  seconds: number | null;
  status: number | null;
}

/**
 * Gets the delay in force, and returns the delay from now on. The configured delay and that of robots.txt stay the
 * minimum.
 */
export type PacingStrategy = (host: string, delayMs: number, answer: AnswerForPace) => number;

const WEIGHT = 0.2;
const SAMPLES_BEFORE_ADAPTING = 3;
const FIRST_BACKOFF_MS = 1000;
const FIRST_PROBE_MS = 5000;
/** Answers faster than this are noise of the machine, not a sign of load; never more than the delay itself. */
const NOISE_MS = 250;
const ADAPT_FROM_MS = 250;
const LIMIT_FROM_MS = 25;
const YIELD_TURNS = 8;
const LONGEST_YIELD_MS = 60_000;
const UNTOLD: ReadonlySet<FetchFailure> = new Set(['not-sent', 'not-taken', 'aborted', 'egress']);
/** After so many answers without a refusal, half of the delay that an earlier lease left is given back. */
const CALM_ANSWERS = 50;

export class HostPace {
  inFlight = 0;
  readonly #host: string;
  readonly #state: HostState;
  readonly #options: PaceOptions;
  readonly #clock: Clock;
  readonly #wallOffset: number;
  #robotsDelayMs = 0;
  #unsent = 0;
  #nextSlot: number;
  #lastSent = Number.NEGATIVE_INFINITY;
  #blockSetAt = Number.NEGATIVE_INFINITY;
  /** Requests that were in flight when the breaker opened and still are. */
  #strays = 0;
  #isDoubted: boolean;
  #hasAnswered = false;
  readonly #limit = new LearnedLimit();
  /** The adaptive delay that an earlier lease left. The reason for its length is not known any more. */
  readonly #inheritedMs: number;
  #calm = 0;
  #isPaceRefusal = false;
  /** The status of the last answer that blocked the host, as far as this lease knows. */
  #blockStatus: number | null = null;

  constructor(host: string, state: HostState, options: PaceOptions, clock: Clock, takenOver: boolean) {
    this.#host = host;
    this.#state = state;
    this.#options = options;
    this.#clock = clock;
    this.#wallOffset = clock.now() - clock.monotonic();
    this.#nextSlot = state.notBefore - this.#wallOffset;
    this.#isDoubted = options.isDoubted ?? false;
    this.#inheritedMs = state.adaptiveMs;
    if (takenOver) this.restOneDelay();
  }

  /** The least gap between two requests now in force. */
  get delayMs(): number {
    return Math.max(this.#options.delayMs, this.#robotsDelayMs, this.#state.adaptiveMs);
  }

  /** A site that asks for a Crawl-delay gets one request at a time. */
  get perHost(): number {
    if (this.#robotsDelayMs > 0 || this.isBreakerOpen) return 1;
    return Math.min(this.#options.perHost, this.#limit.atOnce);
  }

  get isBreakerOpen(): boolean {
    return this.#state.failures >= (this.#isDoubted ? 1 : this.#options.breakerFailures);
  }

  get isGivenUp(): boolean {
    return this.isBreakerOpen && this.#state.probes > (this.#isDoubted ? 0 : this.#options.breakerProbes);
  }

  get isDoubted(): boolean {
    return this.#isDoubted;
  }

  /** Whether the host answered under this lease, or under an earlier one that stored it. */
  get hasAnswered(): boolean {
    return this.#hasAnswered || this.#state.samples > 0;
  }

  get blockedUntil(): number {
    return this.#state.blockedUntil;
  }

  /** The last answer was a refusal because of the host's pace: it does not count as a try of its page. */
  get isPaceRefusal(): boolean {
    return this.#isPaceRefusal;
  }

  /**
   * For so long after the block, other pages go before a refused page. This shows whether the page or the pace is the
   * cause.
   */
  get yieldMs(): number {
    return Math.min(YIELD_TURNS * this.delayMs, LONGEST_YIELD_MS);
  }

  setRobotsDelay(seconds: number | null): void {
    const delayMs = (seconds ?? 0) * 1000;
    const longer = delayMs - this.#robotsDelayMs;
    this.#robotsDelayMs = delayMs;
    // The robots.txt request was the last one sent. The delay in its answer counts from there.
    if (longer > 0) {
      this.#setNextSlot(Math.max(this.#nextSlot, this.#lastSent + this.delayMs));
    }
  }

  /** After a take-over, the time of the last request is not known. */
  restOneDelay(): void {
    this.#setNextSlot(Math.max(this.#nextSlot, this.#clock.monotonic() + this.delayMs));
    this.#lastSent = this.#clock.monotonic();
  }

  /** Monotonic time of the next free slot; Infinity while none can be given. */
  readyAt(): number {
    const { delayMs } = this;
    if (this.inFlight >= this.perHost || (delayMs > 0 && this.#unsent > 0)) return Number.POSITIVE_INFINITY;
    // An answer may have raised the delay since the slot was set.
    const afterLast = this.#lastSent + delayMs;
    return Math.max(this.#nextSlot, afterLast, this.#state.blockedUntil - this.#wallOffset);
  }

  /**
   * What the next slot waits for, and until when by the monotonic clock. Null if the slot is free, or if the reason is
   * not known.
   */
  waitsFor(): PaceWait | null {
    const until = this.readyAt();
    if (until <= this.#clock.monotonic() || until === Number.POSITIVE_INFINITY) return null;
    if (until <= this.#state.blockedUntil - this.#wallOffset) {
      if (this.isBreakerOpen) return { why: 'silence', until, seconds: null, status: null };
      return { why: 'blocked', until, seconds: null, status: this.#blockStatus };
    }
    const { delayMs } = this;
    const seconds = delayMs / 1000;
    if (delayMs <= this.#options.delayMs) return { why: 'delay', until, seconds, status: null };
    const why = delayMs <= this.#robotsDelayMs ? 'crawl-delay' : 'learned-delay';
    return { why, until, seconds, status: null };
  }

  /** Takes the slot and returns its wall time. */
  reserve(): number {
    const slot = Math.max(this.#clock.monotonic(), this.readyAt());
    this.inFlight++;
    this.#unsent++;
    this.#state.requests++;
    this.#setNextSlot(slot + this.delayMs);
    return this.#wall(slot);
  }

  /**
   * Called right before a request is written. Returns the wall time, or null if a block or a longer delay came since
   * the slot was taken.
   */
  sent(now = this.#clock.monotonic()): number | null {
    const { delayMs } = this;
    if (this.#state.blockedUntil - this.#wallOffset > now || this.#lastSent + delayMs > now) return null;
    this.#unsent--;
    this.#lastSent = now;
    this.#setNextSlot(Math.max(this.#nextSlot, now + delayMs));
    return this.#wall(now);
  }

  /**
   * Called right after a request is written, so that time which a busy machine lost in between does not shorten the
   * delay.
   */
  written(): void {
    this.#lastSent = this.#clock.monotonic();
    this.#setNextSlot(Math.max(this.#nextSlot, this.#lastSent + this.delayMs));
  }

  /** The request is over. Returns the wall time until which its answer blocks the host, or null. */
  ended(wasSentAt: number | null, answer: AnswerForPace): number | null {
    this.inFlight--;
    if (wasSentAt === null) this.#unsent--;
    this.#isPaceRefusal = false;
    const isStray = this.#strays > 0;
    if (isStray) this.#strays--;
    const { failure } = answer;
    // Nothing was sent, or nothing of it says anything of the host.
    if (failure !== null && UNTOLD.has(failure)) {
      if (wasSentAt === null) this.#state.requests--;
      return null;
    }
    const blockedUntil = this.#learn(wasSentAt, answer, isStray);
    const { strategy } = this.#options;
    if (strategy !== undefined) {
      const delayMs = strategy(this.#host, this.delayMs, answer);
      this.#state.adaptiveMs = Number.isFinite(delayMs) ? Math.max(0, delayMs) : 0;
    }
    // The effect of a longer delay must outlive the lease.
    this.#setNextSlot(Math.max(this.#nextSlot, this.#lastSent + this.delayMs));
    return blockedUntil;
  }

  #learn(wasSentAt: number | null, answer: AnswerForPace, isStray: boolean): number | null {
    if (answer.statusCode === null) return this.#countFailure(isStray);
    this.#isDoubted = false;
    this.#hasAnswered = true;
    const sentAt = wasSentAt ?? 0;
    if (this.#isRefused(answer)) return this.#block(sentAt, answer);
    if (answer.statusCode !== 503) {
      const floorMs = Math.max(this.#options.delayMs, this.#robotsDelayMs);
      const { delayMs } = this.#limit;
      this.#limit.answered(answer.pageId ?? null, sentAt > this.#blockSetAt, floorMs, this.#options.perHost);
      this.#followLimit(delayMs);
      this.#easeInherited(floorMs);
    }
    this.#clearBlocks(sentAt);
    // A refusal is faster than a page. In the average it would make all pages look slow.
    if (answer.responseMs !== null && answer.statusCode !== 503) this.#adapt(answer.responseMs);
    return null;
  }

  #isRefused({ statusCode, retryAfterMs, pageId = null }: AnswerForPace): boolean {
    const isSaid = statusCode === 429 || (statusCode === 503 && retryAfterMs !== null);
    if (isSaid) this.#isPaceRefusal = this.#limit.isLimiting(pageId);
    else if (statusCode === 503) {
      const { delayMs } = this.#limit;
      this.#isPaceRefusal = this.#limit.isRefusal(pageId);
      this.#followLimit(delayMs);
    }
    return isSaid || this.#isPaceRefusal;
  }

  /** Fast answers alone may never end the inherited delay: on a steady host all answers are as fast as the average. */
  #easeInherited(floorMs: number): void {
    const state = this.#state;
    const isOurs = this.#limit.delayMs > 0 || state.adaptiveMs > this.#inheritedMs;
    if (!this.#options.isAdaptive || isOurs || state.adaptiveMs <= floorMs) return;
    if (++this.#calm < CALM_ANSWERS) return;
    this.#calm = 0;
    const next = (state.adaptiveMs + floorMs) / 2;
    state.adaptiveMs = next > floorMs + LIMIT_FROM_MS ? next : 0;
  }

  /** The learned limit has changed: adapt the delay in force. */
  #followLimit(beforeMs: number): void {
    const state = this.#state;
    const { delayMs } = this.#limit;
    if (delayMs > state.adaptiveMs || (delayMs < beforeMs && state.adaptiveMs <= beforeMs))
      state.adaptiveMs = delayMs;
  }

  /** Requests that were open when the block came say the same again. Only the first of their refusals counts. */
  #block(sentAt: number, answer: AnswerForPace): number {
    const state = this.#state;
    this.#calm = 0;
    const isNews = sentAt > this.#blockSetAt && (answer.statusCode === 429 || answer.retryAfterMs === null);
    if (isNews) {
      state.consecutive429++;
      if (this.#options.isAdaptive) this.#slowDown(answer);
    }
    const asked = answer.retryAfterMs ?? fibonacci(Math.max(1, state.consecutive429)) * FIRST_BACKOFF_MS;
    const now = this.#wall(this.#clock.monotonic());
    state.blockedUntil = Math.max(state.blockedUntil, now + Math.min(asked, this.#options.maxRetryAfterMs));
    this.#blockSetAt = now;
    this.#blockStatus = answer.statusCode;
    state.failures = 0;
    state.probes = 0;
    return state.blockedUntil;
  }

  #slowDown({ statusCode, open = 1 }: AnswerForPace): void {
    const before = this.#limit.delayMs;
    this.#limit.slowDown({
      statusCode: statusCode!,
      delayMs: Math.max(this.delayMs, statusCode === 429 ? ADAPT_FROM_MS : LIMIT_FROM_MS),
      open,
      maxDelayMs: this.#options.maxDelayMs,
    });
    this.#followLimit(before);
  }

  /** A stray request was in flight when the breaker opened. Its failure is no failed probe. */
  #countFailure(isStray: boolean): number | null {
    const state = this.#state;
    const wasOpen = this.isBreakerOpen;
    state.failures++;
    if (!this.isBreakerOpen) return null;
    if (isStray) return state.blockedUntil;
    if (!wasOpen) this.#strays = this.inFlight;
    const pause = Math.min(
      FIRST_PROBE_MS * 2 ** state.probes,
      Math.max(this.#options.maxDelayMs, FIRST_PROBE_MS),
    );
    state.probes++;
    // There is nothing left to wait for: the next caller learns that the host is given up.
    if (this.isGivenUp) return null;
    state.blockedUntil = Math.max(state.blockedUntil, this.#wall(this.#clock.monotonic()) + pause);
    return state.blockedUntil;
  }

  /**
   * An answer clears the block at once, unless its request was sent before the block came: that answer says nothing
   * about it.
   */
  #clearBlocks(sentAt: number): void {
    const state = this.#state;
    state.failures = 0;
    state.probes = 0;
    this.#strays = 0;
    if (sentAt <= this.#blockSetAt) return;
    state.blockedUntil = 0;
    state.consecutive429 = 0;
  }

  #adapt(responseMs: number): void {
    if (!this.#options.isAdaptive) return;
    const state = this.#state;
    if (state.samples >= SAMPLES_BEFORE_ADAPTING) {
      const delayMs = this.delayMs;
      const floor = Math.max(this.#options.delayMs, this.#robotsDelayMs);
      const noiseMs = Math.min(NOISE_MS, delayMs) + 2 * this.#options.lagMs();
      const isSlow = responseMs > 2 * state.averageMs && responseMs > noiseMs;
      if (isSlow && delayMs > 0) {
        state.adaptiveMs = Math.min(delayMs * 1.5, Math.max(this.#options.maxDelayMs, delayMs));
      } else if (responseMs < state.averageMs / 2 && state.adaptiveMs > 0) {
        // The last millisecond is dropped, because a tenth of the rest would never reach zero.
        const lower = delayMs * 0.9 > floor + 1 ? delayMs * 0.9 : 0;
        state.adaptiveMs = Math.max(lower, this.#limit.delayMs);
      }
    }
    state.averageMs = state.samples === 0 ? responseMs : state.averageMs * (1 - WEIGHT) + responseMs * WEIGHT;
    state.samples++;
  }

  #setNextSlot(at: number): void {
    this.#nextSlot = at;
    this.#state.notBefore = this.#wall(at);
  }

  #wall(monotonic: number): number {
    return monotonic + this.#wallOffset;
  }
}

export function fibonacci(n: number): number {
  let [a, b] = [0, 1];
  for (let i = 0; i < n; i++) [a, b] = [b, a + b];
  return a;
}
