/**
 * A leased host in memory: its clock, the pages claimed for it, the requests that are for no page, and what its
 * robots.txt said. It answers one question for the schedule: when can this host take a turn?
 */
import type { Claim } from '../../frontier/candidate.ts';
import type { Schedulable } from '../../frontier/host-schedule.ts';
import type { HostPace } from '../../politeness/host-pace.ts';
import type { RobotsAnswer } from '../../politeness/robots-gate.ts';
import type { RobotsRules } from '../../politeness/robots-txt.ts';
import type { HostLease } from '../../store/host-port.ts';
import { HostRequests, type QueuedRequest, type Refused } from './host-requests.ts';

/** A page on its way: HEAD first, where wanted, then GET, each with a slot of its own. */
export interface PageTurn {
  claim: Claim;
  method: 'HEAD' | 'GET';
  /** When it was claimed, its date was what the sitemaps of this run say. */
  isDated: boolean;
  /** Header fields that make the request a conditional one; known when the page may be requested. */
  conditions?: Record<string, string>;
  /** Requested once more, in full: after a 304 or 412 to a request without conditions, or to check a 304. */
  check?: 'unasked' | 'spot';
  /** Asked by GET after HEAD, which was answered with this status; 0: with none. */
  headSaid?: number;
  /** The server did not take it the first time: it goes over a new connection. */
  isResent?: boolean;
  /** Where it was requested before, and redirected to its own address in another spelling. */
  spellings?: readonly string[];
}

const BLOCKED: Refused = {
  refused: 'rate-limit: the host is to be left alone for longer than a guess is worth',
  mayPass: true,
};

/** A guess waits so long for a host that is to be left alone. */
const GUESS_PATIENCE_MS = 10_000;

export interface RobotsRetry {
  origin: string;
  status: number | null;
  /** Why there was no answer. */
  message: string | null;
  until: number;
}

/** What an origin's robots.txt said, until when (wall time), or why it could not be had in this run, and what its pages are then. */
export type OriginRobots =
  | { rules: RobotsRules; expiresAt: number }
  | { unreachable: string; state: 'Unreachable' | 'RateLimited' | 'Failed' | 'Skipped' };

export class LeasedHost implements Schedulable {
  place: 'out' | 'ring' | 'heap' = 'out';
  readonly lease: HostLease;
  readonly pace: HostPace;
  readonly requests = new HostRequests();
  /** Its robots.txt could not be had and is requested again at that wall time; null else. */
  robotsRetry: RobotsRetry | null = null;
  /** When the last turn began, by the monotonic clock. */
  turnSince = 0;
  /** How many are about to request something of it: the host is kept for them, unless another project waits for it. */
  users = 0;
  /** The next turn is a page's, where one waits: the last one was for something else, or there was none yet. */
  owesPage = true;
  readonly turns: PageTurn[] = [];
  /** Pages of an origin whose robots.txt is being requested, while other origins of the host go on. */
  readonly parked: PageTurn[] = [];
  /** Monotonic time after which nothing may be sent under this lease. */
  leaseEnds = Number.POSITIVE_INFINITY;
  /** The lease could not be renewed in time: the host rests until it is, or until it is known to be somebody else's. */
  isLapsed = false;
  /** By origin (scheme, name, port) of this host. */
  readonly robots = new Map<string, OriginRobots>();
  /** Why the egress guard refuses an origin of this host; null: its name and address are not refused. */
  readonly refusedOrigins = new Map<string, string | null>();
  /** Origins whose robots.txt is being requested. */
  readonly gates = new Map<string, Promise<RobotsAnswer>>();
  /** Turns that were given and are not over: their pages are requested, read or settled. */
  openTurns = 0;
  /** Its pages are being claimed. */
  isClaiming = false;
  /** Its first robots.txt, or that of too many pages, must come first. */
  isGated = false;
  /** Pages that would be skipped as unchanged, set aside while sitemaps are being read whose dates decide about them. */
  readonly undated: Claim[] = [];
  /** No more can be set aside: no page is claimed until its sitemaps are read. */
  awaitsDates = false;
  /** No page waits in the store, as far as is known. */
  isDrained = false;
  /** Monotonic time of the earliest retry when nothing else waits. */
  retryAt = 0;
  /** The run may request no more pages, here or at all. */
  isOutOfBudget: () => boolean;

