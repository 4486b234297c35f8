/** What the loop is made of. Composition is wire.ts's work; the stages only see what they are given here. */

import type { KnownBy, VisitOutcome } from '../change/visit-record.ts';
import type { EventHub } from '../events/event-hub.ts';
import type { EgressGuard } from '../fetch/egress.ts';
import type { Fetcher, FetchFailure, HeaderField } from '../fetch/fetcher.ts';
import type { PageState } from '../frontier/page-state.ts';
import type { PageParser } from '../parse/parsed-page.ts';
import type { PaceOptions } from '../politeness/host-pace.ts';
import type { Clock } from '../primitives/clock.ts';
import type { LoopLag } from '../primitives/loop-lag.ts';
import type { Scope } from '../scope/classify.ts';
import type { BodyStore } from '../store/bodies.ts';
import type { IndexKind } from '../store/index-state.ts';
import type { PageFacts } from '../store/page-facts.ts';
import type { ReadSide } from '../store/read-side.ts';
import type { RunStore } from '../store/store-port.ts';
import type { NormalizedUrl, Normalizer } from '../url/normalize.ts';
import type { LinkDiscovery } from './discover/discover-links.ts';
import type { UrlJudge } from './discover/judge-urls.ts';
import type { RunMode } from './revisit/choose-run-mode.ts';
import type { MapLists } from './run/compute-depths.ts';
import type { Crew } from './run/crew.ts';
import type { HostAllowance } from './run/host-allowance.ts';
import type { Slots } from './run/slots.ts';
import type { PageFaults } from './visit/count-faults.ts';
import type { RetryOptions } from './visit/retry-policy.ts';

/** Reads a body of another content type than HTML: what it gives becomes the page's facts, text and links. */
export type ContentParser = (input: ContentInput) => ParsedContent;

export interface ContentInput {
  url: string;
  contentType: string;
  body: Uint8Array;
}

export interface ParsedContent {
  title?: string;
  h1?: string;
  description?: string;
  text?: string;
  /** Absolute, or relative to the page. */
  links?: string[];
}

/** A page that was parsed, for an asynchronous stage of a program. */
export interface ReadPage {
  url: string;
  depth: number;
  statusCode: number;
  contentType: string | null;
  title: string | null;
  h1: string | null;
  description: string | null;
  lang: string | null;
  /** The decoded body. It is valid until the stage has ended. */
  body: Uint8Array;
}

/** What the stage found otherwise: stored, compared and told in place of what was parsed. */
export type PageCorrections = Partial<Pick<ReadPage, 'title' | 'h1' | 'description' | 'lang'>>;

/**
 * Between parsing and settling: rendering, extraction, a question to another service. The page keeps its place in
 * `concurrency` meanwhile, other pages go on. `signal` is aborted when the crawl is told to stop and the drain time is
 * over: the page is then given up, and requested again when the run goes on.
 */
export type AfterParse = (page: ReadPage, signal: AbortSignal) => Promise<PageCorrections | undefined>;

/** A visit that is about to be settled. Bytes are valid until `BeforeSettle` has returned (its promise may go on). */
export interface SettlingVisit {
  pageId: number;
  url: string;
  /** The URL that was requested. */
  fetchUrl: string;
  depth: number;
  state: PageState;
  reason: string | null;
  outcome: VisitOutcome | null;
  knownBy: KnownBy | null;
  failure: FetchFailure | null;
  statusCode: number | null;
  /** Of a visit that read nothing new, only what such a visit says (PageTouch). */
  facts: Readonly<PageFacts>;
  hasFacts: boolean;
  /** The Date header. */
  date: string | null;
  /** All header fields of the answer in their order, names in lower case; null unless `wantsHeaders` asks for them. */
  headers: readonly HeaderField[] | null;
  responseMs: number | null;
  /** Where a redirect leads: the identity of its target. */
  redirectTo: string | null;
  /** The main text in UTF-8, where it is stored. */
  text: Uint8Array | null;
  /** The decoded body. */
  body: Uint8Array | null;
}

/**
 * Keeps the result of a visit somewhere else before the page is settled. It also hears of a page that is refused without a
 * request, such as one that robots.txt forbids; of pages that are given up together it does not. `settle` settles the page; `again` queues it
 * again, as if it had not been visited. What it throws ends the run. `signal` is aborted when the page is given up.
 */
export type BeforeSettle = (
  visit: SettlingVisit,
  signal: AbortSignal,
) => Promise<'settle' | 'again'> | 'settle' | 'again';

