/**
 * A program's own stage between comparing and settling: it keeps the results of visits somewhere else, and a page is
 * settled only when that is done. After a crash such a page is visited again, so nothing is lost. A page that waits
 * here gives its connection to others, as long as few wait. Without such a stage nothing here is called.
 */
import type { Outcome } from '../../fetch/fetcher.ts';
import { pageStateName } from '../../frontier/page-state.ts';
import { NO_FACTS } from '../../store/page-facts.ts';
import type { PageTurn } from '../hosts/leased-host.ts';
import type { BeforeSettle, SettlingVisit } from '../parts.ts';
import { detachFromBuffers } from './keep-body.ts';
import { type PageSettlement, queuedAgain } from './page-settlement.ts';
import type { PageVisit, VisitParts } from './visit-parts.ts';
import { type WaitParts, waitForProgram } from './wait-for-program.ts';

export async function runBeforeSettle(page: PageVisit, parts: VisitParts & WaitParts): Promise<void> {
  const { settlement } = page;
  // Not final: the visit that decides comes later.
  if (settlement.requeue !== null) return;
  const { claim } = settlement;
  try {
    const answer = parts.beforeSettle!(visitOf(page), parts.dropped);
    if (answer === 'settle') return;
    // Other pages are parsed into the same buffers meanwhile.
    detachFromBuffers(settlement);
    if ((await waited(answer, parts)) === 'settle') return;
  } catch (error) {
    page.failure = { error };
  }
  // It was visited in vain: whoever goes on with the run requests it again.
  page.settlement = queuedAgain(claim, { attempts: claim.attempts, notBefore: null, priority: null });
}

/**
 * The same for a page that was refused without a request: what becomes of it. What the stage throws is thrown when the page
 * is queued again.
 */
export async function tellRefusal(
  turn: PageTurn,
  settlement: PageSettlement,
  parts: VisitParts & WaitParts,
): Promise<Pick<PageVisit, 'settlement' | 'failure'>> {
  let failure: PageVisit['failure'] = null;
  try {
    const visit = describeVisit(turn, settlement, NO_OUTCOME);
    if ((await waited(parts.beforeSettle!(visit, parts.dropped), parts)) === 'settle')
      return { settlement, failure };
  } catch (error) {
    failure = { error };
  }
  const { claim } = settlement;
  const again = { attempts: claim.attempts, notBefore: null, priority: null };
  return { settlement: queuedAgain(claim, again), failure };
}

async function waited(answer: ReturnType<BeforeSettle>, parts: WaitParts): Promise<'settle' | 'again'> {
  if (typeof answer === 'string') return answer;
  const found = await waitForProgram(answer, parts);
  return found === 'dropped' ? 'again' : found;
}

/** Nothing was requested. */
const NO_OUTCOME: Pick<Outcome, 'head' | 'body' | 'failure' | 'responseMs'> = {
  ...{ head: null, body: null, failure: null, responseMs: null },
};

const visitOf = ({ turn, settlement, exchange }: PageVisit) =>
  describeVisit(turn, settlement, exchange.outcome);

function describeVisit(
  turn: PageTurn,
  settlement: PageSettlement,
  outcome: typeof NO_OUTCOME,
): SettlingVisit {
  const { claim, visit, redirect, candidates } = settlement;
  const { body, head } = outcome;
  return {
    pageId: claim.pageId,
    url: claim.url,
    fetchUrl: turn.claim.fetchUrl,
    depth: claim.depth,
    state: pageStateName(settlement.state),
    reason: settlement.reason,
    outcome: visit?.outcome ?? null,
    knownBy: visit?.knownBy ?? null,
    failure: outcome.failure,
    statusCode: head?.status ?? null,
    facts: settlement.facts ?? { ...NO_FACTS, ...settlement.touch },
    hasFacts: settlement.facts !== null,
    date: head?.date ?? null,
    headers: head?.fields ?? null,
    responseMs: outcome.responseMs,
    redirectTo: redirect === null ? null : candidates[redirect.candidate].url,
    text: settlement.text,
    body: body === null ? null : body.bytes.subarray(0, body.length),
  };
}
