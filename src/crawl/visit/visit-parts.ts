/** What the stages of one page need besides the crawl's parts: whom to tell what became of the page and its host. */
import type { PageState } from '../../frontier/page-state.ts';
import type { SitemapDiscovery } from '../discover/discover-sitemaps.ts';
import type { Exchange, PageRequestParts } from '../hosts/exchange.ts';
import type { LeasedHost, PageTurn } from '../hosts/leased-host.ts';
import type { CrawlParts } from '../parts.ts';
import type { Answer } from './judge-answer.ts';
import type { PageSettlement } from './page-settlement.ts';

export interface VisitParts extends CrawlParts, PageRequestParts {
  /** The host takes no more pages in this run. */
  closeHost: (host: LeasedHost, state: PageState, reason: string) => Promise<void>;
  /** Pages were queued for this host. */
  wakeHost: (host: string) => void;
  /** Hears of each answer at depth 0 that decides, and where none is needed; null when nobody wants to. */
  onStart: SitemapDiscovery['seeStart'] | null;
  /** Aborted when what is under way is given up: the drain time of a stop is over, or the run has failed. */
  dropped: AbortSignal;
}

/** One page between its answer and its row. */
export interface PageVisit {
  turn: PageTurn;
  exchange: Exchange;
  settlement: PageSettlement;
  /** Null where a stage threw. */
  answer: Answer | null;
  /** What ends the run when the page is settled: its body could not be kept, or a program's own stage threw. */
  failure: { error: unknown } | null;
}
