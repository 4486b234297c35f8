/**
 * The words of change: what a visit can find, how that was known, and what the history keeps of each visit. The lists
 * are stored by position: new words go to the end.
 */
import type { PastFacts } from '../store/page-facts.ts';

/**
 * new: read for the first time. gone: was read before and does not exist any more. failed: no answer about the content.
 */
export const VISIT_OUTCOMES = ['new', 'changed', 'unchanged', 'gone', 'failed'] as const;
export type VisitOutcome = (typeof VISIT_OUTCOMES)[number];

/**
 * How an outcome was known, cheapest first: no request (freshness, lastmod), the head of the answer (304, status), the
 * body as it came (hash), its content (text: the bytes differ, the content does not), the link graph (orphan).
 * `content`: read and compared, or read for the first time. `network`: there was no answer.
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
 * The most changes a day that count. A change minutes after the last visit would count as hundreds a day, though it
 * says nothing about the rest of the day.
 */
export const MOST_CHANGES_A_DAY = 24;

/** One visit of a page, as its history keeps it. */
export interface VisitRecord {
  visitedAt: number;
  outcome: VisitOutcome;
  knownBy: KnownBy;
  /** Null without a request or without an answer. */
  statusCode: number | null;
  etag: string | null;
  lastModified: string | null;
  /** SHA-256 of the body and of the main text; null if they were not read. */
  contentHash: Uint8Array | null;
  textHash: Uint8Array | null;
  /** Bits in which the simhash differs from that of the last visit; null if one of them is missing. */
  simhashDistance: number | null;
  /** Bytes of the body before decoding. */
  wireBytes: number;
  /** The size of the last full answer, minus the size of this one, if the transfer was saved. */
  bytesSaved: number;
  durationMs: number | null;
}

/** The parts of a page that can change. `template`: its bytes changed, and none of the others. */
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

/** One part of the word diff: kept, removed or added. Long kept parts are cut to their ends, with an ellipsis. */
export type DiffPiece = readonly [kind: '=' | '-' | '+', words: string];

/** What changed between two visits of a page, complete: it can be shown when both versions are gone. */
export interface PageChange {
  parts: ChangePart[];
  /** Single values, before and after. */
  fields: { name: ChangePart; before: string | null; after: string | null }[];
  linksAdded: string[];
  linksRemoved: string[];
  /** Null if the main text is the same, or was not kept. */
  text: DiffPiece[] | null;
  wordsAdded: number;
  wordsRemoved: number;
  /**
   * What the page had until it led elsewhere or had a refused type, and what came after that: not reported, but
   * compared with each other. Of a refused type, the type is all there is.
   */
  lost?: KeptContent;
  gained?: KeptContent;
}

/** The content of a page without its text, of which only the hash is kept. */
export interface KeptContent extends Omit<ComparedPage, 'statusCode' | 'redirectTo' | 'text' | 'links'> {
  /** Null if there are too many to keep. */
  links: string[] | null;
}

/** What the store has of a page, to compare it with the result of a visit. */
export interface PastPage extends PastFacts {
  text: string | null;
  /** Identities of the pages that it links to. */
  links: string[];
  /** Identity of the page that it redirects to. */
  redirectTo: string | null;
}

/** A page as one visit saw it, to compare it with another. */
export interface ComparedPage extends PastPage {
  /** Without parameters. */
  type: string | null;
  /** A page with its text, a document that is kept as it is, or nothing: it leads elsewhere, or its type is refused. */
  content: 'text' | 'document' | 'none';
}
