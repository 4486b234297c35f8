/**
 * Which known pages a CRAWL asks for again. The table is the truth: a page whose row is there, and is no passing failure,
 * is left alone; one whose row is missing is asked for, whatever the store beside the table says.
 */
import { PAGE_STATES, type PageStateCode } from '../../frontier/page-state.ts';
import type { KnownPage } from '../../store/frontier-port.ts';
import type { KnownRows } from './known-rows.ts';

const {
  Processed,
  DeadLink,
  Unreachable,
  RateLimited,
  Failed,
  RequestLimitHit,
  ContentMismatch,
  Skipped,
  Gone,
  DepthExceeded,
} = PAGE_STATES;

const ANSWERED: ReadonlySet<PageStateCode> = new Set([
  ...[Processed, DeadLink, Unreachable, RateLimited, Failed, RequestLimitHit, ContentMismatch, Gone],
]);

/** Skipped by something that this statement may see otherwise. */
const BY_STATEMENT = /^(limit|where|table|robots|depth):/;

export interface DueRules {
  known: KnownRows;
  isInput: (url: string) => boolean;
  /** Of input: it stands for what its sitemaps name, and is a page only where it has none. */
  isSite: (url: string) => boolean;
  followsLinks: boolean;
  /** The page is one that sitemaps of the statement's sites name. */
  isNamedBySitemap: (url: string) => boolean;
}

export function createDue(rules: DueRules): (page: KnownPage) => boolean {
  const { known, isInput, isSite, followsLinks, isNamedBySitemap } = rules;
  return ({ url, state, reason }) => {
    if (state === PAGE_STATES.Queued || known.standing(url) === 'known') return false;
    const isAnswered = ANSWERED.has(state);
    if (isInput(url) && (isAnswered || !isSite(url))) return true;
    if (!isAnswered && !((state === Skipped || state === DepthExceeded) && BY_STATEMENT.test(reason ?? '')))
      return false;
    return followsLinks || isNamedBySitemap(url);
  };
}
