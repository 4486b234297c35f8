/**
 * Step 5 for pages that were visited before: which of them need no request, and what is sent with those that do.
 * A page that is skipped takes no slot and is told as unchanged; the time of its last visit stays as it is, so that a
 * freshness window is counted from the last answer and never from its own end.
 */
import { announcesChanges, isFresh, isNewerThanVisit, isOlderThanVisit } from '../../change/freshness.ts';
import { conditionsFor } from '../../change/validators.ts';
import type { KnownBy } from '../../change/visit-record.ts';
import { type Claim, CONFIRM_GONE_PRIORITY, type LastVisit } from '../../frontier/candidate.ts';
import type { HostState } from '../../store/host-port.ts';
import type { Settlement } from '../../store/settlement.ts';
import type { CrawlParts } from '../parts.ts';
import { bareSettlement } from '../visit/page-settlement.ts';

type SparingParts = Pick<CrawlParts, 'clock' | 'modes' | 'trust' | 'random'>;

/**
 * The page's date is what its sitemap says in this run, whose search for the sitemaps of the host began at `readAt`. One that
 * they do not give any more says nothing of what came after it.
 */
export function isDated(last: LastVisit | null, readAt: number | undefined): boolean {
  return readAt !== undefined && last !== null && last.sitemapSeenAt !== null && last.sitemapSeenAt >= readAt;
}

/** How a page is known to be unchanged without a request; null when it is to be requested. */
export function sparedBy(
  claim: Claim,
  readAt: number | undefined,
  host: HostState,
  around: SparingParts,
): KnownBy | null {
  const { last } = claim;
  const { trust, clock } = around;
  if (last === null || around.modes.mode !== 'incremental' || isToRead(claim, host, around)) return null;
  const now = clock.now();
  // What the site itself announces is newer than what its answer promised.
  const isAnnounced = trust.lastmod !== 'never' && isNewerThanVisit(last, now);
  if (trust.obeysFreshness && !isAnnounced && isFresh(last, now, trust.maxFreshnessMs)) return 'freshness';
  // A date that was read before the last visit cannot know of anything after it.
  if (!isDated(last, readAt) || !isOlderThanVisit(last, now)) return null;
  return trustsDates(host, around) && around.random() >= trust.spotCheck ? 'lastmod' : null;
}

function trustsDates({ announced, unannounced }: HostState, { trust }: SparingParts): boolean {
  return trust.lastmod === 'learned' ? announcesChanges(announced, unannounced) : trust.lastmod === 'always';
}

/** As far as is known the page needs no request, but the sitemaps that are being read may announce a change of it. */
export function awaitsDates(claim: Claim, host: HostState, around: SparingParts): boolean {
  const { last } = claim;
  const { trust, clock } = around;
  if (last === null || around.modes.mode !== 'incremental' || trust.lastmod === 'never') return false;
  const now = clock.now();
  if (isToRead(claim, host, around) || isNewerThanVisit(last, now)) return false;
  if (trust.obeysFreshness && isFresh(last, now, trust.maxFreshnessMs)) return true;
  return isOlderThanVisit(last, now) && trustsDates(host, around);
}

/** Header fields of a conditional request; undefined where the page is requested whole. */
export function conditionsOf(
  claim: Claim,
  host: HostState,
  around: SparingParts,
): Record<string, string> | undefined {
  const { last } = claim;
  if (last === null || around.modes.mode === 'full' || isToRead(claim, host, around)) return undefined;
  return conditionsFor(last);
}

/** Nothing that was said before is believed: the host lied, or the page was not there a moment ago. */
function isToRead({ priority }: Claim, { distrustedUntil }: HostState, { clock }: SparingParts): boolean {
  return distrustedUntil > clock.now() || priority === CONFIRM_GONE_PRIORITY;
}

export function sparedSettlement(claim: Claim, last: LastVisit, knownBy: KnownBy, now: number): Settlement {
  return {
    ...bareSettlement(claim, 'Processed', null),
    visit: {
      visitedAt: now,
      outcome: 'unchanged',
      knownBy,
      statusCode: null,
      etag: last.etag,
      lastModified: last.lastModified,
      contentHash: null,
      textHash: null,
      simhashDistance: null,
      wireBytes: 0,
      bytesSaved: last.wireBytes,
      durationMs: null,
    },
  };
}
