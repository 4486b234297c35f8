/**
 * Asks the web for sitemaps outside of a crawl, under the promises of one: a host is leased from the store before
 * anything is requested of it, every request (robots.txt, redirect hop, sitemap) takes the host's next slot, robots.txt is
 * obeyed, blocks are waited out. Requests go one after another, but for the robots.txt of other hosts. What the hosts' clocks learned goes back to the store.
 */

import { createSitemapWeb } from '../../crawl/discover/sitemap-web.ts';
import { exchangeWith, logRequest } from '../../crawl/hosts/exchange.ts';
import { keepLeases } from '../../crawl/hosts/keep-leases.ts';
import { LeasedHost } from '../../crawl/hosts/leased-host.ts';
import type { CrawlParts } from '../../crawl/parts.ts';
import type { FetchRequest, Outcome } from '../../fetch/fetcher.ts';
import { HostPace } from '../../politeness/host-pace.ts';
import { openRobotsGate, type RobotsAnswer, robotsReason } from '../../politeness/robots-gate.ts';
import { parseRobotsTxt, type RobotsRules, rulesFor } from '../../politeness/robots-txt.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { SitemapWeb } from '../find-entries.ts';

const LEASE_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 1000;

export interface PoliteWeb extends SitemapWeb {
  /**
   * Whether the origin of the URL can be reached at all; requested once, and what is learned of its robots.txt is kept.
   * Where that is not read, the URL is requested by HEAD.
   */
  answers(url: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface PoliteWebOptions {
  maxBytes: number;
  /** The store has a run: requests go to its log. */
  isLogged: boolean;
  /** The host is another worker's for now. */
  onWait: (host: string) => void;
  onFailure: (error: unknown) => void;
  /** Aborted, it gives up what is under way; every caller that waits gets its reason as an error. */
  signal: AbortSignal;
}

interface Refusal {
  refused: string;
}

export function openPoliteWeb(parts: CrawlParts, options: PoliteWebOptions): PoliteWeb {
  const { store, clock, policy, pace } = parts;
  const { leaseMs } = parts.limits;
  const around = { ...parts, placed() {} };
  const hosts = new Map<string, LeasedHost>();
  /** Hosts that are being leased: two callers at once have one lease. */
  const leasing = new Map<string, Promise<LeasedHost>>();
  const robots = new Map<string, RobotsAnswer>();
  const keeper = keepLeases({
    frontier: store.frontier,
    clock,
    leaseMs,
    hosts: () => hosts.values(),
    onGood: (host) => {
      host.isLapsed = false;
    },
    onLost: (host) => hosts.delete(host.lease.host),
    onFailure: options.onFailure,
  });
  const { signal } = options;
  signal.addEventListener('abort', () => parts.fetcher.abortAll(), { once: true });

  const pause = (delayMs: number) => pauseFor(delayMs, clock, signal);

  function hold(url: string): Promise<LeasedHost> {
    const name = parts.normalizer.normalize(url)?.host ?? new URL(url).hostname;
    const held = leasing.get(name) ?? lease(name).finally(() => leasing.delete(name));
    leasing.set(name, held);
    return held;
  }

  async function lease(name: string): Promise<LeasedHost> {
    let isTold = false;
    for (;;) {
      const held = hosts.get(name);
      if (held !== undefined) return held;
      const lease = await store.frontier.leaseHost(name, clock.now(), leaseMs);
      if (lease !== null) {
        const clockOfHost = new HostPace(name, lease.state, pace, clock, lease.takenOver);
        const host = new LeasedHost(lease, clockOfHost, () => false);
        host.leaseEnds = keeper.endsAt(lease);
        hosts.set(name, host);
        return host;
      }
      if (!isTold) options.onWait(name);
      isTold = true;
      await pause(LEASE_PAUSE_MS);
    }
  }

  /** On the next slot of the URL's host, however long that takes. */
  async function request(
    url: string,
    maxBytes: number,
    kind: 'robots' | 'sitemap',
    onPiece?: FetchRequest['onPiece'],
    method: 'GET' | 'HEAD' = 'GET',
  ): Promise<Outcome> {
    let isResent = false;
    for (;;) {
      signal.throwIfAborted();
      const host = await hold(url);
      const waitMs = host.pace.readyAt() - clock.monotonic();
      if (waitMs <= 0 || host.pace.isGivenUp) {
        const parts = { url, method, maxBytes, onPiece, isResent };
        const exchange = await exchangeWith(host, around, parts, null);
        if (options.isLogged) logRequest(host, around, exchange, kind, null);
        const { failure } = exchange.outcome;
        isResent = failure === 'not-taken';
        // A block or the end of the lease came in the last moment, or the server did not take it.
        if (failure !== 'not-sent' && !isResent) return exchange.outcome;
      }
      // While another request is on its way to the host, nobody knows how long.
      await pause(Math.min(Math.max(waitMs, 1), LONGEST_PAUSE_MS));
    }
  }

  async function gate(origin: string, isFirstTry: boolean): Promise<RobotsAnswer> {
    const rules = policy.robots!;
    const { hostId } = (await hold(`${origin}/`)).lease;
    const retries = isFirstTry ? 0 : policy.retry.retries;
    return openRobotsGate(origin, {
      productToken: rules.productToken,
      whenUnreachable: rules.whenUnreachable,
      retries: rules.retries,
      connectRetries: retries,
      refusedRetries: policy.retryRefused ? retries : 0,
      ttlMs: rules.ttlMs,
      clock,
      load: (key) => store.hosts.robots(key),
      save: (stored) => store.hosts.saveRobots(hostId, stored),
      ask: (url, maxBytes) => request(url, maxBytes, 'robots'),
      pause,
    });
  }

  async function robotsOf(url: string): Promise<RobotsRules | Refusal> {
    if (policy.robots === null) return rulesFor(parseRobotsTxt(''), parts.agentToken);
    const { origin } = new URL(url);
    let found = robots.get(origin);
    if (found === undefined) {
      found = await gate(origin, false);
      robots.set(origin, found);
    }
    if (!('rules' in found)) return { refused: unreachable(found) };
    const { pace: own } = await hold(url);
    own.setRobotsDelay(longestDelay(new URL(url).hostname, robots));
    return found.rules;
  }

  const web = createSitemapWeb({
    retry: policy.retry,
    maxBytes: options.maxBytes,
    rulesOf: robotsOf,
    async request({ url, maxBytes, onPiece }) {
      const rules = await robotsOf(url);
      if ('refused' in rules) return rules;
      const { allowed, rule } = rules.decide(url);
      return allowed ? request(url, maxBytes, 'sitemap', onPiece) : { refused: `robots: ${rule}` };
    },
    pause,
    after: (delayMs, callback) => clock.after(delayMs, callback),
  });

  return {
    ...web,
    async answers(url) {
      if (policy.robots === null) return (await request(url, 0, 'sitemap', undefined, 'HEAD')).head !== null;
      const { origin } = new URL(url);
      const found = await gate(origin, true);
      if ('rules' in found) robots.set(origin, found);
      return !('unreachable' in found) || found.failure === null;
    },
    async close() {
      keeper.stop();
      for (const { lease } of hosts.values()) await store.frontier.release(lease);
      hosts.clear();
    },
  };
}

/** Ends early when the signal is aborted, with its reason as an error. */
async function pauseFor(delayMs: number, clock: Clock, signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = () => {
      cancel();
      signal.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock.after(delayMs, end);
    signal.addEventListener('abort', end);
  });
  signal.throwIfAborted();
}

function unreachable(answer: RobotsAnswer): string {
  return 'unreachable' in answer ? robotsReason(answer) : 'robots: aborted';
}

/** Ports of a host share its clock: the most patient robots.txt decides. */
function longestDelay(hostname: string, robots: ReadonlyMap<string, RobotsAnswer>): number | null {
  let seconds: number | null = null;
  for (const [origin, answer] of robots) {
    const own = 'rules' in answer && new URL(origin).hostname === hostname ? answer.rules.delaySeconds : null;
    if (own !== null && own > (seconds ?? 0)) seconds = own;
  }
  return seconds;
}