export interface CrawlLimits {
  /** How long a host is leased. */
  leaseMs: number;
  /** How long requests under way are waited for when the crawl is told to stop. */
  drainMs: number;
  /** Most hosts held in memory at once. */
  maxHosts: number;
  maxPages: number | null;
  maxHostRequests: number | null;
  maxBodyBytes: number;
  maxRedirects: number;
  /** History older than this is cleared when a run ends; null keeps all. */
  keepHistoryMs: number | null;
  /** Built, or brought up to date, when a run ends. */
  indexes: readonly IndexKind[];
}

export interface CrawlPolicy {
  retry: RetryOptions;
  retryRefused: boolean;
  on429: 'backoff' | 'suspend';
  headFirst: boolean;
  /** Null: robots.txt is not requested. */
  robots: {
    productToken: string;
    whenUnreachable: 'allow' | 'disallow';
    retries: number;
    ttlMs: number;
    deniedState: 'Skipped' | 'Failed';
  } | null;
  respectNofollow: boolean;
  respectNoindex: boolean;
  followMetaRefresh: boolean;
  storeText: boolean;
  /** Whether an answer of this content type (essence, or null) is read. */
  wantsType: (essence: string | null) => boolean;
}

/** What a server says of its own pages, and how far it is believed. */
export interface TrustPolicy {
  obeysFreshness: boolean;
  maxFreshnessMs: number;
  lastmod: 'learned' | 'always' | 'never';
  /** The share of what is believed that is checked. */
  spotCheck: number;
  distrustMs: number;
}

/** A crawl with quality domains makes a map: depth is counted from each of them. */
export interface MapParts extends MapLists {
  /** The stored links, beside the store that is written. */
  openSide: () => Promise<ReadSide>;
}

export type StartMeaning = 'site' | 'page';

/** A start URL; a bare one was given without a scheme. */
export interface StartUrl extends NormalizedUrl {
  isBare: boolean;
  /**
   * What it stands for where that is known. site: all that the sitemaps of its site name, and the page itself only where
   * there are none. page: itself alone, its sitemaps are not read. Absent: the page and what its site's sitemaps name.
   */
  meaning?: StartMeaning;
  /** The Authorization that the URL's user and password make; absent without them. Never stored, never told. */
  authorization?: string;
}

/** How sitemaps are searched for. */
export interface SitemapParts {
  paths: readonly string[];
  maxBytes: number;
  cacheMs: number;
  followsLinks: boolean;
  /** Feeds and sitemaps that the operator names besides. */
  feeds: readonly StartUrl[];
}

export interface CrawlParts {
  /** Who works on the run besides this loop. */
  crew: Crew;
  startUrls: StartUrl[];
  /** Whether an identity is one of them; lists may be long. */
  isStartUrl: (url: string) => boolean;
  isFetchOnly: boolean;
  limits: CrawlLimits;
  /** Null: all that the limits allow. */
  allowance: HostAllowance | null;
  slots: Slots;
  policy: CrawlPolicy;
  pace: PaceOptions;
  modes: RunMode;
  trust: TrustPolicy;
  /** Hosts whose sitemaps were read in this run, and when that began: only what they say since then says something of the last visit. */
  readSitemaps: Map<string, number>;
  /** From 0 to 1, below 1. */
  random: () => number;
  clock: Clock;
  store: RunStore;
  bodies: BodyStore | null;
  fetcher: Fetcher;
  /** Null: everything may be connected to. The fetcher obeys it, too. */
  egress: EgressGuard | null;
  parsePage: PageParser;
  contentParsers: ReadonlyMap<string, ContentParser>;
  /** Null: nothing is awaited between parsing and comparing. */
  afterParse: AfterParse | null;
  /** Null: pages are settled at once. */
  beforeSettle: BeforeSettle | null;
  /** Null: the scope alone decides what is queued. */
  urlJudge: UrlJudge | null;
  normalizer: Normalizer;
  scope: Scope;
  discovery: LinkDiscovery;
  /** Null when pages are not found by sitemaps. */
  sitemaps: SitemapParts | null;
  /** Null without quality domains. */
  map: MapParts | null;
  events: EventHub;
  /** Hears of what a stage throws on one page. */
  faults: PageFaults;
  agentToken: string;
  /** The store, for questions beside the work. */
  openSide: () => Promise<ReadSide>;
  /** Whether an origin (scheme, name, port) gets headers of the operator's. */
  carriesHeaders: (origin: string) => boolean;
  lag: LoopLag;
}
