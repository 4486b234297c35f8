/**
 * Whatever is requested of a host that is none of its pages, on its next slot and wherever it is leased now: what its
 * robots.txt says, sitemaps, whether anybody answers there.
 */
import type { Outcome } from '../../fetch/fetcher.ts';
import { robotsReason } from '../../politeness/robots-gate.ts';
import { parseRobotsTxt, type RobotsRules, rulesFor } from '../../politeness/robots-txt.ts';
import type { CrawlParts } from '../parts.ts';
import { egressRefusal } from './egress-refusal.ts';
import { wasNotTaken } from './exchange.ts';
import type { HostAnswer, HostRequest, Refused } from './host-requests.ts';
import type { LearnRobots } from './learn-robots.ts';
import type { LeasedHost } from './leased-host.ts';
import { queueRequest, type RequestSurroundings, STOPPED } from './queue-request.ts';

export interface HostQuestions {
  /** What the robots.txt of the URL's origin says. */
  rulesOf(url: string): Promise<RobotsRules | Refused>;
  /** One request on a slot of the URL's host, wherever that host is now, if its robots.txt lets us. */
  request(request: HostRequest): Promise<Outcome | Refused>;
  /** Whether anybody answers at the URL's origin; requested once: robots.txt or, where that is not read, the URL by HEAD. */
  answers(url: string): Promise<boolean>;
}

/** Of whoever reads no robots.txt. */
const NO_RULES = rulesFor(parseRobotsTxt(''), '');

/** A host that is closed for this run is requested from no more. */
function closedBy({ lease }: LeasedHost): Refused | null {
  return lease.closed === null ? null : { refused: lease.closed.reason, mayPass: true };
}

export function createHostQuestions(
  { policy, clock, egress }: CrawlParts,
  around: RequestSurroundings & { learnRobots: LearnRobots },
): HostQuestions {
  const { held, leases, ends, returns, learnRobots, place } = around;

  /** Does something with the URL's host, which is kept meanwhile; again with another lease where this one was given back. */
  async function withHost<T>(
    url: string,
    work: (host: LeasedHost) => Promise<T | 'moved'>,
  ): Promise<T | Refused> {
    for (;;) {
      const host = await leases.hold(url);
      if (host === null) return STOPPED;
      if (ends.isPausedTooLong(host)) return ends.passOver(host);
      host.users++;
      try {
        const answer = await work(host);
        if (answer !== 'moved') return answer;
      } finally {
        host.users--;
        await returns.releaseIfIdle(host);
      }
    }
  }

  async function rulesOn(host: LeasedHost, url: string): Promise<RobotsRules | Refused | 'moved'> {
    const refused = egressRefusal(host, url, egress);
    if (refused !== null) {
      // Leased for this question, it has pages perhaps: they are refused on its next turn.
      place(host);
      return { refused: `egress: ${refused}` };
    }
    if (policy.robots === null) return NO_RULES;
    const { origin } = new URL(url);
    const known = host.robots.get(origin);
    if (known !== undefined && 'unreachable' in known) return { refused: known.unreachable, mayPass: true };
    if (known !== undefined && known.expiresAt > clock.now()) return known.rules;
    const closed = closedBy(host);
    if (closed !== null) return closed;
    const answer = await learnRobots(host, origin);
    if ('rules' in answer) return answer.rules;
    if (!('unreachable' in answer)) return 'moved';
    return { refused: robotsReason(answer), mayPass: answer.failure !== 'egress' };
  }

  async function requestOn(host: LeasedHost, request: HostRequest): Promise<HostAnswer> {
    const rules = await rulesOn(host, request.url);
    if (rules === 'moved' || 'refused' in rules) return rules;
    const closed = closedBy(host);
    if (closed !== null) return closed;
    const { allowed, rule } = rules.decide(request.url);
    if (!allowed) return { refused: `robots: ${rule}` };
    const isHere = !held.isStopped && held.has(host) && !ends.isPausedTooLong(host);
    return isHere ? queueRequest(host, request, around) : 'moved';
  }

  async function request(given: HostRequest): Promise<Outcome | Refused> {
    const answer = await withHost<Outcome | Refused>(given.url, (host) => requestOn(host, given));
    return wasNotTaken(answer) ? request({ ...given, isResent: true }) : answer;
  }

  return {
    rulesOf: (url) => withHost(url, (host) => rulesOn(host, url)),
    request,
    async answers(url) {
      if (policy.robots === null) {
        const outcome = await request({ url, class: 'before-pages', maxBytes: 0, method: 'HEAD' });
        // Stopped, nobody requests anything any more.
        return 'refused' in outcome || outcome.head !== null;
      }
      const { origin } = new URL(url);
      const answer = await withHost(url, (host) => learnRobots(host, origin, true));
      return !('unreachable' in answer) || answer.failure === null;
    },
  };
}
