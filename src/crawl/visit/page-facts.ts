/** What a visit found, as the store keeps it: first what the answer's head says, then what the page itself says. */

import { facetHash, linkDigest, simhashInteger, textHash } from '../../change/fingerprint.ts';
import { atArrival } from '../../change/freshness.ts';
import type { Outcome, ResponseHead } from '../../fetch/fetcher.ts';
import { parseHttpDate } from '../../parse/http-date.ts';
import type { ParsedPage, RobotsDirectives } from '../../parse/parsed-page.ts';
import { addRobotsHeader } from '../../parse/robots-directives.ts';
import { NO_FACTS, PARSED_FACTS, type PageFacts, type PageTouch } from '../../store/page-facts.ts';

/** Our clock is preferred when the server's is further off than this. */
const MAX_DATE_SKEW_MS = 15 * 60 * 1000;

/** `linkRules`: the mark of the rules by which links are judged. */
export function fillFacts(facts: PageFacts, page: ParsedPage, baseUrl: string, linkRules: number): void {
  for (const name of PARSED_FACTS) copyFact(facts, page, name);
  facts.canonical = page.canonical === null ? null : (resolveUrl(page.canonical, baseUrl) ?? page.canonical);
  facts.noindex = page.robots.noindex;
  facts.nofollow = page.robots.nofollow;
  facts.robotsOther = page.robots.other;
  facts.simhash = simhashInteger(page.simhashHigh, page.simhashLow);
  facts.textHash = textHash(page.text);
  facts.facetHash = facetHash(facts, linkDigest(page.links, page.baseHref, linkMark(page, linkRules)));
}

export function linkMark({ robots }: ParsedPage, linkRules: number): number {
  return robots.nofollow ? ~linkRules : linkRules;
}

function copyFact<Name extends keyof PageFacts>(
  facts: PageFacts,
  from: Pick<PageFacts, Name>,
  name: Name,
): void {
  facts[name] = from[name];
}

/** What X-Robots-Tag says of a body that has no robots meta of its own: a picture, a document. */
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
  return {
    ...NO_FACTS,
    ...touchedBy(outcome, nowMs),
    contentType: head?.contentType ?? null,
    contentLength: head?.contentLength ?? null,
    xRobotsTag: head?.xRobotsTag ?? null,
    wireBytes: outcome.wireBytes,
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
