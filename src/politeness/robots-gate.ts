/**
 * May we request this URL? Gets the robots.txt of an origin, from the store while it is fresh, otherwise from the site,
 * and remembers it. Comes after the claim of a page, before its request.
 *
 * RFC 9309: a 4xx allows everything. A 5xx, a 429 or no answer allows nothing, and the request is repeated with growing
 * pauses, a bounded number of times. Up to five redirects are followed, each on a slot of its own host. Never sends
 * anything itself: `ask` belongs to the caller, who holds the leases and the clocks.
 */
import type { FetchFailure, Outcome } from '../fetch/fetcher.ts';
import type { Clock } from '../primitives/clock.ts';
import type { StoredRobots } from '../store/host-port.ts';
import { parseRobotsTxt, ROBOTS_BODY_LIMIT_BYTES, type RobotsRules, rulesFor } from './robots-txt.ts';

const MAX_REDIRECTS = 5;
const FIRST_PAUSE_MS = 1000;
const LEAST_USE_MS = 60_000;
/** More than RFC 9309 requires. Of a longer body, only this much is read. */
export const ROBOTS_FETCH_BYTES = ROBOTS_BODY_LIMIT_BYTES;

export interface RobotsGateOptions {
  productToken: string;
  /** Whether an unreachable robots.txt allows everything, or nothing (RFC 9309). */
  whenUnreachable: 'allow' | 'disallow';
  retries: number;
  /** Tries after a failure to connect at all. */
  connectRetries: number;
  /** The same for a refused connection or a TLS failure; if absent, as above. */
  refusedRetries?: number;
  ttlMs: number;
  clock: Clock;
  load: (origin: string) => Promise<StoredRobots | null>;
  save: (robots: StoredRobots) => Promise<void>;
  /** Sends the request on the next slot of the URL's host. */
  ask: (url: string, maxBytes: number) => Promise<Outcome>;
  pause: (delayMs: number) => Promise<void>;
}

/** Valid until `expiresAt` (wall time). */
interface RobotsFound {
  rules: RobotsRules;
  expiresAt: number;
}

export type RobotsAnswer =
  | RobotsFound
  /** `thrown`: our own code failed to read it, which is no answer of the site. */
  | { unreachable: string; failure: FetchFailure | null; thrown?: unknown }
  | { aborted: true };

const NO_RULES = new Uint8Array(0);

export async function openRobotsGate(origin: string, options: RobotsGateOptions): Promise<RobotsAnswer> {
  const stored = await options.load(origin);
  if (stored !== null && isUsable(stored, options.clock.now()))
    return rulesOrFault(stored.body ?? NO_RULES, stored.expiresAt, options);
  for (let attempt = 0; ; attempt++) {
    const answer = await askOnce(origin, options);
    if ('aborted' in answer) return answer;
    const fetchedAt = options.clock.now();
    const { status, body } = answer;
    // The host was blocked at the last moment. That is no answer: do not store it, and do not count it as a failure.
    if (answer.failure === 'not-sent' && attempt < options.retries) {
      await options.pause(FIRST_PAUSE_MS * 2 ** attempt);
      continue;
    }
    const isReachable = status >= 200 && status < 500 && status !== 429;
    const expiresAt = isReachable ? fetchedAt + options.ttlMs : fetchedAt;
    // A robots.txt that was just fetched is used for a while, even if the operator keeps it only briefly.
    const until = Math.max(expiresAt, fetchedAt + LEAST_USE_MS);
    const read = rulesOrFault((isReachable ? body : null) ?? NO_RULES, until, options);
    if ('unreachable' in read) return read;
    const { delaySeconds } = read.rules;
    if (answer.failure !== 'not-sent' && answer.failure !== 'egress')
      await options.save({ origin, status, body, fetchedAt, expiresAt, delaySeconds });
    if (isReachable || options.whenUnreachable === 'allow') return read;
    if (attempt >= triesAfter(answer, options)) {
      return {
        unreachable: status === 0 ? (answer.message ?? 'no answer') : String(status),
        failure: answer.failure,
      };
    }
    await options.pause(FIRST_PAUSE_MS * 2 ** attempt);
  }
}

/** What pages are told that may not be requested because of it. */
export function robotsReason(answer: { unreachable: string; failure: FetchFailure | null }): string {
  const { unreachable, failure } = answer;
  return failure === 'egress' ? `egress: ${unreachable}` : `robots: unreachable ${unreachable}`;
}

/** A fetch time in the future comes from a wrong clock and says nothing about the age. */
function isUsable({ fetchedAt, expiresAt }: StoredRobots, now: number): boolean {
  return expiresAt > now && fetchedAt <= now + LEAST_USE_MS;
}

function triesAfter({ status, failure }: OneAnswer, options: RobotsGateOptions): number {
  const { retries, connectRetries, refusedRetries = connectRetries } = options;
  if (status !== 0) return retries;
  if (failure === 'unknown-host' || failure === 'egress') return 0;
  const isRefused = failure === 'refused' || failure === 'tls';
  return Math.min(isRefused ? refusedRetries : connectRetries, retries);
}

interface OneAnswer {
  /** 0: no answer. A redirect that leads nowhere counts as 404, as RFC 9309 section 2.3.1.2 allows. */
  status: number;
  body: Uint8Array | null;
  message: string | null;
  failure: FetchFailure | null;
}

async function askOnce(origin: string, options: RobotsGateOptions): Promise<OneAnswer | { aborted: true }> {
  let url = `${origin}/robots.txt`;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    const outcome = await options.ask(url, ROBOTS_FETCH_BYTES);
    if (outcome.failure === 'aborted') return { aborted: true };
    const body = outcome.body === null ? null : outcome.body.bytes.slice(0, outcome.body.length);
    outcome.body?.release();
    if (outcome.head === null) {
      const { failure } = outcome;
      const isElsewhere = failure === 'egress' && hop > 0;
      const message = isElsewhere ? `${outcome.message} (robots.txt leads there)` : outcome.message;
      return { status: 0, body: null, message, failure };
    }
    const { status, location } = outcome.head;
    if (status < 300 || status >= 400) {
      const isCut = status < 300 && outcome.failure !== null;
      return {
        status: isCut ? 0 : status,
        body: status < 300 ? body : null,
        message: outcome.message,
        failure: outcome.failure,
      };
    }
    const next = location === null ? null : resolveHttp(location, url);
    if (next === null) break;
    url = next;
  }
  return { status: 404, body: null, message: null, failure: null };
}

function resolveHttp(location: string, base: string): string | null {
  if (!URL.canParse(location, base)) return null;
  const url = new URL(location, base);
  url.hash = '';
  return url.protocol === 'http:' || url.protocol === 'https:' ? url.href : null;
}

type RobotsFault = { unreachable: string; failure: null; thrown: unknown };

/** A robots.txt that cannot be read allows nothing. */
function rulesOrFault(
  body: Uint8Array,
  expiresAt: number,
  options: RobotsGateOptions,
): RobotsFound | RobotsFault {
  try {
    return { rules: rulesFor(parseRobotsTxt(body), options.productToken), expiresAt };
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return { unreachable: `internal: ${message}`, failure: null, thrown };
  }
}
