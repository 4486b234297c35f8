/** A program's own word on what a page leads to, before the page is settled (judge-urls.ts). Without it nothing here is called. */
import { detachFromBuffers } from './keep-body.ts';
import { queuedAgain } from './page-settlement.ts';
import type { PageVisit, VisitParts } from './visit-parts.ts';
import { type WaitParts, waitForProgram } from './wait-for-program.ts';

export async function judgeFound(page: PageVisit, parts: VisitParts & WaitParts): Promise<void> {
  const { settlement } = page;
  const { claim, candidates } = settlement;
  try {
    const judged = parts.urlJudge!.judge(candidates, parts.dropped);
    if (judged === null) return;
    // Other pages are parsed into the same buffers meanwhile.
    detachFromBuffers(settlement);
    if ((await waitForProgram(judged, parts)) !== 'dropped') return;
  } catch (error) {
    page.failure = { error };
  }
  // It was visited in vain: whoever goes on with the run requests it again.
  page.settlement = queuedAgain(claim, { attempts: claim.attempts, notBefore: null, priority: null });
}
