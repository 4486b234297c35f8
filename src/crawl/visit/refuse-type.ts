/**
 * An answer of a type that is not read, where a page or a redirect was: what was read before is said no more, and its links lead
 * nowhere. Those of a start URL do, as when it is not found: the site is hardly another one for that.
 */
import { typeHash } from '../../change/fingerprint.ts';
import type { Claim } from '../../frontier/candidate.ts';
import { essenceOf } from '../../parse/mime-type.ts';
import type { PageFacts } from '../../store/page-facts.ts';
import { compareHashes } from './compare-visit.ts';
import { NO_CONTENT, NO_LINKS } from './follow-redirect.ts';
import { bareSettlement, type PageSettlement, wasRead } from './page-settlement.ts';

/** Null where nothing was read before, or the type is the one that was: then what is wanted has changed, not the page. */
export function refusedForType(claim: Claim, reason: string, facts: PageFacts): PageSettlement | null {
  const { last } = claim;
  const type = essenceOf(facts.contentType);
  if (!wasRead(last) || (last.hasBody && type === essenceOf(last.contentType))) return null;
  facts.facetHash = typeHash(type);
  const settlement: PageSettlement = {
    ...bareSettlement(claim, 'ContentMismatch', reason),
    facts,
    countsAsPage: true,
    links: last.hasBody && claim.depth > 0 ? { ...NO_LINKS } : null,
  };
  compareHashes(settlement, () => ({ ...NO_CONTENT, statusCode: facts.statusCode, type }));
  return settlement;
}
