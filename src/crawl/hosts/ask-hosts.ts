/** What others than pages ask of a host, on its next slot and wherever it is leased now: what its robots.txt says, sitemaps, whether anybody is there. */
import type { Outcome } from '../../fetch/fetcher.ts';
import { parseRobotsTxt, type RobotsRules, rulesFor } from '../../politeness/robots-txt.ts';
import type { CrawlParts } from '../parts.ts';
import { wasNotTaken } from './exchange.ts';
import type { LearnRobots } from './learn-robots.ts';
import type { ActiveHost, LookupRequest, Refused } from './leased-host.ts';

export interface HostQuestions {
  /** What the robots.txt of the URL's origin says. */
  rulesOf(url: string): Promise<RobotsRules | Refused>;
  /** Asks for a sitemap on a slot of its host, wherever that host is now, if its robots.txt lets us. */
  lookUp(request: LookupRequest): Promise<Outcome | Refused>;
  /** Whether anybody answers at the URL's origin; asked once, for robots.txt or, where that is not asked for, by HEAD. */
  answers(url: string): Promise<boolean>;
}

interface QuestionSurroundings {
  /** Does something with the URL's host, which is kept meanwhile; again with another lease where this one was given back. */
  withHost<T>(url: string, work: (host: ActiveHost) => Promise<T | 'moved'>): Promise<T | Refused>;
  learnRobots: LearnRobots;
  /** The host has not been given back, is not about to be, and may be asked before long. */
  isHere: (host: ActiveHost) => boolean;
  /** It has something more to ask. */
  place: (host: ActiveHost) => void;
}

/** Of whoever asks for no robots.txt. */
const NO_RULES = rulesFor(parseRobotsTxt(''), '');

/** A host that is closed for this run is asked nothing more. */
function closedBy({ lease }: ActiveHost): Refused | null {
  return lease.closed === null ? null : { refused: lease.closed.reason, mayPass: true };
}

export function createHostQuestions(
  { policy, clock }: CrawlParts,
  { withHost, learnRobots, isHere, place }: QuestionSurroundings,
): HostQuestions {
  async function rulesOn(host: ActiveHost, url: string): Promise<RobotsRules | Refused | 'moved'> {
    if (policy.robots === null) return NO_RULES;
    const { origin } = new URL(url);
    const known = host.robots.get(origin);
    if (known !== undefined && 'unreachable' in known) return { refused: known.unreachable, mayPass: true };
    if (known !== undefined && known.expiresAt > clock.now()) return known.rules;
    const closed = closedBy(host);
    if (closed !== null) return closed;
    const answer = await learnRobots(host, origin);
    if ('rules' in answer) return answer.rules;
    return 'unreachable' in answer
      ? { refused: `robots: unreachable ${answer.unreachable}`, mayPass: true }
      : 'moved';
  }

  async function lookUp(request: LookupRequest): Promise<Outcome | Refused> {
    const answer = await withHost<Outcome | Refused>(request.url, async (host) => {
      const rules = await rulesOn(host, request.url);
      if (rules === 'moved' || 'refused' in rules) return rules;
      const closed = closedBy(host);
      if (closed !== null) return closed;
      const { allowed, rule } = rules.decide(request.url);
      if (!allowed) return { refused: `robots: ${rule}` };
      if (!isHere(host)) return 'moved';
      return new Promise((done) => {
        host.lookups.push({ ...request, done });
        place(host);
      });
    });
    return wasNotTaken(answer) ? lookUp({ ...request, isResent: true }) : answer;
  }

  return {
    rulesOf: (url) => withHost(url, (host) => rulesOn(host, url)),
    lookUp,
    async answers(url) {
      if (policy.robots === null) {
        const outcome = await lookUp({ url, haste: 'now', maxBytes: 0, method: 'HEAD' });
        // Stopped, nobody asks any more.
        return 'refused' in outcome || outcome.head !== null;
      }
      const { origin } = new URL(url);
      const answer = await withHost(url, (host) => learnRobots(host, origin, true));
      return !('unreachable' in answer) || answer.failure === null;
    },
  };
}
