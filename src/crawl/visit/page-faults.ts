/** The settlement of a page on which a stage threw (count-faults.ts counts and tells them). */
import { SumiError } from '../../errors.ts';
import type { Claim } from '../../frontier/candidate.ts';
import type { Exchange } from '../hosts/exchange.ts';
import type { CrawlParts } from '../parts.ts';
import { bareSettlement, type PageSettlement } from './page-settlement.ts';
import { finalAnswer } from './settle-answer.ts';

/** The page's outcome when a stage threw; `exchange` is null when nothing was requested. */
export function faultSettlement(
  claim: Claim,
  error: unknown,
  exchange: Exchange | null,
  around: CrawlParts,
): PageSettlement {
  const reason = around.faults.note(claim.fetchUrl, error, claim.pageId);
  if (exchange === null) return bareSettlement(claim, 'Failed', reason);
  try {
    return finalAnswer(claim, 'Failed', reason, exchange, around);
  } catch (again) {
    if (again instanceof SumiError) throw again;
    // The answer itself is what no stage can read: the page keeps the reason alone.
    return bareSettlement(claim, 'Failed', reason);
  }
}
