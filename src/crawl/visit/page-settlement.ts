/** What a turn of a page comes to: the store's settlement, and beside it what is done with it before and after. */
import type { ComparedPage } from '../../change/visit-record.ts';
import type { ToldLink } from '../../events/events.ts';
import type { Claim, LastVisit } from '../../frontier/candidate.ts';
import { PAGE_STATES, type PageState } from '../../frontier/page-state.ts';
import type { ParsedPage } from '../../parse/parsed-page.ts';
import type { Settlement } from '../../store/settlement.ts';
import { type Misses, NO_MISSES } from '../discover/discover-links.ts';
import type { KeptBody } from './keep-body.ts';

/** What a visit found, to be compared with what is stored. */
export interface FoundPage extends ComparedPage {
  /** The main text as versions up to 0.1 stored it: on one line, signs of permalinks included. */
  foldedText: string | null;
}

export interface PageSettlement extends Settlement {
  misses: Misses;
  body: KeptBody | null;
  /** Null unless an output sink wants them. */
  toldLinks: ToldLink[] | null;
  /** For a program's stage: what was parsed, in buffers that the next page uses again, and how to describe it. */
  parsed: ParsedPage | null;
  describe: ((withLinks: boolean) => FoundPage) | null;
  /** The hashes differ from the last visit's: this is to be compared with what is stored. */
  found: FoundPage | null;
}

/** Without anything found yet; the numbers of change as they were. */
export function bareSettlement(claim: Claim, state: PageState, reason: string | null): PageSettlement {
  const { last } = claim;
  return {
    claim,
    state: PAGE_STATES[state],
    reason,
    requeue: null,
    facts: null,
    touch: null,
    visit: null,
    change: null,
    changeFrequency: last === null ? 0 : last.changeFrequency,
    changesDetected: last === null ? 0 : last.changesDetected,
    text: null,
    links: null,
    candidates: [],
    redirect: null,
    countsAsPage: false,
    misses: NO_MISSES,
    body: null,
    toldLinks: null,
    parsed: null,
    describe: null,
    found: null,
  };
}

/** Not final: the page is queued once more. */
export function queuedAgain(claim: Claim, requeue: NonNullable<Settlement['requeue']>): PageSettlement {
  return { ...bareSettlement(claim, 'Queued', null), requeue };
}

/** Some visit of it got an answer that was read, or that led on: not always one of a type that is refused, or a redirect to nowhere. */
export function wasRead(last: LastVisit | null): last is LastVisit {
  // Hashes last: a store may have to read them.
  return last !== null && (last.hasBody || last.facetHash !== null);
}

/**
 * The last visit got the page, or where it is. A 304 to an unconditional request is a failure, and so is a redirect that left what
 * was read before: one that leads somewhere takes its place.
 */
export function wasAnswered({ statusCode, hasBody }: LastVisit): boolean {
  if (statusCode === null || statusCode < 200 || statusCode === 304) return false;
  return statusCode < 300 || (statusCode < 400 && !hasBody);
}
