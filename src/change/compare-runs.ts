/**
 * What became of the pages of a project between two of its runs, from the outcomes of their visits alone: whether a
 * page existed after the first run and after the second, and whether anything happened in between. merge-changes.ts
 * combines the steps in between. Asks nobody.
 */
import type { KnownBy, VisitOutcome } from './visit-record.ts';

export interface BriefVisit {
  run: number;
  pageId: number;
  outcome: VisitOutcome;
  knownBy: KnownBy;
}

/** failed: the last visit got no answer about the content, so nobody knows what became of the page. */
export const RUN_DIFFERENCES = ['changed', 'added', 'removed', 'failed'] as const;
export type RunDifference = (typeof RUN_DIFFERENCES)[number];

export interface PageDifference {
  pageId: number;
  difference: RunDifference;
  /** Visits in between that found it changed or gone. With several, a change may have been undone. */
  steps: number;
}

export interface RunComparison {
  /** In the order of ids. */
  differences: PageDifference[];
  unchanged: number;
  /** It existed after the first run, and was not visited since: nothing is known of it. */
  unvisited: number;
}

/** The state of a page in one number: bits, and above them the steps since the first run. */
const WAS_THERE = 1;
const IS_THERE = 2;
const HAD_FAILED = 4;
const HAS_FAILED = 8;
const WAS_VISITED_SINCE = 16;
/** Nothing leads to it any more. Whatever visits find, it does not count as existing until something leads there. */
const IS_ORPHAN = 32;
/** At least one visit gave information. */
const IS_KNOWN = 64;
const ONE_STEP = 128;

/** `visits` of all runs up to the second, oldest first. */
export async function compareRuns(
  visits: AsyncIterable<BriefVisit>,
  firstRun: number,
  secondRun: number,
): Promise<RunComparison> {
  const pages = new Map<number, number>();
  for await (const visit of visits) {
    if (visit.run > secondRun) break;
    const bits = pages.get(visit.pageId) ?? 0;
    pages.set(visit.pageId, visit.run <= firstRun ? asBefore(bitsAfter(bits, visit)) : stepOf(bits, visit));
  }
  const comparison: RunComparison = { differences: [], unchanged: 0, unvisited: 0 };
  for (const pageId of [...pages.keys()].sort((a, b) => a - b)) {
    const bits = pages.get(pageId)!;
    const verdict = verdictOf(bits);
    if (verdict === 'unchanged' || verdict === 'unvisited') comparison[verdict]++;
    else if (verdict !== null)
      comparison.differences.push({ pageId, difference: verdict, steps: Math.floor(bits / ONE_STEP) });
  }
  return comparison;
}

/** Null: it existed at neither end. */
function verdictOf(bits: number): RunDifference | 'unchanged' | 'unvisited' | null {
  const [wasThere, isThere] = [(bits & WAS_THERE) !== 0, (bits & IS_THERE) !== 0];
  if ((bits & WAS_VISITED_SINCE) === 0) return wasThere ? 'unvisited' : null;
  // A page that was never read, and failed before, too, is no difference.
  if (bits & HAS_FAILED) return wasThere || isThere || !(bits & HAD_FAILED) ? 'failed' : null;
  if (!wasThere) return isThere ? 'added' : null;
  if (!isThere) return 'removed';
  return bits >= ONE_STEP ? 'changed' : 'unchanged';
}

/** The state after a visit of the first run, or of one before it. */
function asBefore(bits: number): number {
  const now = bits & (IS_THERE | IS_ORPHAN | IS_KNOWN | HAS_FAILED);
  return now | (bits & IS_THERE ? WAS_THERE : 0) | (bits & HAS_FAILED ? HAD_FAILED : 0);
}

/** After a visit since the first run. */
function stepOf(before: number, visit: BriefVisit): number {
  const bits = bitsAfter(before, visit) | WAS_VISITED_SINCE;
  const isStep = visit.outcome === 'changed' || visit.outcome === 'gone';
  // The oldest kept visit tells about an older one: the page existed then.
  const speaksOfOlder = isStep || ((bits & IS_THERE) !== 0 && visit.outcome === 'unchanged');
  const wasThere = (before & IS_KNOWN) === 0 && speaksOfOlder;
  return (bits | (wasThere ? WAS_THERE : 0)) + (isStep ? ONE_STEP : 0);
}

function bitsAfter(before: number, { outcome, knownBy }: BriefVisit): number {
  if (outcome === 'failed') return before | HAS_FAILED;
  const bits = (before & ~HAS_FAILED) | IS_KNOWN;
  if (outcome === 'gone') return (bits & ~IS_THERE) | (knownBy === 'orphan' ? IS_ORPHAN : 0);
  if (outcome === 'changed' && knownBy === 'orphan') return (bits & ~IS_ORPHAN) | IS_THERE;
  if (outcome === 'changed' || outcome === 'new') return bits & IS_ORPHAN ? bits : bits | IS_THERE;
  // Unchanged: the state stays. If the state is not known, the page existed, unless the visit only saw the same status
  // again.
  return before & IS_KNOWN || knownBy === 'status' ? bits : bits | IS_THERE;
}
