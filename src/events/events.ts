/**
 * The typed events of a crawl: the same for the terminal, --json, programs and tests. Data only. Before it: the loop
 * and its stages. After it: event-hub.ts emits them.
 */
import type { KnownBy, VisitOutcome } from '../change/visit-record.ts';
import type { UrlCounts } from '../frontier/counting-words.ts';
import type { PageState } from '../frontier/page-state.ts';

export type RunStatus = 'completed' | 'interrupted' | 'failed' | 'paused' | 'stopped';

/** The fields of every event. */
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
  /** The outcome of the visit, and how it was known; null if the page was not to be requested. */
  outcome: VisitOutcome | null;
  known_by: KnownBy | null;
  /** False if nothing was read, because no change was announced. */
  is_modified: boolean;
  /** Some content differs from the last visit. */
  change_detected: boolean;
  /** Changes a day. */
  change_frequency: number;
  bytes_saved: number;
}

/** Smart mode has decided how the run continues. */
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

/** The result for a sitemap that the crawl requested. Guesses without a sitemap are not reported. */
export interface SitemapEvent extends EventStamp {
  type: 'sitemap';
  url: string;
  found_by: 'given' | 'robots' | 'path' | 'link' | 'index';
  /** Null if it is no sitemap, or could not be read. */
  kind: 'urlset' | 'index' | 'text' | 'rss' | 'atom' | null;
  entries: number;
  /** Null if there is none. */
  problem: string | null;
  /** It may contain more than was read: for now, or permanently. */
  trouble: 'passing' | 'lasting' | null;
}

/**
 * A stage threw an exception on a page, a robots.txt or a sitemap (a defect of the program), or a subscriber threw on
 * an event. With the stack.
 */
export interface FaultEvent extends EventStamp {
  type: 'fault';
  /** Null if it belongs to no page. */
  page_id: number | null;
  /** Empty if a subscriber threw. */
  url: string;
  /** The reason that the page gets, from `internal:` on. */
  reason: string;
  stack: string;
}

/** The sitemap that the host gets a request for now or next: number `nth` of `of` known ones. */
export interface ReadingSitemap {
  url: string;
  nth: number;
  of: number;
  /** Nothing says that this sitemap exists. */
  is_guess: boolean;
}

/** Why no page was read since the last progress event: what the host with the next turn waits for. */
export interface WaitingFor {
  /** Null if other workers hold all hosts. */
  host: string | null;
  /**
   * The configured delay, the Crawl-delay of robots.txt, the pace that refusals taught, or that of a slow site; a block
   * by 429 or 503; a host that does not answer; a robots.txt or page that is requested again; an open request; other
   * workers.
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
  /** Wall time when it continues; null if it is not known. */
  until: number | null;
  in_seconds: number | null;
  /** The whole delay, or how long the request has been open. */
  seconds: number | null;
  /** The status that the host, or its robots.txt, answered with. */
  status: number | null;
  /** For a robots.txt: its origin, or why there was no answer. */
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
  /** Known pages that the run ended without requesting (a limit, a closed host): they stay as they were. */
  left_out: number;
  error: string | null;
  /** How known pages were visited; smart if that was not decided yet. */
  mode: 'full' | 'incremental' | 'smart';
  mode_reason: string | null;
  /** Visits of the run by outcome. */
  new: number;
  changed: number;
  unchanged: number;
  gone: number;
  failed: number;
  /** Unchanged, and known without reading a body. */
  not_transferred: number;
  bytes_saved: number;
  /** Changes a day of the pages that were visited more than once. */
  average_change_frequency: number;
  ledger: LedgerLine[];
  /** Start URLs that were refused or gave no answer; of a long list the first ones. */
  refused_starts: RefusedStart[];
}

/** A start URL that could not be read, because of robots.txt, its status, or a missing answer. */
export interface RefusedStart {
  /** The refused page: if the start URL redirects, its target. */
  url: string;
  state: PageState;
  /** As in the store. */
  reason: string;
  status_code: number | null;
  /** What happened, without a full stop. */
  message: string;
  /** What the user can do. */
  advice: string;
}

/** What was saved, by how the page was known, cheapest first. The bytes add up to those of the summary. */
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

/** A reader was too slow: the events that it did not get, because more were waiting than it keeps. */
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

/** An event before the hub has added the run and the time. */
export type EventBody = {
  [Type in CrawlEvent['type']]: Omit<Extract<CrawlEvent, { type: Type }>, keyof EventStamp>;
}[CrawlEvent['type']];

/** A link of a settled page: the identity of its target and the state that the scope gives it. */
export interface ToldLink {
  to: string;
  state: PageState;
}

/** Links are no events: a page has a hundred, and only output sinks want each of them. */
export type LinkListener = (from: string, links: readonly ToldLink[]) => void;
