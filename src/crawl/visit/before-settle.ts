/**
 * A program's own stage between comparing and settling: it keeps the results of visits somewhere else, and a page is
 * settled only when that is done. After a crash such a page is visited again, so nothing is lost. A page that waits
 * here gives its connection to others, as long as few wait. Without such a stage nothing here is called.
 */
import { pageStateName } from '../../frontier/page-state.ts';
import { NO_FACTS } from '../../store/page-facts.ts';
import type { SettlingVisit } from '../parts.ts';
import type { Slots } from '../run/slots.ts';
import { detachFromBuffers } from './keep-body.ts';
import { queuedAgain } from './page-settlement.ts';
import type { PageVisit, VisitParts } from './visit-parts.ts';

/** So many pages may wait without a connection: their bodies are in memory. */
const MOST_WAITING = 256;

/** Pages that wait to be settled and have given their connection to others. */
export class WaitingToSettle {
  count = 0;
}

export async function runBeforeSettle(
  page: PageVisit,
  parts: VisitParts & { slots: Slots; waitingToSettle: WaitingToSettle },
): Promise<void> {
  const { settlement } = page;
  // Not final: the visit that decides comes later.
  if (settlement.requeue !== null) return;
  const { claim } = settlement;
  try {
    const answer = parts.beforeSettle!(visitOf(page), parts.dropped);
    if (answer === 'settle') return;
    // Other pages are parsed into the same buffers meanwhile.
    detachFromBuffers(settlement);
    if ((await withoutConnection(parts, () => orDropped(answer, parts.dropped))) === 'settle') return;
  } catch (error) {
    page.failure = { error };
  }
  // It was visited in vain: whoever goes on with the run requests it again.
  page.settlement = queuedAgain(claim, { attempts: claim.attempts, notBefore: null, priority: null });
}

async function withoutConnection<T>(
  { slots, waitingToSettle }: { slots: Slots; waitingToSettle: WaitingToSettle },
  work: () => Promise<T>,
): Promise<T> {
  if (waitingToSettle.count >= MOST_WAITING) return work();
  waitingToSettle.count++;
  slots.give();
  try {
    return await work();
  } finally {
    waitingToSettle.count--;
    slots.take();
  }
}

async function orDropped(
  answer: Promise<'settle' | 'again'> | 'again',
  dropped: AbortSignal,
): Promise<'settle' | 'again'> {
  let drop = () => {};
  const isDropped = new Promise<'again'>((resolve) => {
    drop = () => resolve('again');
    dropped.addEventListener('abort', drop);
    if (dropped.aborted) drop();
  });
  try {
    return await Promise.race([answer, isDropped]);
  } finally {
    dropped.removeEventListener('abort', drop);
  }
}

function visitOf({ turn, settlement, exchange }: PageVisit): SettlingVisit {
  const { claim, visit, redirect, candidates } = settlement;
  const { outcome } = exchange;
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
    responseMs: outcome.responseMs,
    redirectTo: redirect === null ? null : candidates[redirect.candidate].url,
    text: settlement.text,
    body: body === null ? null : body.bytes.subarray(0, body.length),
  };
}
