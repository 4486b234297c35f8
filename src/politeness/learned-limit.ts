/**
 * What a host's refusals (429, or 503 as nginx limits rates) teach: how far apart requests must be, and how many may be
 * open at once. docs/decisions/0042 has the rules and the reasons.
 *
 * Promises: a 503 counts as a refusal only while the host answers other requests. The limit is tested again only after
 * many answers in a row, one step at a time. Broken pages do not slow a host down for good. Never sets a clock:
 * host-pace.ts blocks the host, and asks here how to change the delay.
 */

/** How many of the last answers count. */
const WINDOW = 20;
/** So many 503s among them are no accident. */
const LEAST_REFUSALS = 3;
/** After so many 503s in a row the host is down; it does not limit a rate. */
const MOST_IN_A_ROW = 10;
/** More refusals in a row say nothing new about the delay: the host is blocked longer each time anyway. */
const MOST_STEPS_IN_A_ROW = 4;
/** A page with so many refusals is broken. */
const MOST_OF_A_PAGE = 8;
/**
 * If so many steps brought no refused page an answer, while other pages were answered, the 503s belong to these pages.
 */
const STEPS_IN_VAIN = 3;
const ANSWERS_BESIDE = 5;
/**
 * After so many answers in a row, one step to a slower pace should be enough. If several steps were not, the pace is
 * not the cause.
 */
const MOSTLY_ANSWERED = 2;
const STEPS_WITHOUT_EFFECT = 5;
/**
 * Answers before a step to a faster pace. The number doubles after a step that failed, and is halved after one that
 * held.
 */
const FIRST_CALM = 50;
const SHORTEST_CALM = 10;
const LONGEST_CALM = 800;
/** A server lets some early requests pass, so the refusal may come from an earlier step. */
const STEPS_BACK = 2;
const MOST_STEPS = 16;
/** If the refused delay and the accepted one are this close, no value between them is tried. */
const CLOSE_ENOUGH = 1.2;
/** A learned delay below this counts as none. */
const SHORTEST_MS = 25;
const MOST_PAGES = 1000;

/** The learned delay (0: none), and the most requests at once. */
interface Allowance {
  delayMs: number;
  atOnce: number;
}

export interface Refusal {
  statusCode: number;
  /** The delay in force, and the number of open requests when it was sent, itself included. */
  delayMs: number;
  open: number;
  /** The longest delay that can be learned. */
  maxDelayMs: number;
}

export class LearnedLimit {
  #allowed: Allowance = { delayMs: 0, atOnce: Number.POSITIVE_INFINITY };
  /** What was allowed before each of the last steps to a faster pace. */
  #earlier: Allowance[] = [];
  /** For each recent request: the refused page (null for other requests), or that there was an answer. */
  readonly #recent: (number | null | 'answered')[] = [];
  #answersInARow = 0;
  #inARow = 0;
  #isLimited = false;
  /** The 503s of this host belong to single pages. */
  #isDisproved = false;
  /** The longest delay that the host refused. */
  #refusedMs = 0;
  #steps = 0;
  #recovered = 0;
  #answers = 0;
  /** Steps to a slower pace that did not end the refusals, though the host had answered most requests. */
  #withoutEffect = 0;
  #calm = 0;
  #calmNeeded = FIRST_CALM;
  /** Refused pages, and how often. */
  readonly #pages = new Map<number, number>();

  /** The shortest delay to use. */
  get delayMs(): number {
    return this.#allowed.delayMs;
  }

  get atOnce(): number {
    return this.#allowed.atOnce;
  }

