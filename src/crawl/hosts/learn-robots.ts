/** The robots.txt of a host's origins: requested once by whoever wants to know first, and what becomes of the host by what it says. */

import type { EventHub } from '../../events/event-hub.ts';
import type { Outcome } from '../../fetch/fetcher.ts';
import {
  openRobotsGate,
  type RobotsAnswer,
  type RobotsGateOptions,
  robotsReason,
} from '../../politeness/robots-gate.ts';
import type { CrawlParts } from '../parts.ts';
import { wasNotTaken } from './exchange.ts';
import type { Refused } from './host-requests.ts';
import type { LeasedHost } from './leased-host.ts';
import { queueRequest, type RequestSurroundings, STOPPED } from './queue-request.ts';

/** `isFirstTry`: requested to see whether anybody answers, once, and what does not answer is not held against the host. */
export type LearnRobots = (host: LeasedHost, origin: string, isFirstTry?: boolean) => Promise<RobotsAnswer>;

export interface LearnerSurroundings extends Pick<RobotsGateOptions, 'pause'>, RequestSurroundings {
  /** Its pages may go on, or have been refused. */
  onLearned: (host: LeasedHost) => Promise<void>;
}

export function createRobotsLearner(
  { store, clock, policy, events, startUrls, faults }: CrawlParts,
  around: LearnerSurroundings,
): LearnRobots {
  const { held, leases, ends, pause, onLearned } = around;
  const isStartHost = ({ lease }: LeasedHost) => startUrls.some((start) => start.host === lease.host);

  /** With the next slot of the URL's host, unless that is to be left alone for too long. `host`: whose robots.txt it is. */
  async function requestRobots(host: LeasedHost, url: string, maxBytes: number): Promise<Outcome | Refused> {
    for (let isResent = false; ; ) {
      const target = await leases.hold(url);
      if (target === null) return unsentOutcome('aborted', null);
      if (ends.isPausedTooLong(target)) return ends.passOver(target);
      const answer = await queueRequest(target, { url, class: 'robots', maxBytes, isResent }, around);
      if (answer === STOPPED || (answer === 'moved' && !held.has(host)))
        return unsentOutcome('aborted', null);
      if (answer === 'moved') continue;
      if (!wasNotTaken(answer)) return answer;
      isResent = true;
    }
  }

  async function learn(host: LeasedHost, origin: string, isFirstTry: boolean): Promise<RobotsAnswer> {
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
        return isRefused || isSuspended || ends.isPausedTooLong(host) ? 0 : retries;
      },
      connectRetries: retry.retries,
      refusedRetries: retryRefused ? retry.retries : 0,
      ttlMs: robots!.ttlMs,
      clock,
      load: (key) => store.hosts.robots(key, host.lease),
      save: (stored) => store.hosts.saveRobots(host.lease.hostId, stored),
      async ask(url, maxBytes) {
        host.robotsRetry = null;
        const outcome = await requestRobots(host, url, maxBytes);
        said = 'refused' in outcome ? null : outcome;
        isRefused = 'refused' in outcome;
        isSuspended = on429 === 'suspend' && !('refused' in outcome) && outcome.head?.status === 429;
        return 'refused' in outcome ? unsentOutcome('not-sent', outcome.refused) : outcome;
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
      const unreachable = isUnknown ? `network: unknown-host, ${answer.unreachable}` : robotsReason(answer);
      if (answer.failure === null) events.counters.answers++;
      const isLimited = isRefused || isSuspended;
      const state = answer.failure === 'egress' ? 'Skipped' : isLimited ? 'RateLimited' : 'Unreachable';
      host.robots.set(origin, { unreachable, state });
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
      await ends.close(host, 'RateLimited', 'rate-limit: 429 Too Many Requests for robots.txt');
    await onLearned(host);
    faults.check();
    return answer;
  }

  return (host, origin, isFirstTry = false) => {
    let learning = host.gates.get(origin);
    if (learning === undefined) {
      learning = learn(host, origin, isFirstTry).finally(() => host.gates.delete(origin));
      host.gates.set(origin, learning);
    }
    return learning;
  };
}

/** Told at once, in words that go on after the host's name and `unknown`. */
export function emitUnknownHost(events: EventHub, { lease }: LeasedHost, why: string): void {
  events.host({ host: lease.host, what: 'unknown', detail: `host name (${why})`, until: null });
}

/** Ports of a host share its clock: the most patient robots.txt decides. */
function longestDelay(host: LeasedHost): number | null {
  let seconds: number | null = null;
  for (const robots of host.robots.values()) {
    const own = 'rules' in robots ? robots.rules.delaySeconds : null;
    if (own !== null && own > (seconds ?? 0)) seconds = own;
  }
  return seconds;
}

/** Of a request that was never made. */
export function unsentOutcome(failure: 'aborted' | 'not-sent', message: string | null): Outcome {
  return {
    ...{ head: null, body: null, bodyRefused: false, failure, message },
    ...{ sentAt: null, responseMs: null, wireBytes: 0 },
  };
}
