/**
 * Step 8: what a visit found against what was known, as the line of history that is kept of it. Hashes decide where
 * they can, without asking the store; only where they differ is the stored page compared part by part.
 *
 * It never decides what is stored of a page, or whether it is requested again: that is read-page.ts and settle-answer.ts.
 */
import { comparePages, noChange } from '../../change/compare-pages.ts';
import { hasSameLinks, isSameHash, redirectHash, simhashDistance } from '../../change/fingerprint.ts';
import { changeFrequencyAfter } from '../../change/revisit/change-frequency.ts';
import type {
  ComparedPage,
  KnownBy,
  PageChange,
  PastPage,
  VisitOutcome,
  VisitRecord,
} from '../../change/visit-record.ts';
import type { Outcome } from '../../fetch/fetcher.ts';
import type { LastVisit } from '../../frontier/candidate.ts';
import { essenceOf, isPageType } from '../../parse/mime-type.ts';
import type { HistoryPort } from '../../store/history-port.ts';
import type { PageFacts, PageTouch } from '../../store/page-facts.ts';
import { type FoundPage, type PageSettlement, wasAnswered, wasRead } from './page-settlement.ts';

const DAY_MS = 86_400_000;

/** A visit that was answered, or tried to be. */
export function visitOf(
  found: VisitOutcome,
  knownBy: KnownBy,
  facts: PageFacts,
  last: LastVisit | null,
): VisitRecord {
  return {
    visitedAt: facts.visitedAt,
    outcome: found,
    knownBy,
    statusCode: facts.statusCode,
    etag: facts.etag,
    lastModified: facts.lastModified,
    contentHash: facts.contentHash,
    textHash: facts.textHash,
    simhashDistance:
      last === null || facts.simhash === null ? null : simhashDistance(facts.simhash, last.simhash),
    wireBytes: facts.wireBytes,
    bytesSaved: 0,
    durationMs: facts.responseMs,
  };
}

/** What is told of a page beside what was read of it before. */
export function touchOf(facts: PageFacts): PageTouch {
  const { statusCode, error, responseMs, visitedAt, etag, lastModified, cacheControl } = facts;
  return { statusCode, error, responseMs, visitedAt, etag, lastModified, cacheControl };
}

/** What the server kept to itself, because we have it. */
export function bytesSpared(last: LastVisit, { wireBytes }: Pick<Outcome, 'wireBytes'>): number {
  return Math.max(0, last.wireBytes - wireBytes);
}

/** The body is the very one that was read last, of a page that was there. */
export function isSameBody(facts: PageFacts, last: LastVisit | null): boolean {
  return last !== null && isSameHash(facts.contentHash, last.contentHash) && hasSameStatus(facts, last);
}

/** It is also read as it was then: another charset makes other words and links of the same bytes. */
export function isSameAnswer(facts: PageFacts, last: LastVisit | null): boolean {
  return isSameBody(facts, last) && facts.contentType === last!.contentType;
}

/** A failure in between is no other status of the page; being gone is. */
function hasSameStatus(facts: PageFacts, last: LastVisit): boolean {
  return statusBefore(last, facts.statusCode) === facts.statusCode;
}

function statusBefore(last: LastVisit, now: number | null): number | null {
  // Of the answer that said so, a failure since has left nothing but that.
  if (last.isGone) return last.statusCode === 410 ? 410 : 404;
  return wasAnswered(last) ? last.statusCode : now;
}

/**
 * Gives the settlement of a page that was read, or led on, its line of history; where hashes do not decide, what was
 * found is left in it for `compareWithStored`. Links are only told where they may have changed: there are many.
 */
export function compareHashes(settlement: PageSettlement, describe: (withLinks: boolean) => FoundPage): void {
  const facts = settlement.facts!;
  const { last } = settlement.claim;
  if (!wasRead(last)) {
    settlement.visit = visitOf('new', settlement.redirect === null ? 'content' : 'status', facts, last);
  } else if (isSameAnswer(facts, last) && !hasOtherFacets(facts, last)) {
    settlement.visit = visitOf('unchanged', 'hash', facts, last);
  } else if (isSameHash(facts.facetHash, last.facetHash) && hasSameText(facts, last)) {
    settlement.visit = visitOf('unchanged', knownUnchangedBy(settlement), facts, last);
  } else {
    settlement.visit = visitOf('changed', 'content', facts, last);
    settlement.found = describe(mayHaveOtherLinks(settlement));
  }
}

function knownUnchangedBy({ facts, claim }: PageSettlement): KnownBy {
  // It leads to the same place, or is of the same type that is refused.
  if (facts!.contentHash === null) return 'status';
  return isSameBody(facts!, claim.last) ? 'hash' : 'text';
}

/** The links are those that were found last, as far as hashes tell; of a page that was read before. */
export function hasKeptLinks({ facts, claim, redirect }: PageSettlement): boolean {
  const isPage = redirect === null && facts!.textHash !== null && claim.last!.textHash !== null;
  return isPage && hasSameLinks(facts!.facetHash, claim.last!.facetHash);
}

