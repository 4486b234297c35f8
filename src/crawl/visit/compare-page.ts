/**
 * Step 8, where hashes leave something open, or a program's stage came before them: the page is compared with what is
 * stored of it, and its body is kept. Most pages need neither: for them nothing is awaited between parsing and settling,
 * and nothing is copied.
 */
import { compareHashes, compareWithPast, readPast } from './compare-visit.ts';
import { detachFromBuffers } from './keep-body.ts';
import { faultSettlement } from './page-faults.ts';
import { type PageSettlement, queuedAgain } from './page-settlement.ts';
import type { PageVisit, VisitParts } from './visit-parts.ts';

/** What hashes tell. False where the page can be settled with that. */
export function mustCompare(page: PageVisit, parts: VisitParts): boolean {
  const { claim, describe } = page.settlement;
  if (describe !== null) {
    try {
      compareHashes(page.settlement, describe);
    } catch (error) {
      page.settlement = faultSettlement(claim, error, page.exchange, parts);
    }
    // The store may keep the settlement until it commits: what was parsed must not live as long.
    page.settlement.parsed = null;
    page.settlement.describe = null;
  }
  const { found, body, facts } = page.settlement;
  if (typeof body === 'string') facts!.bodyKey = body;
  return found !== null || (body !== null && typeof body !== 'string');
}

/** Compares with what is stored, and waits until the body is kept. */
export async function comparePage(page: PageVisit, parts: VisitParts): Promise<void> {
  // Other pages are parsed into the same buffers meanwhile.
  detachFromBuffers(page.settlement);
  page.settlement = await compared(page, parts);
}

async function compared(page: PageVisit, parts: VisitParts): Promise<PageSettlement> {
  const { settlement, exchange } = page;
  const { claim, body } = settlement;
  const past = await readPast(settlement, parts.store.history);
  try {
    compareWithPast(settlement, past);
  } catch (error) {
    return faultSettlement(claim, error, exchange, parts);
  }
  try {
    if (body !== null) settlement.facts!.bodyKey = await body;
  } catch (error) {
    // Never a row that points nowhere: the page is fetched again, whenever the run goes on.
    page.failure = { error };
    return queuedAgain(claim, { attempts: claim.attempts, notBefore: null, priority: null });
  }
  return settlement;
}
