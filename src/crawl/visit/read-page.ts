/**
 * Step 7 for a page with a body: parse it, discover its links, compare its hashes with the last visit's. A body that is
 * the very one of the last visit is not parsed unless the run reads everything: what is stored of it stays as it is.
 */
import { contentHash } from '../../change/fingerprint.ts';
import type { Claim, LastVisit } from '../../frontier/candidate.ts';
import { essenceOf, isPageType, isXmlType } from '../../parse/mime-type.ts';
import type { ParsedPage } from '../../parse/parsed-page.ts';
import { holdsXhtml } from '../../parse/xhtml-to-html.ts';
import { comparedFacts, type PageFacts, type PageTouch } from '../../store/page-facts.ts';
import type { Exchange } from '../hosts/exchange.ts';
import type { CrawlParts } from '../parts.ts';
import { compareHashes, contentOf, hasKeptLinks, isSameAnswer, touchOf, visitOf } from './compare-visit.ts';
import { NO_LINKS, redirected } from './follow-redirect.ts';
import { keepBody } from './keep-body.ts';
import { linkIdentities, linksToTell } from './list-links.ts';
import { factsOf, fillFacts, fillRobots, resolveUrl } from './page-facts.ts';
import { bareSettlement, type FoundPage, type PageSettlement, wasAnswered } from './page-settlement.ts';
import { readContent } from './read-content.ts';

const NO_BYTES = new Uint8Array(0);

export function readPage(claim: Claim, { outcome }: Exchange, around: CrawlParts): PageSettlement {
  const facts = factsOf(outcome, around.clock.now());
  const { body } = outcome;
  const head = outcome.head!;
  const bytes = body === null ? NO_BYTES : body.bytes.subarray(0, body.length);
  facts.contentHash = contentHash(bytes);
  const settlement = bareSettlement(claim, 'Processed', null);
  settlement.countsAsPage = true;
  if (around.modes.mode !== 'full' && isSameAnswer(facts, claim.last) && asksNothing(facts, claim.last)) {
    settlement.touch = wholeTouch(facts);
    settlement.visit = visitOf('unchanged', 'hash', facts, claim.last);
    return settlement;
  }
  settlement.facts = facts;
  const describeBare = () => describe(facts, { text: null, foldedText: null }, []);
  facts.contentLength = bytes.length;
  const essence = essenceOf(head.contentType);
  // Nothing is an empty page, with no text and no links, of whatever type.
  const ownParser = essence === null || bytes.length === 0 ? undefined : around.contentParsers.get(essence);
  if (ownParser === undefined && !isPage(essence, bytes) && bytes.length > 0) {
    fillRobots(facts, around.agentToken);
    if (!(facts.noindex && around.policy.respectNoindex))
      settlement.body = keepBody(facts, bytes, around.bodies);
    // What it linked to when it was a page is linked no more.
    if (claim.last !== null && claim.last.textHash !== null) settlement.links = { ...NO_LINKS };
    compareHashes(settlement, describeBare);
    return settlement;
  }
  const page =
    ownParser === undefined
      ? around.parsePage({
          bytes: body?.bytes ?? NO_BYTES,
          length: bytes.length,
          contentType: head.contentType,
          xRobotsTag: head.xRobotsTag,
          agentToken: around.agentToken,
        })
      : readContent(ownParser, { url: claim.fetchUrl, contentType: essence!, body: bytes });
  const baseUrl =
    page.baseHref === null ? claim.fetchUrl : (resolveUrl(page.baseHref, claim.fetchUrl) ?? claim.fetchUrl);
  const target = refreshTarget(page, claim, baseUrl, around);
  // It has no content: a conditional request would be answered 304, and where it leads by now would stay unknown.
  if (target !== null) return redirected(claim, target, { ...facts, contentHash: null }, around);
  fillFacts(facts, page, baseUrl, around.discovery.rulesMark);
  fillSettlement(settlement, page, baseUrl, bytes, around);
  return settlement;
}

