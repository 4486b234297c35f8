/**
 * What became of the pages of a project between two of its runs, from the outcomes of their visits alone: whether a page
 * was there after the first, whether it is there after the second, and whether a change was seen in between. Runs that
 * visit only some of the pages count like all others: a page that was not visited is as it was. Asks nobody.
 */
import type { KnownBy, VisitOutcome } from './visit-record.ts';

export interface BriefVisit {
  run: number;
  pageId: number;
  outcome: VisitOutcome;
  knownBy: KnownBy;
}

export type RunDifference = 'added' | 'removed' | 'changed';

export interface PageDifference {
  pageId: number;
  difference: RunDifference;
  /** Visits in between that found it changed. */
  changes: number;
}

export interface RunComparison {
  /** In the order of ids. */
  differences: PageDifference[];
  unchanged: number;
}

/** What is held of a page, in one number: two bits, and how often it changed since the first run. */
const WAS_THERE = 1;
const IS_THERE = 2;
const ONE_CHANGE = 4;

/** `visits` of all runs up to the second, oldest first. */
export async function compareRuns(
  visits: AsyncIterable<BriefVisit>,
  firstRun: number,
  secondRun: number,
): Promise<RunComparison> {
  const pages = new Map<number, number>();
  for await (const { run, pageId, outcome, knownBy } of visits) {
    if (run > secondRun) break;
    const before = pages.get(pageId) ?? 0;
    const isThere = isThereAfter(outcome, knownBy, pages.has(pageId) ? (before & IS_THERE) !== 0 : null);
    if (isThere === null) continue;
    const now = isThere ? IS_THERE : 0;
    if (run <= firstRun) pages.set(pageId, isThere ? now | WAS_THERE : now);
    else pages.set(pageId, (before & ~IS_THERE) + now + (outcome === 'changed' ? ONE_CHANGE : 0));
  }
  const comparison: RunComparison = { differences: [], unchanged: 0 };
  for (const pageId of [...pages.keys()].sort((a, b) => a - b)) {
    const bits = pages.get(pageId)!;
    const [wasThere, isThere] = [(bits & WAS_THERE) !== 0, (bits & IS_THERE) !== 0];
    if (!wasThere && !isThere) continue;
    const changes = Math.floor(bits / ONE_CHANGE);
    const difference = !wasThere ? 'added' : !isThere ? 'removed' : changes > 0 ? 'changed' : null;
    if (difference === null) comparison.unchanged++;
    else comparison.differences.push({ pageId, difference, changes });
  }
  return comparison;
}

/** Null where the visit says nothing about a page of which nothing is known. */
function isThereAfter(outcome: VisitOutcome, knownBy: KnownBy, before: boolean | null): boolean | null {
  if (outcome === 'new' || outcome === 'changed') return true;
  if (outcome === 'gone') return false;
  // Failed says nothing. Unchanged: as it was; older history may have been cleared, then it was there, unless all that
  // is known is that it gave the same status again.
  if (outcome === 'unchanged' && before === null) return knownBy === 'status' ? null : true;
  return before;
}
