/** What a crawl tells while it runs: typed events, the same for the terminal, --json, programs and tests. */
import type { KnownBy, VisitOutcome } from '../change/visit-record.ts';
import type { UrlCounts } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';

export type RunStatus = 'completed' | 'interrupted' | 'failed' | 'paused' | 'stopped';

/** What every event carries, whatever it tells. */
export interface EventStamp {
  run: number;
  project: string;
  /** ISO 8601, in UTC. */
  time: string;
}

export interface RunEvent extends EventStamp {
  type: 'run';
  resumed: boolean;
  config_changed: boolean;
  known_urls: number;
}

export interface PageEvent extends EventStamp {
  type: 'page';
  page_id: number;
  url: string;
  state: PageState;
  reason: string | null;
  status_code: number | null;
  title: string | null;
  depth: number;
  content_type: string | null;
  links: number;
  bytes: number;
  duration_ms: number | null;
  /** What the visit found, and how that was known; null where the page was not to be asked. */
  outcome: VisitOutcome | null;
  known_by: KnownBy | null;
  /** False where nothing was read because nothing was said to have changed. */
  is_modified: boolean;
  /** Something of its content differs from the last visit. */
  change_detected: boolean;
  /** Changes a day. */
  change_frequency: number;
  bytes_saved: number;
}

/** Smart mode has decided how the run goes on. */
export interface ModeEvent extends EventStamp {
  type: 'mode';
  mode: 'full' | 'incremental';
  reason: string;
}

export interface HostEvent extends EventStamp {
  type: 'host';
  host: string;
  what: 'robots' | 'blocked' | 'breaker' | 'closed' | 'lost' | 'distrusted' | 'unknown' | 'head-differs';
  detail: string;
  until: number | null;
}

/** What became of a sitemap that the crawl looked at; guesses that were none are not told. */
export interface SitemapEvent extends EventStamp {
  type: 'sitemap';
  url: string;
  found_by: 'given' | 'robots' | 'path' | 'link' | 'index';
  /** Null when it is none, or could not be had. */
  kind: 'urlset' | 'index' | 'text' | 'rss' | 'atom' | null;
  entries: number;
  /** Null when all is well. */
  problem: string | null;
  /** There may be more in it than was read, for now or for good. */
  trouble: 'passing' | 'lasting' | null;
}

/**
 * A stage threw on a page, a robots.txt or a sitemap (a defect of the program), or a subscriber threw on an event. Told
 * with its stack.
 */
export interface FaultEvent extends EventStamp {
  type: 'fault';
  /** Null where it is no page's. */
  page_id: number | null;
  /** Empty where a subscriber threw. */
  url: string;
  /** As the page has it, from `internal:` on. */
  reason: string;
  stack: string;
}

/** The sitemap that a host is asked for now or next: number `nth` of `of` that are known so far. */
export interface ReadingSitemap {
  url: string;
  nth: number;
  of: number;
  /** Nothing says that there is one. */
  is_guess: boolean;
}

/** Why no page was read since the progress was told last: what the host waits for whose turn comes next. */
export interface WaitingFor {
  /** Null where other workers have all hosts. */
  host: string | null;
  /**
   * The delay that was configured, robots.txt's Crawl-delay, the pace that refusals taught, or a slow site's; a block by
   * 429 or 503; silence; a robots.txt or page that is asked for once more; an answer on its way; other workers.
   */
  why:
    | 'delay'
    | 'crawl-delay'
    | 'learned-delay'
    | 'blocked'
    | 'silence'
    | 'robots'
    | 'retry'
    | 'answer'
    | 'workers';
  /** Wall time at which it goes on, and how long that is from now; null where nobody knows. */
  until: number | null;
  in_seconds: number | null;
  /** The whole delay, or how long the answer has been waited for. */
  seconds: number | null;
  /** What the host, or its robots.txt, answered. */
  status: number | null;
  /** Of a robots.txt: its origin, or why there was no answer. */
  detail: string | null;
  sitemap: ReadingSitemap | null;
}