  constructor(lease: HostLease, pace: HostPace, isOutOfBudget: () => boolean) {
    this.lease = lease;
    this.pace = pace;
    this.isOutOfBudget = isOutOfBudget;
  }

  /** Something asynchronous about the host must end first. Two may be under way: neither ends the other. */
  get isWaiting(): boolean {
    return this.isClaiming || this.isGated;
  }

  readyAt(): number {
    if (this.isLapsed) return Number.POSITIVE_INFINITY;
    // It goes back when what is open has ended.
    if (this.lease.isWanted && this.openTurns > 0) return Number.POSITIVE_INFINITY;
    if (this.requests.isEmpty) return this.#pageReadyAt();
    if (this.requests.hasVital) return this.pace.readyAt();
    return Math.min(this.#pageReadyAt(), this.#requestReadyAt());
  }

  #pageReadyAt(): number {
    if (this.isWaiting || this.isOutOfBudget()) return Number.POSITIVE_INFINITY;
    if (this.turns.length > 0) return this.pace.readyAt();
    if (this.isDrained || this.awaitsDates) return Number.POSITIVE_INFINITY;
    // With nothing open the store is asked at once: a page waits here for its slot, and no page lets the run end now.
    if (this.openTurns === 0) return this.retryAt;
    return Math.max(this.pace.readyAt(), this.retryAt);
  }

  #requestReadyAt(): number {
    // A page that waits for its time gives way until then.
    const hasPage = this.#hasPage(this.retryAt === 0 ? 0 : this.retryAt - 1);
    return this.#mayRequestGo(hasPage) ? this.pace.readyAt() : Number.POSITIVE_INFINITY;
  }

  #mayRequestGo(hasPage: boolean): boolean {
    return this.requests.isBeforePages || !hasPage || !this.owesPage;
  }

  /** A page could be requested at this moment, as far as is known. */
  #hasPage(monotonic: number): boolean {
    if (this.isOutOfBudget()) return false;
    if (this.turns.length > 0 || this.isWaiting) return true;
    return !this.isDrained && !this.awaitsDates && this.retryAt <= monotonic;
  }

  /** The request whose turn it is at this moment, taken out; undefined where it is a page's turn. */
  takeRequest(monotonic: number): QueuedRequest | undefined {
    if (this.requests.isEmpty || this.pace.readyAt() > monotonic) return undefined;
    if (!this.#mayRequestGo(this.#hasPage(monotonic))) return undefined;
    this.owesPage = true;
    return this.requests.take();
  }

  /** Guesses at sitemaps are not waited for where no page is left, as far as is known, and the host is to be left alone for long. */
  giveUpGuesses(wallNow: number): void {
    if (this.requests.isEmpty || !this.isDrained || this.openTurns > 0) return;
    if (this.pace.blockedUntil - wallNow <= GUESS_PATIENCE_MS) return;
    if (this.isWaiting || this.turns.length + this.parked.length + this.undated.length > 0) return;
    this.requests.answer(BLOCKED, ({ isGuess }) => isGuess === true);
  }

  /** Everything that was claimed and has no turn now, taken out. */
  takeClaims(): Claim[] {
    const turns = [...this.parked.splice(0), ...this.turns.splice(0)];
    return [...turns.map(({ claim }) => claim), ...this.undated.splice(0)];
  }

  /** Nothing is left to do here: the lease can be given back. */
  get isIdle(): boolean {
    const hasClaims = this.turns.length + this.undated.length > 0;
    return this.isDrained && this.isResting && !hasClaims && this.users === 0;
  }

  /** Nothing is under way: given back now, the host loses nothing but its place. */
  get isResting(): boolean {
    return (
      !this.isWaiting &&
      this.openTurns === 0 &&
      this.pace.inFlight === 0 &&
      this.parked.length === 0 &&
      this.gates.size === 0 &&
      !this.requests.hasVital
    );
  }
}
