/** Where a redirect leads: the target is offered like a link, goes next, and its source waits for what becomes of it. */
import { redirectHash } from '../../change/fingerprint.ts';
import { type Candidate, type Claim, REDIRECT_PRIORITY } from '../../frontier/candidate.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { comparedFacts, NO_FACTS, type PageFacts } from '../../store/page-facts.ts';
import { refusalOf } from '../../store/redirect-end.ts';
import type { LinkTargets } from '../../store/settlement.ts';
import type { PageTurn } from '../hosts/leased-host.ts';
import type { CrawlParts } from '../parts.ts';
import { compareHashes, touchOf, visitOf } from './compare-visit.ts';
import { bareSettlement, type FoundPage, type PageSettlement, wasRead } from './page-settlement.ts';

export const NO_LINKS: Readonly<LinkTargets> = {
  count: 0,
  targets: new Int32Array(0),
  flags: new Uint8Array(0),
  anchors: null,
};

export const NO_CONTENT: Readonly<FoundPage> = {
  foldedText: null,
  ...comparedFacts(NO_FACTS),
  text: null,
  links: [],
  redirectTo: null,
  type: null,
  content: 'none',
};

const FOR_GOOD = new Set([301, 308]);

/**
 * The turn that requests the page in the spelling that it redirects to: `/docs/` for `/docs`, which is the same page and has one row.
 * It takes a slot of its own, under the robots.txt of its origin. Null where another page is meant, or the way there has no end.
 */
export function respelled(
  turn: PageTurn,
  location: string,
  status: number,
  around: CrawlParts,
): PageTurn | null {
  const { claim, spellings = [] } = turn;
  const found = around.normalizer.normalize(location, claim.fetchUrl);
  if (found === null || found.url !== claim.url) return null;
  const before = [...spellings, claim.fetchUrl];
  if (before.includes(found.fetchUrl) || before.length > around.limits.maxRedirects) return null;
  const { state } = around.discovery.judge(
    found,
    claim.depth,
    'redirect',
    false,
    around.isStartUrl(claim.url),
  );
  if (state !== PAGE_STATES.Queued) return null;
  const isMoved = FOR_GOOD.has(status) && (spellings.length === 0 || claim.isMoved === true);
  return { ...turn, claim: { ...claim, fetchUrl: found.fetchUrl, isMoved }, spellings: before };
}

export function redirected(
  claim: Claim,
  location: string,
  facts: PageFacts,
  around: CrawlParts,
): PageSettlement {
  const found = around.normalizer.normalize(location, claim.fetchUrl);
  if (found === null)
    return leadsNowhere(
      claim,
      facts,
      `redirect: to ${JSON.stringify(location.slice(0, 200))}, which is no web address`,
    );
  const { maxRedirects } = around.limits;
  // The target of a start URL's redirect is as welcome as the start URL, patterns and all, on an allowed host.
  const target = around.discovery.judge(found, claim.depth, 'redirect', false, around.isStartUrl(claim.url));
  // To itself, and all spellings were requested that may be.
  if (found.url === claim.url) {
    const refusal = refusalOf(found.fetchUrl, target.state, target.reason);
    return leadsNowhere(claim, facts, refusal ?? `redirect: loop at ${found.fetchUrl}`);
  }
  facts.facetHash = redirectHash(facts.statusCode ?? 0, found.url);
  const settlement: PageSettlement = {
    ...bareSettlement(claim, 'Processed', null),
    facts,
    candidates: [target.state === PAGE_STATES.Queued ? onward(claim, target, maxRedirects) : target],
    redirect: { candidate: 0, maxHops: maxRedirects },
    countsAsPage: true,
    // What it linked to when it was a page is linked no more.
    links: claim.last === null || !claim.last.hasBody ? null : { ...NO_LINKS },
  };
  compareHashes(settlement, () => ({ ...NO_CONTENT, statusCode: facts.statusCode, redirectTo: found.url }));
  return settlement;
}

/** Goes next, unless the chain is too long: then only a link can lead there, else a chain without end had none. */
function onward(claim: Claim, target: Candidate, maxHops: number): Candidate {
  if (claim.hops < maxHops) return { ...target, priority: REDIRECT_PRIORITY, reopens: true };
  const reason = `redirect: more than ${maxHops} hops`;
  return { ...target, state: PAGE_STATES.Skipped, reason, onlyNofollow: true };
}

function leadsNowhere(claim: Claim, facts: PageFacts, reason: string): PageSettlement {
  const settlement = { ...bareSettlement(claim, 'Failed', reason), countsAsPage: true };
  facts.error = reason;
  settlement.visit = visitOf('failed', 'status', facts, claim.last);
  // What was read before stays, with the validators it came with.
  if (wasRead(claim.last))
    settlement.touch = { ...touchOf(facts), etag: null, lastModified: null, cacheControl: null };
  else settlement.facts = facts;
  return settlement;
}