/** By its type, or because it is an XML document that turns out to be XHTML. */
function isPage(essence: string | null, bytes: Uint8Array): boolean {
  return isPageType(essence) || (isXmlType(essence) && holdsXhtml(bytes));
}

/** Unlike a 304, which may leave them out, a whole answer without validators or a time to be fresh takes those of before away. */
function wholeTouch(facts: PageFacts): PageTouch {
  const touch = touchOf(facts);
  touch.etag ??= '';
  touch.lastModified ??= '';
  touch.cacheControl ??= '';
  return touch;
}

/** What the head says of robots, or said the last time, is no part of the body. */
function asksNothing({ xRobotsTag }: PageFacts, last: LastVisit | null): boolean {
  return xRobotsTag === null && last!.xRobotsTag === null;
}

/** A meta refresh without a pause, to another page, is a redirect. */
function refreshTarget(
  { refresh }: ParsedPage,
  claim: Claim,
  baseUrl: string,
  { policy, normalizer }: CrawlParts,
): string | null {
  if (!policy.followMetaRefresh || refresh === null || refresh.seconds !== 0 || refresh.url === null)
    return null;
  const target = resolveUrl(refresh.url, baseUrl);
  if (target === null || normalizer.normalize(target)?.url === normalizer.normalize(claim.fetchUrl)?.url)
    return null;
  return target;
}

function fillSettlement(
  settlement: PageSettlement,
  page: ParsedPage,
  baseUrl: string,
  bytes: Uint8Array,
  around: CrawlParts,
): void {
  const { policy, discovery, events } = around;
  const facts = settlement.facts!;
  const depth = settlement.claim.depth + 1;
  const hidesContent = page.robots.noindex && policy.respectNoindex;
  if (!hidesContent && bytes.length > 0) settlement.body = keepBody(facts, bytes, around.bodies);
  if (!keepsLinks(settlement, around)) {
    const found = discovery.discover(page.links, baseUrl, depth, page.robots.nofollow);
    settlement.links = found.links;
    settlement.candidates = found.candidates;
    settlement.misses = found.misses;
  }
  settlement.text = policy.storeText && !hidesContent ? page.storedText() : null;
  if (events.wantsLinks)
    settlement.toldLinks = linksToTell(page.links, baseUrl, depth, page.robots.nofollow, around);
  const describePage = (withLinks: boolean) => {
    const [text, foldedText] = [settlement.text, settlement.text && page.text].map((bytes) =>
      bytes === null ? null : Buffer.from(bytes).toString(),
    );
    return describe(
      facts,
      { text, foldedText },
      withLinks ? linkIdentities(page.links, baseUrl, around) : [],
    );
  };
  // At once: a description that waits for step 8 costs 3 % of a crawl. Only a program's own stage has to come first.
  if (around.afterParse === null) compareHashes(settlement, describePage);
  else {
    settlement.parsed = page;
    settlement.describe = describePage;
  }
}

/**
 * The links are those of the last visit, by the same rules: what is stored of them stays, as it does after a 304. Whoever is
 * told of pages is told of their links, and anchors may be others on the same links.
 */
function keepsLinks(settlement: PageSettlement, { modes, discovery, events }: CrawlParts): boolean {
  const { last } = settlement.claim;
  if (modes.mode === 'full' || last === null || !wasAnswered(last)) return false;
  return !events.wantsPages && !discovery.keepsAnchors && hasKeptLinks(settlement);
}

/** What was found, in the words of what is stored. */
function describe(
  facts: PageFacts,
  texts: Pick<FoundPage, 'text' | 'foldedText'>,
  links: string[],
): FoundPage {
  return {
    ...comparedFacts(facts),
    ...texts,
    links,
    redirectTo: null,
    type: essenceOf(facts.contentType),
    content: contentOf(facts),
  };
}
