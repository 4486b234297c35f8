/**
 * May we? Gets the robots.txt of an origin, from the store while it is fresh, else from the site, and remembers it.
 *
 * RFC 9309: a 4xx allows everything; a 5xx, 429 or silence allows nothing and is asked again with growing pauses, a
 * bounded number of times; redirects are followed up to five times, each hop on a slot of its own host.
 * It never sends anything itself: `ask` is the caller's, who holds the leases and the clocks.
 */
import type { FetchFailure, Outcome } from '../fetch/fetcher.ts';
import type { Clock } from '../primitives/clock.ts';
import type { StoredRobots } from '../store/host-port.ts';
import { parseRobotsTxt, ROBOTS_BODY_LIMIT_BYTES, type RobotsRules, rulesFor } from './robots-txt.ts';

const MAX_REDIRECTS = 5;
const FIRST_PAUSE_MS = 1000;
const LEAST_USE_MS = 60_000;
/** Beyond what RFC 9309 asks to be parsed: a longer body is read so far and no further. */
export const ROBOTS_FETCH_BYTES = ROBOTS_BODY_LIMIT_BYTES;

export interface RobotsGateOptions {
  productToken: string;
  /** Whether an unreachable robots.txt counts as none (004) or shuts the host (RFC 9309). */
  whenUnreachable: 'allow' | 'disallow';
  retries: number;
  /** Tries after a failure to connect at all. */
  connectRetries: number;
  /** The same where the connection was refused or TLS failed; as above unless given. */
  refusedRetries?: number;
  ttlMs: number;
  clock: Clock;
  load: (origin: string) => Promise<StoredRobots | null>;
  save: (robots: StoredRobots) => Promise<void>;
  /** Asks with the next slot of the URL's host. */
  ask: (url: string, maxBytes: number) => Promise<Outcome>;
  pause: (delayMs: number) => Promise<void>;
}

/** To be asked again after `expiresAt` (wall time). */
interface RobotsFound {
  rules: RobotsRules;
  expiresAt: number;
}

export type RobotsAnswer =
  | RobotsFound
  /** `thrown`: our own reading of it failed, which is no answer of the site. */
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
    // The host was blocked in the last moment: that is no answer, neither to be kept nor to be held against it.
    if (answer.failure === 'not-sent' && attempt < options.retries) {
      await options.pause(FIRST_PAUSE_MS * 2 ** attempt);
      continue;
    }
    const isReachable = status >= 200 && status < 500 && status !== 429;
    const expiresAt = isReachable ? fetchedAt + options.ttlMs : fetchedAt;
    // What was just fetched serves for a while, however short the operator wants it kept.
    const until = Math.max(expiresAt, fetchedAt + LEAST_USE_MS);
    const read = rulesOrFault((isReachable ? body : null) ?? NO_RULES, until, options);
    if ('unreachable' in read) return read;
    const { delaySeconds } = read.rules;
    if (answer.failure !== 'not-sent')
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

/** What was fetched in times to come was fetched by a clock that was wrong, and says nothing of its age. */
function isUsable({ fetchedAt, expiresAt }: StoredRobots, now: number): boolean {
  return expiresAt > now && fetchedAt <= now + LEAST_USE_MS;
}

function triesAfter({ status, failure }: OneAnswer, options: RobotsGateOptions): number {
  const { retries, connectRetries, refusedRetries = connectRetries } = options;
  if (status !== 0) return retries;
  if (failure === 'unknown-host') return 0;
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
    if (outcome.head === null)
      return { status: 0, body: null, message: outcome.message, failure: outcome.failure };
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

/** What cannot be read gives no leave to ask for anything. */
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
