/** Words of pages and visits that several answers have; the compiler checks that none is missing. */
import { z } from 'zod';
import type { KnownBy, VisitOutcome } from '../change/visit-record.ts';
import type { PageState } from '../frontier/page-state.ts';

const PAGE_STATES: Record<PageState, true> = {
  ...{ Discovered: true, Queued: true, Fetching: true, Processed: true, Blacklisted: true, Stubbed: true },
  ...{ DeadLink: true, Unreachable: true, RateLimited: true, Failed: true, DepthExceeded: true },
  ...{ RequestLimitHit: true, ContentMismatch: true, Skipped: true, Gone: true },
};
const OUTCOMES: Record<VisitOutcome, true> = {
  new: true,
  changed: true,
  unchanged: true,
  gone: true,
  failed: true,
};
const KNOWN_BY: Record<KnownBy, true> = {
  ...{ freshness: true, lastmod: true, '304': true, hash: true, text: true, content: true, status: true },
  ...{ network: true, orphan: true },
};

const wordsOf = <Word extends string>(table: Record<Word, true>) =>
  z.enum(Object.keys(table) as [Word, ...Word[]]);

export const pageState = wordsOf(PAGE_STATES);
export const visitOutcome = wordsOf(OUTCOMES);
export const knownBy = wordsOf(KNOWN_BY);

/** The same as lists. */
export const PAGE_STATE_NAMES = Object.keys(PAGE_STATES) as [PageState, ...PageState[]];
export const VISIT_OUTCOME_NAMES = Object.keys(OUTCOMES) as [VisitOutcome, ...VisitOutcome[]];
export const KNOWN_BY_NAMES = Object.keys(KNOWN_BY) as [KnownBy, ...KnownBy[]];