export interface ProgressEvent extends EventStamp {
  type: 'progress';
  pages: number;
  pages_per_second: number;
  waiting: number;
  hosts_active: number;
  hosts_cooling: number;
  in_flight: number;
  errors: number;
  percent: number;
  seconds_left: number | null;
  /** Null while pages are read. */
  waiting_for: WaitingFor | null;
}

/** `known_urls`, `read`, `broken`, `rate_limited`, `skipped` and `waiting` count the project's URLs (docs/words.md). */
export interface SummaryEvent extends UrlCounts, EventStamp {
  type: 'summary';
  status: RunStatus;
  pages: number;
  requests: number;
  bytes: number;
  duration_ms: number;
  by_state: Record<string, number>;
  /** Known pages that the run ended without asking for (a limit, a host that was closed): they stay as they were. */
  left_out: number;
  error: string | null;
  /** How known pages were visited; smart where that was not decided yet. */
  mode: 'full' | 'incremental' | 'smart';
  mode_reason: string | null;
  /** Visits of the run by what they found. */
  new: number;
  changed: number;
  unchanged: number;
  gone: number;
  failed: number;
  /** Unchanged, and known without reading a body. */
  not_transferred: number;
  bytes_saved: number;
  /** Changes a day, of the pages that were visited more than once. */
  average_change_frequency: number;
  ledger: LedgerLine[];
  /** Start URLs that were refused, or gave no answer; of a long list the first ones. */
  refused_starts: RefusedStart[];
}

/** A start URL that could not be read: by robots.txt, by its status, or for want of an answer. */
export interface RefusedStart {
  /** Of the page that was refused: where the start URL redirects, its target. */
  url: string;
  state: PageState;
  /** As the store has it. */
  reason: string;
  status_code: number | null;
  /** What happened, without a full stop. */
  message: string;
  /** What can be done. */
  advice: string;
}

/** What was spared, by how its page was known, cheapest first; the bytes add up to those of the summary. */
export interface LedgerLine {
  level: KnownBy;
  pages: number;
  requests_saved: number;
  bytes_saved: number;
}

/** An operator's order has been obeyed here: the run is paused. It goes on with another `run` event. */
export interface StandingEvent extends EventStamp {
  type: 'standing';
  status: 'paused';
}

/** Of a reader that was too slow: events that it did not get, because more were waiting than it keeps. */
export interface DroppedEvent extends EventStamp {
  type: 'dropped';
  events: number;
}

export type CrawlEvent =
  | RunEvent
  | ModeEvent
  | PageEvent
  | HostEvent
  | SitemapEvent
  | FaultEvent
  | ProgressEvent
  | SummaryEvent
  | StandingEvent
  | DroppedEvent;
export type EventListener = (event: CrawlEvent) => void;

/** What a listener may subscribe to. */
export const TOPICS = ['run', 'page', 'host', 'progress'] as const;
export type Topic = (typeof TOPICS)[number];

export const TOPIC_OF: Readonly<Record<CrawlEvent['type'], Topic>> = {
  run: 'run',
  mode: 'run',
  fault: 'run',
  summary: 'run',
  standing: 'run',
  dropped: 'run',
  page: 'page',
  host: 'host',
  sitemap: 'host',
  progress: 'progress',
};

/** An event before the hub has said of which run it is, and when. */
export type EventBody = {
  [Type in CrawlEvent['type']]: Omit<Extract<CrawlEvent, { type: Type }>, keyof EventStamp>;
}[CrawlEvent['type']];

/** A link of a settled page, by the identity of its target and the state that the scope gives it. */
export interface ToldLink {
  to: string;
  state: PageState;
}

/** Links are no events: a page has a hundred, and only output sinks want them one by one. */
export type LinkListener = (from: string, links: readonly ToldLink[]) => void;
