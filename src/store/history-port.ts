/**
 * The history port: what is stored of a page to compare a visit with, and which pages nothing leads to any more.
 *
 * Guarantees:
 *  - A page counts once in the ledger of a run: one line of history a page and run.
 *  - `past` answers what the last visit that read the page left, open group included.
 */
import type { PastPage } from '../change/visit-record.ts';

export interface HistoryPort {
  /**
   * What is stored of a page, to compare with, its links unless told otherwise; null for a page that was never read (no
   * body, no redirect, no other hash).
   */
  past(pageId: number, withLinks?: boolean): Promise<PastPage | null>;
  /**
   * Pages that were read in an earlier run and lost in this one the last link, redirect or sitemap entry that led to
   * them: their line of history of this run says gone, known by orphan (one that was not visited gets such a line), so
   * that no page counts twice in the ledger. Their state stays. Called before `finish`; answers how many, each told once:
   * they are kept as orphans, and `change` says gone whatever their visits find, until something leads to them again. Then
   * their line says changed, known by orphan, and what changed is the status: `orphan` before.
   *  - Only pages in state Processed, and never start URLs (depth 0).
   *  - Links of a page to itself, and of pages that are DeadLink or Gone, lead nowhere; redirects of such neither. Those of
   *    a start URL still lead where they led: one that is gone for an hour must not take its whole site with it.
   *  - What leads to a page has to be reached itself, from a start URL or an entry of a sitemap: pages that only lead to each other
   *    are orphans, with all that only they lead to. In a project that is too large for what the run did (`mostWalked`) any page
   *    that is left leads somewhere, and orphans that are back lead on.
   *  - An entry that was not seen from `since` on is lost, for hosts whose sitemaps were all read whole since (discovery
   *    says sitemap without trouble, checked then or later): it is marked (`lost_run`) and leads nowhere until a sitemap
   *    names it again.
   */
  markOrphans(since: number, now: number): Promise<number>;
}
