/**
 * The history port: what is stored of a page to compare a visit with, and who leads to whom.
 *
 * Guarantees:
 *  - A page counts once in the ledger of a run: one line of history a page and run.
 *  - `past` answers what the last visit that read the page left, open group included.
 *  - What `judgeOrphans` is asked and what it writes is of one moment: of two workers the second finds everything told,
 *    and a crash on the way leaves nothing that the next call does not find.
 *  - Nothing here decides: pages come in as sets, answers go out as sets.
 */
import type { PastPage } from '../change/visit-record.ts';

/** A page that was told to be an orphan. */
export interface Orphan {
  pageId: number;
  /** A sitemap names it, or it is a start URL now. */
  isNamed: boolean;
}

export interface OrphanVerdict {
  /**
   * Their line of history of this run says gone, known by orphan (one that was not visited gets such a line), and
   * `change` says gone whatever their visits find, until something leads to them again. Their state stays.
   */
  orphans: readonly number[];
  /** Their line says changed, known by orphan, and what changed is the status: `orphan` before. */
  returned: readonly number[];
  now: number;
}

/**
 * Who leads to whom in the project. Links of a page to itself, and of pages that are DeadLink or Gone, lead nowhere;
 * redirects of such neither. Those of a start URL still lead where they led: one that is gone for an hour must not take
 * its whole site with it. Recent are the last twenty runs: one that ended early asked nobody.
 */
export interface LinkQuestions {
  /**
   * Targets of links and redirects that went in recent runs, with their page or without, and pages whose entry was lost.
   * An entry that was not seen from `since` on is lost, for hosts whose sitemaps were all read whole since (discovery
   * says sitemap without trouble, checked then or later): it is marked (`lost_run`) and leads nowhere until a sitemap
   * names it again.
   */
  lostTargets(since: number): Promise<number[]>;
  /**
   * Who of these may be called an orphan: read in an earlier run, no start URL (depth 0), not named by a sitemap, and
   * not told yet. `left`: not DeadLink or Gone. `there`: Processed.
   */
  mayBeOrphans(pageIds: readonly number[], state: 'left' | 'there'): Promise<number[]>;
  /** Orphans of earlier runs that are Processed. */
  orphans(): Promise<Orphan[]>;
  /** Who of these a page leads to that was read anew in a recent run, and is none of them. */
  ledToAnew(pageIds: readonly number[]): Promise<number[]>;
  /** Where these pages lead; a page may stand there twice. */
  targetsOf(pageIds: readonly number[]): Promise<number[]>;
  /** Start URLs, and pages that a sitemap names. */
  roots(): Promise<number[]>;
  /** Who of these any page leads to: all links and redirects are looked through. */
  ledTo(pageIds: readonly number[]): Promise<number[]>;
  /** Visits of this run. */
  visits(): Promise<number>;
  /** How many pages have links; counted up to `most`. */
  linkingPages(most: number): Promise<number>;
  write(verdict: OrphanVerdict): Promise<void>;
}

export interface HistoryPort {
  /**
   * What is stored of a page, to compare with, its links unless told otherwise; null for a page that was never read (no
   * body, no redirect, no other hash).
   */
  past(pageId: number, withLinks?: boolean): Promise<PastPage | null>;
  /**
   * Calls the judge with the questions that it may ask, and answers what it answers. It may be called once more, when
   * the store was away meanwhile.
   */
  judgeOrphans<Answer>(judge: (links: LinkQuestions) => Promise<Answer>): Promise<Answer>;
}
