/**
 * What becomes of a known page when the lists or limits of a map change: the lists have the
 * first word, what was requested keeps its answer, and of the rest the new depth decides. Takes values, keeps nothing.
 */
import { PAGE_STATES, type PageState, pageStateName } from '../../frontier/page-state.ts';
import type { KnownPage, Reconsidered, Revision, Verdict } from '../../store/frontier-port.ts';

const ASKED: ReadonlySet<PageState> = new Set([
  'Processed',
  'DeadLink',
  'Unreachable',
  'Failed',
  'ContentMismatch',
  'Gone',
  'RateLimited',
]);

const { Queued, Processed, Blacklisted, Stubbed, DepthExceeded, RequestLimitHit, Skipped } = PAGE_STATES;

/** One redirect too many led there, and no link since: were it due in each run, a chain without end had none. */
export function isCutOff({ state, reason }: Pick<KnownPage, 'state' | 'reason'>): boolean {
  return state === Skipped && reason?.startsWith('redirect:') === true;
}

/** A run that only goes on leaves these as they are. A page that it left out has the answer of an earlier run, and is due. */
export function isAnsweredHere({ state, isLeftOut }: Pick<KnownPage, 'state' | 'isLeftOut'>): boolean {
  return ASKED.has(pageStateName(state)) && !isLeftOut;
}

interface RevisedBy {
  /** The scope's word on a page at its depth. */
  judge: (row: Reconsidered) => Verdict;
  /** The least depth under the new lists; null where no quality domain leads. */
  leastDepth: (pageId: number) => number | null;
  maxHostRequests: number | null;
  /** Every page is due again: no answer is kept. */
  isNewRun: boolean;
}

export function revisePage(row: KnownPage, by: RevisedBy): Revision {
  const { judge, leastDepth, maxHostRequests } = by;
  const depth = leastDepth(row.pageId);
  const verdict = depth === null ? unreached(judge({ ...row, depth: 0 })) : judge({ ...row, depth });
  const revision: Revision = { ...verdict, depth };
  if (verdict.state === Blacklisted || verdict.state === Stubbed) return revision;
  if (isCutOff(row)) return { ...revision, keepsState: true };
  if (by.isNewRun) return revision;
  if (row.state === Blacklisted || row.state === Stubbed)
    return row.wasRead ? { ...revision, state: Processed, reason: null } : revision;
  const isLimited = row.state === RequestLimitHit && row.hostRequests >= (maxHostRequests ?? Infinity);
  if (isAnsweredHere(row) || (isLimited && verdict.state === Queued))
    return { ...revision, keepsState: true };
  return revision;
}

function unreached(verdict: Verdict): Verdict {
  if (verdict.state !== Queued) return verdict;
  return { ...verdict, state: DepthExceeded, reason: 'depth: no quality domain leads here' };
}
