/** The robots.txt of a host's origins: asked for once by whoever wants to know first, and what becomes of the host by what it says. */

import type { EventHub } from '../../events/event-hub.ts';
import type { Outcome } from '../../fetch/fetcher.ts';
import type { PageState } from '../../frontier/page-state.ts';
import { openRobotsGate, type RobotsAnswer, type RobotsGateOptions } from '../../politeness/robots-gate.ts';
import type { CrawlParts } from '../parts.ts';
import type { ActiveHost, Refused } from './leased-host.ts';

/** `isFirstTry`: asked to see whether anybody is there, once, and what does not answer is not held against the host. */
export type LearnRobots = (host: ActiveHost, origin: string, isFirstTry?: boolean) => Promise<RobotsAnswer>;

export interface LearnerSurroundings extends Pick<RobotsGateOptions, 'pause'> {
  /** Asks with the next slot of the URL's host, unless that is to be left alone for too long. */
  ask: (url: string, maxBytes: number) => Promise<Outcome | Refused>;
  /** The host is to be left alone for longer than the run waits. */
  isPausedTooLong: (host: ActiveHost) => boolean;
  /** The host takes no more pages in this run. */
  close: (host: ActiveHost, state: PageState, reason: string) => Promise<void>;
  /** Its pages may go on, or have been refused. */
  onLearned: (host: ActiveHost) => Promise<void>;
}

export function createRobotsLearner(
  { store, clock, policy, events, startUrls, faults }: CrawlParts,
  { ask, pause, isPausedTooLong, close, onLearned }: LearnerSurroundings,
): LearnRobots {
  const isStartHost = ({ lease }: ActiveHost) => startUrls.some((start) => start.host === lease.host);

  async function askRobots(host: ActiveHost, origin: string, isFirstTry: boolean): Promise<RobotsAnswer> {
    const { robots, retry, retryRefused, on429 } = policy;
    const retries = isFirstTry || host.pace.isDoubted ? 0 : robots!.retries;
    /** A redirect may lead to a host that is paused while this one is well. */
    let isRefused = false;
    /** As for a page: a 429 ends the run for the host where the operator wants that. */
    let isSuspended = false;
    let said: Outcome | null = null;
    const answer = await openRobotsGate(origin, {
      productToken: robots!.productToken,
      whenUnreachable: robots!.whenUnreachable,
      // Looked at after each answer, which may bring a pause.
      get retries() {
        return isRefused || isSuspended || isPausedTooLong(host) ? 0 : retries;
      },
      connectRetries: retry.retries,
      refusedRetries: retryRefused ? retry.retries : 0,
      ttlMs: robots!.ttlMs,
      clock,
      load: (key) => store.hosts.robots(key, host.lease),
      save: (stored) => store.hosts.saveRobots(host.lease.hostId, stored),
      async ask(url, maxBytes) {
        host.robotsRetry = null;
        const outcome = await ask(url, maxBytes);
        said = 'refused' in outcome ? null : outcome;
        isRefused = 'refused' in outcome;
        isSuspended = on429 === 'suspend' && !('refused' in outcome) && outcome.head?.status === 429;
        return 'refused' in outcome ? unaskedOutcome('not-sent', outcome.refused) : outcome;
      },
      async pause(delayMs) {
        const [status, message] = [said?.head?.status ?? null, said?.message ?? said?.failure ?? null];
        host.robotsRetry = { origin, status, message, until: clock.now() + delayMs };
        await pause(delayMs);
        host.robotsRetry = null;
      },
    });
    host.isGated = false;
    host.turns.unshift(...host.parked.splice(0));
    if ('rules' in answer) {
      host.robots.set(origin, answer);
      host.pace.setRobotsDelay(longestDelay(host));
    } else if ('thrown' in answer) {
      const url = `${origin}/robots.txt`;
      const reason = faults.note(url, answer.thrown);
      // The site has answered: that we could not read it is our fault.
      events.counters.answers++;
      host.robots.set(origin, { unreachable: `${reason} (reading ${url})`, state: 'Failed' });
    } else if ('unreachable' in answer && !isFirstTry) {
      // Only this origin: another port of the host may be well.
      const isUnknown = answer.failure === 'unknown-host';
      const unreachable = isUnknown
        ? `network: unknown-host, ${answer.unreachable}`
        : `robots: unreachable ${answer.unreachable}`;
      if (answer.failure === null) events.counters.answers++;
      host.robots.set(origin, {
        unreachable,
        state: isRefused || isSuspended ? 'RateLimited' : 'Unreachable',
      });
      if (isUnknown && isStartHost(host)) emitUnknownHost(events, host, answer.unreachable);
      else
        events.host({
          host: host.lease.host,
          what: 'robots',
          detail: `${origin} ${unreachable}`,
          until: null,
        });
    }
    if (isSuspended && 'unreachable' in answer && !isFirstTry)
      await close(host, 'RateLimited', 'rate-limit: 429 Too Many Requests for robots.txt');
    await onLearned(host);
    faults.check();
    return answer;
  }

  return (host, origin, isFirstTry = false) => {
    let asking = host.gates.get(origin);
    if (asking === undefined) {
      asking = askRobots(host, origin, isFirstTry).finally(() => host.gates.delete(origin));
      host.gates.set(origin, asking);
    }
    return asking;
  };
}

/** Told at once, in words that go on after the host's name and `unknown`. */
export function emitUnknownHost(events: EventHub, { lease }: ActiveHost, why: string): void {
  events.host({ host: lease.host, what: 'unknown', detail: `host name (${why})`, until: null });
}

/** Ports of a host share its clock: the most patient robots.txt decides. */
function longestDelay(host: ActiveHost): number | null {
  let seconds: number | null = null;
  for (const robots of host.robots.values()) {
    const own = 'rules' in robots ? robots.rules.delaySeconds : null;
    if (own !== null && own > (seconds ?? 0)) seconds = own;
  }
  return seconds;
}

/** Of a request that was never made. */
export function unaskedOutcome(failure: 'aborted' | 'not-sent', message: string | null): Outcome {
  return {
    ...{ head: null, body: null, bodyRefused: false, failure, message },
    ...{ sentAt: null, responseMs: null, wireBytes: 0 },
  };
}