  /** For a 503 without Retry-After: whether the host refuses because of its pace. */
  isRefusal(pageId: number | null): boolean {
    if (this.#isDisproved || this.#isBroken(pageId)) return false;
    this.#note(pageId);
    this.#inARow++;
    if (this.#inARow > MOST_IN_A_ROW) {
      this.#forget();
      return false;
    }
    if (!this.#isLimited && !this.#isPattern()) return false;
    this.#isLimited = true;
    this.#count(pageId);
    return true;
  }

  /** For an explicit refusal (429). Returns whether the host refuses because of its pace, and not only this page. */
  isLimiting(pageId: number | null): boolean {
    if (this.#isBroken(pageId)) return false;
    this.#note(pageId);
    this.#inARow++;
    this.#count(pageId);
    return this.#inARow <= MOST_IN_A_ROW && this.#isPattern();
  }

  /** The host refused a request that was sent after the last refusal: send it fewer or slower requests. */
  slowDown({ statusCode, delayMs, open, maxDelayMs }: Refusal): void {
    const wasAnswered = this.#calm >= MOSTLY_ANSWERED;
    this.#isLimited = true;
    this.#calm = 0;
    if (this.#inARow > MOST_STEPS_IN_A_ROW) return;
    const [before] = this.#earlier.splice(-STEPS_BACK);
    if (before !== undefined) {
      this.#refusedMs = Math.max(this.#refusedMs, this.#allowed.delayMs);
      this.#allowed = before;
      this.#calmNeeded = Math.min(LONGEST_CALM, Math.max(FIRST_CALM, this.#calmNeeded) * 2);
      return;
    }
    const allowed = { ...this.#allowed };
    if (open > 1) {
      // nginx refuses the first request above its limit. If the host refuses again, its limit is much lower.
      allowed.atOnce = Math.max(1, this.#steps === 0 ? open - 1 : Math.floor(open / 2));
    }
    if (open <= 1 || statusCode === 429) {
      this.#refusedMs = Math.max(this.#refusedMs, delayMs);
      allowed.delayMs = Math.min(delayMs * 2, Math.max(maxDelayMs, delayMs));
    }
    this.#allowed = allowed;
    this.#steps++;
    if (wasAnswered) this.#withoutEffect++;
    if (statusCode === 503 && this.#isInVain()) this.#disprove();
  }

  #isInVain(): boolean {
    if (this.#withoutEffect >= STEPS_WITHOUT_EFFECT) return true;
    return this.#steps >= STEPS_IN_VAIN && this.#recovered === 0 && this.#answers >= ANSWERS_BESIDE;
  }

  /**
   * An answer that is no refusal. `isLater`: its request was sent after the last refusal. `floorMs`, `perHost`: the
   * configured values.
   */
  answered(pageId: number | null, isLater: boolean, floorMs: number, perHost: number): void {
    this.#note('answered');
    this.#inARow = 0;
    if (!this.#isLimited) return;
    this.#answers++;
    if (pageId !== null && this.#pages.delete(pageId)) this.#recovered++;
    if (!isLater || ++this.#calm < this.#calmNeeded) return;
    this.#calm = 0;
    this.#withoutEffect = 0;
    if (this.#earlier.length > 0) this.#calmNeeded = Math.max(SHORTEST_CALM, this.#calmNeeded / 2);
    this.#earlier.push(this.#allowed);
    if (this.#earlier.length > MOST_STEPS) this.#earlier.shift();
    this.#tryMore(floorMs, perHost);
  }

  #tryMore(floorMs: number, perHost: number): void {
    const { delayMs, atOnce } = this.#allowed;
    if (atOnce < perHost) {
      this.#allowed = { delayMs, atOnce: atOnce + 1 };
    } else if (delayMs > floorMs) {
      const lower = Math.max(floorMs, this.#refusedMs);
      // Close to a delay that was refused long ago: the limit may have changed.
      const isClose = delayMs <= lower * CLOSE_ENOUGH;
      if (isClose) this.#refusedMs = delayMs / CLOSE_ENOUGH;
      const next = isClose ? delayMs / CLOSE_ENOUGH : (delayMs + lower) / 2;
      this.#allowed = { delayMs: next > Math.max(floorMs + 1, SHORTEST_MS) ? next : 0, atOnce };
    } else {
      this.#forget();
    }
  }

  /** The configured pace is reached, and nothing is refused. */
  #forget(): void {
    this.#allowed = { delayMs: 0, atOnce: Number.POSITIVE_INFINITY };
    this.#earlier = [];
    this.#isLimited = false;
    this.#refusedMs = 0;
    this.#steps = 0;
    this.#recovered = 0;
    this.#answers = 0;
    this.#withoutEffect = 0;
    this.#calmNeeded = FIRST_CALM;
    this.#pages.clear();
  }

  #disprove(): void {
    this.#forget();
    this.#isDisproved = true;
  }

  #isBroken(pageId: number | null): boolean {
    return pageId !== null && (this.#pages.get(pageId) ?? 0) >= MOST_OF_A_PAGE;
  }

  #count(pageId: number | null): void {
    if (pageId === null) return;
    if (this.#pages.size >= MOST_PAGES) this.#pages.clear();
    this.#pages.set(pageId, (this.#pages.get(pageId) ?? 0) + 1);
  }

  #note(what: number | null | 'answered'): void {
    // On most hosts every answer is a normal answer: one more replaces an equal one.
    if (what === 'answered' && ++this.#answersInARow > WINDOW) return;
    if (what !== 'answered') this.#answersInARow = 0;
    this.#recent.push(what);
    if (this.#recent.length > WINDOW) this.#recent.shift();
  }

  /** Some requests are refused while others are answered. A single page may be broken. */
  #isPattern(): boolean {
    const refused = this.#recent.filter((what) => what !== 'answered');
    const isOfSeveral = refused.some((what) => what !== refused[0]);
    return refused.length >= LEAST_REFUSALS && refused.length < this.#recent.length && isOfSeveral;
  }
}
