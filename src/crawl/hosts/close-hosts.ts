/** Hosts that take no more pages in this run: all that wait there get the reason, and the host goes back. */
import { PAGE_STATES, type PageState } from '../../frontier/page-state.ts';
import type { CrawlParts } from '../parts.ts';
import type { HostReturns } from './give-back-hosts.ts';
import { REQUEST_CLASSES, type Refused } from './host-requests.ts';
import type { LeasedHost } from './leased-host.ts';

const PAUSED: Refused = {
  refused: 'rate-limit: the host is to be left alone for longer than is waited',
  mayPass: true,
};

export interface HostEnds {
  close(host: LeasedHost, state: PageState, reason: string): Promise<void>;
  /** The host is to be left alone for longer than the run waits. */
  isPausedTooLong(host: LeasedHost): boolean;
  /** Gives such a host up for this run. */
  closePaused(host: LeasedHost): Promise<void>;
  /** Nothing is requested of such a host: the pages that wait for it are given up on its next turn, and it goes back. */
  passOver(host: LeasedHost): Promise<Refused>;
}

export interface EndSurroundings {
  returns: HostReturns;
  remove: (host: LeasedHost) => void;
  /** Its readiness may have changed. */
  place: (host: LeasedHost) => void;
}

export function createHostEnds(
  { store, clock, events, allowance }: Pick<CrawlParts, 'store' | 'clock' | 'events' | 'allowance'>,
  { returns, remove, place }: EndSurroundings,
): HostEnds {
  async function close(host: LeasedHost, state: PageState, reason: string): Promise<void> {
    await returns.unclaim(host);
    // Whoever spends a budget learns from the pages themselves which hosts were silent; a limit says nothing of that.
    const marksKnown = allowance !== null && state !== 'RequestLimitHit';
    const closed = await store.frontier.closeHost(host.lease, PAGE_STATES[state], reason, marksKnown);
    const detail = `${reason} (${closed} pages)`;
    events.host({ host: host.lease.host, what: 'closed', detail, until: null });
    host.isDrained = true;
    const answer: Refused = { refused: reason, mayPass: true };
    host.requests.answer(answer, (request) => !REQUEST_CLASSES[request.class].isVital);
    // It may stand in the schedule for the end of its block.
    place(host);
    await returns.releaseIfIdle(host);
  }

  return {
    close,
    isPausedTooLong: ({ pace }) =>
      allowance?.patienceMs !== undefined && pace.blockedUntil - clock.now() > allowance.patienceMs,
    async closePaused(host) {
      remove(host);
      host.requests.answer(PAUSED);
      // Its silence brings a pause, too, which it did not ask for.
      if (host.pace.isBreakerOpen)
        return close(host, 'Unreachable', `network: no answer from ${host.lease.host}`);
      // To ask for a pause is to answer, though it may have been another day.
      events.counters.answers++;
      await close(host, 'RateLimited', PAUSED.refused);
    },
    async passOver(host) {
      place(host);
      await returns.releaseIfIdle(host);
      return PAUSED;
    },
  };
}
