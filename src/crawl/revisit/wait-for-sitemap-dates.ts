/**
 * Pages that would be skipped as far as is known, while the sitemaps of their host are being read, which may announce a change
 * of them: they are set aside, and claimed anew with the dates that are given by then. Pages that are requested in any case do
 * not wait with them: a sitemap may take minutes not to come. Only where very many are set aside, those behind them wait.
 */
import type { Claim } from '../../frontier/candidate.ts';
import type { LeasedHost } from '../hosts/leased-host.ts';
import type { LeasedHosts } from '../hosts/leased-hosts.ts';
import type { VisitParts } from '../visit/visit-parts.ts';

/** So many are held in memory, over all hosts. */
const MOST_ASIDE = 4096;

export interface PutOffSurroundings extends Pick<VisitParts, 'store' | 'onStart' | 'wakeHost'> {
  hosts: Pick<LeasedHosts, 'all'>;
  /** Something may be possible that was not. */
  onChange: () => void;
  onFailure: (error: unknown) => void;
}

/** `dates`: resolves when the search of the host's sitemaps has ended. */
export type PutOff = (host: LeasedHost, claims: readonly Claim[], dates: Promise<void>) => Promise<void>;

export function createPutOff(around: PutOffSurroundings): PutOff {
  const { store } = around;
  /** As many as there are, or more: who gives a host back does not tell. */
  let atMost = 0;

  function isFull(): boolean {
    if (atMost < MOST_ASIDE) return false;
    atMost = 0;
    for (const { undated } of around.hosts.all()) atMost += undated.length;
    return atMost >= MOST_ASIDE;
  }

  function putBack(host: LeasedHost): void {
    host.awaitsDates = false;
    if (host.undated.length > 0)
      store.frontier.unclaim(host.lease, host.undated.splice(0)).catch(around.onFailure);
    // At once: while nobody is awake to claim them, the run may be taken for over.
    around.wakeHost(host.lease.host);
    around.onChange();
  }

  return async (host, claims, dates) => {
    // Whoever reads the sitemaps may wait for a start page: it is taken as it was, until they say otherwise.
    for (const claim of claims) if (claim.depth === 0) around.onStart?.(claim, 'unchanged');
    if (host.undated.length === 0 && !host.awaitsDates) void dates.then(() => putBack(host));
    if (isFull()) {
      host.awaitsDates = true;
      await store.frontier.unclaim(host.lease, [...claims]);
      return;
    }
    host.undated.push(...claims);
    atMost += claims.length;
  };
}
