/**
 * The words of change: what a visit can find, how that was known, and what is kept of each visit as history. The lists
 * are stored by position: new words go to the end.
 */
import type { PastFacts } from '../store/page-facts.ts';

/** new: read for the first time. gone: was read before and is not there any more. failed: no answer that says anything. */
export const VISIT_OUTCOMES = ['new', 'changed', 'unchanged', 'gone', 'failed'] as const;
export type VisitOutcome = (typeof VISIT_OUTCOMES)[number];

/**
 * How an outcome was known, cheapest first: no request at all (freshness, lastmod), the answer's head (304, status),
 * the body as it came (hash), what is in it (text: the bytes differ, the content does not), the link graph (orphan).
 * `content`: read and compared, or read for the first time; `network`: there was no answer.
 */
export const KNOWN_BY = [
  'freshness',
  'lastmod',
  '304',
  'hash',
  'text',
  'content',
  'status',
  'network',
  'orphan',
] as const;
export type KnownBy = (typeof KNOWN_BY)[number];

/**
 * The most that specification 003's change_frequency may be. A change seen minutes after the last visit would count as
 * hundreds a day, though it says nothing about the rest of the day.
 */
export const MOST_CHANGES_A_DAY = 24;

/** One visit of a page, as its history keeps it. */
export interface VisitRecord {
  visitedAt: number;
  outcome: VisitOutcome;
  knownBy: KnownBy;
  /** Null when nothing was asked, or nobody answered. */
  statusCode: number | null;
  etag: string | null;
  lastModified: string | null;
  /** SHA-256 of the body and of the main text; null where they were not read. */
  contentHash: Uint8Array | null;
  textHash: Uint8Array | null;
  /** Bits in which the simhash differs from the last visit's; null where one of them is missing. */
  simhashDistance: number | null;
  /** Bytes of body over the wire. */
  wireBytes: number;
  /** What the last full answer took, less what this one did, where it was spared. */
  bytesSaved: number;
  durationMs: number | null;
}

/** What of a page changed. `template`: its bytes did, and nothing of all the others. */
export const CHANGE_PARTS = [
  'status',
  'title',
  'h1',
  'description',
  'canonical',
  'robots',
  'links',
  'structured-data',
  'text',
  'redirect',
  'template',
  'type',
] as const;
export type ChangePart = (typeof CHANGE_PARTS)[number];

/** One run of words of the word diff: kept, removed or added. Long kept runs are cut to their ends, with an ellipsis. */
export type DiffPiece = readonly [kind: '=' | '-' | '+', words: string];

/** What changed between two visits of a page, whole: it can be shown when both versions are long gone. */
export interface PageChange {
  parts: ChangePart[];
  /** Single values, before and after. */
  fields: { name: ChangePart; before: string | null; after: string | null }[];
  linksAdded: string[];
  linksRemoved: string[];
  /** Null when the main text is the same, or was not kept. */
  text: DiffPiece[] | null;
  wordsAdded: number;
  wordsRemoved: number;
  /**
   * What was there until the page led elsewhere or was of a type that is refused, and what came when that was over: not told, but
   * compared with each other. Of a type that is refused, beside a redirect, the type is all there is.
   */
  lost?: KeptContent;
  gained?: KeptContent;
}

/** The content of a page but for its text, of which the hash is kept. */
export interface KeptContent extends Omit<ComparedPage, 'statusCode' | 'redirectTo' | 'text' | 'links'> {
  /** Null where they are too many to be kept. */
  links: string[] | null;
}

/** What the store has of a page, for comparison with what a visit found. */
export interface PastPage extends PastFacts {
  text: string | null;
  /** Identities of the pages it links to. */
  links: string[];
  /** Identity of the page it redirects to. */
  redirectTo: string | null;
}

/** A page as one visit has it, to be compared with another. */
export interface ComparedPage extends PastPage {
  /** Without parameters. */
  type: string | null;
  /** A page with its text, a document that is kept as it is, or nothing: it leads elsewhere, or its type is refused. */
  content: 'text' | 'document' | 'none';
}
