/**
 * A program's own stage between parsing and comparing, which may take its time. Other pages are parsed meanwhile into
 * the same buffers, so what is needed later is copied first. Without such a stage nothing here is called.
 */
import { facetHash, linkDigest } from '../../change/fingerprint.ts';
import { SumiError } from '../../errors.ts';
import type { PageCorrections, ReadPage } from '../parts.ts';
import { detachFromBuffers } from './keep-body.ts';
import { linkMark } from './page-facts.ts';
import { faultSettlement } from './page-faults.ts';
import { queuedAgain } from './page-settlement.ts';
import { keepable } from './read-content.ts';
import type { PageVisit, VisitParts } from './visit-parts.ts';

export async function runAfterParse(page: PageVisit, parts: VisitParts): Promise<void> {
  const { claim } = page.settlement;
  try {
    await correct(page, parts);
  } catch (error) {
    if (error instanceof SumiError) {
      // The stage failed, not the page: that is requested again when the run goes on.
      page.failure = { error };
      page.settlement = queuedAgain(claim, { attempts: claim.attempts, notBefore: null, priority: null });
    } else page.settlement = faultSettlement(claim, error, page.exchange, parts);
  }
}

async function correct(page: PageVisit, parts: VisitParts): Promise<void> {
  const { settlement } = page;
  const { claim } = settlement;
  const parsed = settlement.parsed!;
  const facts = settlement.facts!;
  const digest = linkDigest(parsed.links, parsed.baseHref, linkMark(parsed, parts.discovery.rulesMark));
  const described = settlement.describe!(claim.last !== null);
  detachFromBuffers(settlement);
  const corrections = await corrected(page, parts);
  if (corrections === 'dropped') {
    // It was read in vain: whoever goes on with the run requests it again.
    page.settlement = queuedAgain(claim, { attempts: claim.attempts, notBefore: null, priority: null });
    return;
  }
  const { title, h1, description, lang } = corrections;
  if (title !== undefined) facts.title = keepable(title);
  if (h1 !== undefined) facts.h1 = keepable(h1);
  if (description !== undefined) facts.description = keepable(description);
  if (lang !== undefined) facts.lang = keepable(lang);
  facts.facetHash = facetHash(facts, digest);
  settlement.describe = () => ({
    ...described,
    ...{ title: facts.title, h1: facts.h1, description: facts.description },
  });
}

async function corrected(page: PageVisit, parts: VisitParts): Promise<PageCorrections | 'dropped'> {
  const { dropped, afterParse } = parts;
  let drop = () => {};
  const isDropped = new Promise<'dropped'>((resolve) => {
    drop = () => resolve('dropped');
    dropped.addEventListener('abort', drop);
  });
  try {
    const found = await Promise.race([afterParse!(readPageOf(page), dropped), isDropped]);
    return dropped.aborted ? 'dropped' : (found ?? {});
  } finally {
    dropped.removeEventListener('abort', drop);
  }
}

function readPageOf({ settlement, exchange }: PageVisit): ReadPage {
  const { claim } = settlement;
  const { title, h1, description, lang, contentType } = settlement.facts!;
  const { body, head } = exchange.outcome;
  return {
    ...{ url: claim.url, depth: claim.depth, statusCode: head!.status, contentType },
    ...{ title, h1, description, lang },
    body: body === null ? new Uint8Array(0) : body.bytes.subarray(0, body.length),
  };
}
