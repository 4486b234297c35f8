/** What a visit found, as the store keeps it: first what the answer's head says, then what the page itself says. */

import { facetHash, linkDigest, simhashInteger, textHash } from '../../change/fingerprint.ts';
import { atArrival } from '../../change/freshness.ts';
import type { Outcome, ResponseHead } from '../../fetch/fetcher.ts';
import { parseHttpDate } from '../../parse/http-date.ts';
import type { ParsedPage, RobotsDirectives } from '../../parse/parsed-page.ts';
import { addRobotsHeader } from '../../parse/robots-directives.ts';
import type { PageFacts, PageTouch } from '../../store/settlement.ts';

/** Our clock is preferred when the server's is further off than this. */
const MAX_DATE_SKEW_MS = 15 * 60 * 1000;

/** `linkRules`: the mark of the rules by which links are judged. */
export function fillFacts(facts: PageFacts, page: ParsedPage, baseUrl: string, linkRules: number): void {
  facts.title = page.title;
  facts.h1 = page.h1;
  facts.description = page.description;
  facts.lang = page.lang;
  facts.charset = page.charset;
  facts.canonical = page.canonical === null ? null : (resolveUrl(page.canonical, baseUrl) ?? page.canonical);
  facts.noindex = page.robots.noindex;
  facts.nofollow = page.robots.nofollow;
  facts.robotsOther = page.robots.other;
  facts.wordCount = page.wordCount;
  facts.simhash = simhashInteger(page.simhashHigh, page.simhashLow);
  facts.structuredData = page.structuredData;
  facts.textHash = textHash(page.text);
  const mark = page.robots.nofollow ? ~linkRules : linkRules;
  facts.facetHash = facetHash(facts, linkDigest(page.links, page.baseHref, mark));
}

/** What the head asks of robots for a body that cannot ask itself: a picture, a document. */
export function fillRobots(facts: PageFacts, agentToken: string): void {
  if (facts.xRobotsTag === null) return;
  const robots: RobotsDirectives = { noindex: false, nofollow: false, other: '' };
  addRobotsHeader(facts.xRobotsTag, agentToken, robots);
  facts.noindex = robots.noindex;
  facts.nofollow = robots.nofollow;
  facts.robotsOther = robots.other;
}

/** What an answer's head says of a page that it does not show. */
export function touchedBy({ head, responseMs }: Outcome, nowMs: number): PageTouch {
  return {
    statusCode: head?.status ?? null,
    error: null,
    responseMs: responseMs === null ? null : Math.round(responseMs),
    visitedAt: visitTime(head, nowMs),
    etag: head?.etag ?? null,
    lastModified: head?.lastModified ?? null,
    cacheControl: head === null ? null : atArrival(head.cacheControl, head.age),
  };
}

export function factsOf(outcome: Outcome, nowMs: number): PageFacts {
  const { head } = outcome;
  const touch = touchedBy(outcome, nowMs);
  return {
    statusCode: touch.statusCode,
    contentType: head?.contentType ?? null,
    contentLength: head?.contentLength ?? null,
    title: null,
    h1: null,
    description: null,
    lang: null,
    charset: null,
    canonical: null,
    noindex: false,
    nofollow: false,
    robotsOther: '',
    xRobotsTag: head?.xRobotsTag ?? null,
    wordCount: null,
    contentHash: null,
    simhash: null,
    textHash: null,
    facetHash: null,
    structuredData: null,
    wireBytes: outcome.wireBytes,
    etag: touch.etag,
    lastModified: touch.lastModified,
    cacheControl: touch.cacheControl,
    bodyKey: null,
    error: null,
    responseMs: touch.responseMs,
    visitedAt: touch.visitedAt,
  };
}

let lastDate = '';
let lastDateMs: number | null = null;

/** The server's Date when it is plausible, so that crawls from several machines agree. */
function visitTime(head: ResponseHead | null, nowMs: number): number {
  if (!head?.date) return nowMs;
  // Answers of one second carry the same date.
  if (head.date !== lastDate) {
    lastDate = head.date;
    lastDateMs = parseHttpDate(head.date, nowMs);
  }
  const serverMs = lastDateMs;
  return serverMs !== null && Math.abs(serverMs - nowMs) <= MAX_DATE_SKEW_MS ? serverMs : nowMs;
}

export function resolveUrl(reference: string, base: string): string | null {
  return URL.canParse(reference, base) ? new URL(reference, base).href : null;
}