/** The same body has the same links, though rules that changed may take them for others. */
function mayHaveOtherLinks(settlement: PageSettlement): boolean {
  return !hasKeptLinks(settlement) && !isSameAnswer(settlement.facts!, settlement.claim.last);
}

/** The same body may come with another X-Robots-Tag, or be read by a crawler of another name. */
function hasOtherFacets({ facetHash, textHash, xRobotsTag }: PageFacts, last: LastVisit): boolean {
  // A picture or a document has no facets but what its head says of robots.
  if (textHash === null && last.textHash === null && xRobotsTag !== last.xRobotsTag) return true;
  return facetHash !== null && last.facetHash !== null && !isSameHash(facetHash, last.facetHash);
}

function hasSameText(facts: PageFacts, last: LastVisit): boolean {
  if (!hasSameStatus(facts, last)) return false;
  return facts.textHash === null ? last.textHash === null : isSameHash(facts.textHash, last.textHash);
}

/** What is stored of the page, for what the hashes left open; null also where they decided. */
export async function readPast(
  settlement: PageSettlement,
  history: Pick<HistoryPort, 'past'>,
): Promise<PastPage | null> {
  if (settlement.found === null) return null;
  return history.past(settlement.claim.pageId, mayHaveOtherLinks(settlement));
}

/** The rest of the comparison, with what `readPast` gave. */
export function compareWithPast(settlement: PageSettlement, past: PastPage | null): void {
  const { claim, found } = settlement;
  if (found === null) return;
  const facts = settlement.facts!;
  const last = claim.last!;
  const change = past === null ? null : findChange(past, found, facts, last);
  settlement.change = change;
  if (change === null || change.parts.length === 0) {
    settlement.visit!.outcome = past === null ? 'new' : 'unchanged';
    settlement.visit!.knownBy = past === null ? 'content' : knownUnchangedBy(settlement);
    return;
  }
  countChange(settlement, last);
}

/** How often the page changes, and how many changes were seen. */
function countChange(settlement: PageSettlement, last: LastVisit): void {
  const days = (settlement.visit!.visitedAt - last.visitedAt) / DAY_MS;
  settlement.changeFrequency = changeFrequencyAfter(last.changeFrequency, true, days);
  settlement.changesDetected = last.changesDetected + 1;
}

function findChange(past: PastPage, page: FoundPage, facts: PageFacts, last: LastVisit): PageChange | null {
  // A stored text of one line may be of an older version: the shape that texts have now is no change of it.
  const isFolded = past.text !== null && !past.text.includes('\n');
  const text = isFolded ? page.foldedText : page.text;
  // Where the hash is the same the text is, whatever shape it has.
  const isSameText = facts.textHash !== null && isSameHash(facts.textHash, last.textHash);
  const found: ComparedPage = { ...page, text: isSameText ? past.text : text };
  const before: ComparedPage = {
    ...past,
    type: essenceOf(last.contentType),
    content: contentOf(last),
    statusCode: statusOfPast(last, past, found.statusCode),
    // Read by a version that did not keep them: nothing is known of them.
    ...(past.robotsOther === null ? robotsBefore(past, found, facts) : null),
    structuredData: last.facetHash === null ? found.structuredData : past.structuredData,
  };
  const change = comparePages(before, found);
  const isEmpty = before.content === 'none' || found.content === 'none';
  if (isEmpty || (past.text !== null && found.text !== null) || !hasOtherText(facts, last)) return change;
  const told = change ?? noChange();
  return told.parts.includes('text') ? told : { ...told, parts: [...told.parts, 'text'] };
}

/** Redirects, and a page that leads on by a refresh. */
const LEADING_STATUSES = [301, 302, 303, 307, 308, 200];

/** Where a failure took the place of the status of what is stored, its redirect still tells it; a page had a success. */
function statusOfPast(last: LastVisit, { redirectTo }: PastPage, now: number | null): number | null {
  if (last.isGone || wasAnswered(last)) return statusBefore(last, now);
  if (redirectTo === null) return now !== null && now < 300 ? now : 200;
  const isOwn = (status: number) => isSameHash(redirectHash(status, redirectTo), last.facetHash);
  return LEADING_STATUSES.find(isOwn) ?? now;
}

/** What it is to be compared by. */
export function contentOf({ contentHash, textHash }: PageFacts | LastVisit): ComparedPage['content'] {
  if (contentHash === null) return 'none';
  return textHash === null ? 'document' : 'text';
}

/** That version read them from pages only, and no others than these two. */
function robotsBefore(past: PastPage, found: ComparedPage, facts: PageFacts) {
  const { noindex, nofollow } = facts.textHash === null ? found : past;
  return { noindex, nofollow, robotsOther: found.robotsOther };
}

/** For texts that are not kept, by hash: of the main text, or of the whole body where there is no text to read. */
function hasOtherText(facts: PageFacts, last: LastVisit): boolean {
  if (facts.textHash !== null && last.textHash !== null) return !isSameHash(facts.textHash, last.textHash);
  // A page without facets was read by a version that hashed no text; a document never has any.
  if (facts.textHash !== null || last.textHash !== null)
    return last.facetHash !== null || !isPageType(essenceOf(last.contentType));
  return last.contentHash !== null && !isSameHash(facts.contentHash, last.contentHash);
}
