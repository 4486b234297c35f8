/** Why nothing happens: of all hosts the one whose turn comes next, and what it waits for. Data; words are the report's. */

import type { ReadingSitemap, WaitingFor } from '../../events/events.ts';
import type { Clock } from '../../primitives/clock.ts';
import type { Crew } from '../run/crew.ts';
import type { LeasedHost } from './leased-host.ts';

export interface WaitView {
  hosts: { all(): Iterable<LeasedHost> };
  clock: Clock;
  /** Knows the sitemap of a host that is being requested, or waits for its turn. */
  sitemapDiscovery: { readingOf(host: string): ReadingSitemap | null } | null;
  crew: Pick<Crew, 'othersMayHaveMore'>;
}

/** The time of a page's next try is kept in whole milliseconds, and some pages give way to others. */
const NEARLY_MS = 1000;

/** Null where nothing is waited for that can be told. */
export function waitingFor({ hosts, clock, sitemapDiscovery, crew }: WaitView): WaitingFor | null {
  const now = clock.monotonic();
  let next: { host: LeasedHost; at: number } | null = null;
  let open: LeasedHost | null = null;
  let isEmpty = true;
  for (const host of hosts.all()) {
    isEmpty = false;
    if (host.openTurns > 0 && (open === null || host.turnSince < open.turnSince)) open = host;
    const at = nextAt(host, clock);
    if (at !== Number.POSITIVE_INFINITY && (next === null || at < next.at)) next = { host, at };
  }
  // Somebody can go at once, and waits for nothing but this process.
  if (next !== null && next.at <= now) return null;
  const wallOf = (monotonic: number) => Math.round(clock.now() + monotonic - now);
  const inSeconds = (monotonic: number) => Math.round((monotonic - now) / 100) / 10;
  if (next !== null) {
    const { host, at } = next;
    const about = { host: host.lease.host, sitemap: sitemapDiscovery?.readingOf(host.lease.host) ?? null };
    const times = { until: wallOf(at), in_seconds: inSeconds(at) };
    return { ...about, ...times, ...reasonOf(host, at) };
  }
  if (open !== null) {
    const { host } = open.lease;
    const sitemap = sitemapDiscovery?.readingOf(host) ?? null;
    return {
      ...{ host, sitemap, until: null, in_seconds: null },
      ...{ why: 'answer', seconds: Math.round((now - open.turnSince) / 1000), status: null, detail: null },
    };
  }
  if (!isEmpty || !crew.othersMayHaveMore) return null;
  return {
    ...{ host: null, sitemap: null, until: null, in_seconds: null },
    ...{ why: 'workers', seconds: null, status: null, detail: null },
  };
}

/** Monotonic time at which the host goes on by itself. */
function nextAt(host: LeasedHost, clock: Clock): number {
  const { robotsRetry } = host;
  if (robotsRetry !== null) return robotsRetry.until - clock.now() + clock.monotonic();
  return host.readyAt();
}

function reasonOf(host: LeasedHost, at: number): Pick<WaitingFor, 'why' | 'seconds' | 'status' | 'detail'> {
  const { robotsRetry, pace } = host;
  if (robotsRetry !== null) {
    const { origin, status, message } = robotsRetry;
    return { why: 'robots', seconds: null, status, detail: status === null ? message : origin };
  }
  const wait = pace.waitsFor();
  // Its clock is free before that: a page waits for the time of its next try.
  if (wait === null || wait.until + NEARLY_MS < at)
    return { why: 'retry', seconds: null, status: null, detail: null };
  return { why: wait.why, seconds: wait.seconds, status: wait.status, detail: null };
}
