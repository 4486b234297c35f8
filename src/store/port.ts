/**
 * The store port: verbs with guarantees. SQLite and PostgreSQL implement it and pass the same contract suite.
 *
 * Promises every adapter keeps:
 *  - A page's identity is unique in its project; the store gives its id, nobody else makes one.
 *  - `lease` gives a host to one owner at a time and is durable before it resolves. Every lease carries a fence
 *    number; `settle` with a stale fence changes nothing and answers null.
 *  - `settle` commits the page's result and its links together, or not at all, and never before the candidates they
 *    offered: a crash may leave pages that wait and whose referrer is read again, never a page whose links lead nowhere.
 *  - Settlements may be grouped into one commit (bounded by count and age); `flush` ends the open group.
 *  - Nothing here decides policy: states and reasons come in, the store only keeps them.
 *  - Where workers share a store (`isShared`), `clock` tells the database's time, and every time in or out is of it.
 */
import type { PageChange, PastPage, VisitRecord } from '../change/visit-record.ts';
import type { Candidate, Claim } from '../frontier/candidate.ts';
import type { PageStateCode } from '../frontier/page-state.ts';
import type { Clock } from '../primitives/clock.ts';
import type { PageFacts, PageTouch } from './page-facts.ts';
import type { Forgotten } from './page-tables.ts';
import type { ReaderLook } from './reader-look.ts';
import type { KeptPlan, RevisitBatch } from './revisit-batch.ts';
import type { WorkerReport } from './worker-report.ts';

export interface RunRequest {
  project: string;
  /** Who works on it here: the name under which hosts are leased. */
  owner: string;
  configHash: string;
  /** The effective options as JSON, kept with the run. */
  config: string;
  /** Closes the project's old run and clears its pages first; hosts' clocks, blocks and robots.txt stay. */
  fresh: boolean;
  /** What the operator noted of the run, as a JSON object; null when nothing. */
  metadata: string | null;
  now: number;
}

export interface RunStart {
  runId: number;
  projectId: number;
  /** True when an unfinished run goes on. */
  resumed: boolean;
  /** The configuration hash of the run that goes on, or of the last finished one; null when there is none. */
  previousConfigHash: string | null;
  /** Pages with a final answer so far in this run. */
  pagesDone: number;
  requestsDone: number;
  bytesDone: number;
  /** Known URLs of the project before this run began. */
  knownUrls: number;
}

/** A run under way that a worker takes part in: with the configuration it was started with. */
export interface JoinedRun extends RunStart {
  project: string;
  config: string;
  metadata: string | null;
}

/** The politeness state of a host, shared by all runs and projects of the store. Times are wall milliseconds. */
export interface HostState {
  notBefore: number;
  blockedUntil: number;
  consecutive429: number;
  /** Adaptive delay; 0 when nothing was learned. */
  adaptiveMs: number;
  averageMs: number;
  samples: number;
  /** Consecutive transport failures. */
  failures: number;
  /** Probes made since the breaker opened. */
  probes: number;
  /** Requests in this run, robots.txt and HEAD included. */
  requests: number;
  /** Its validators lied: until then every page of it is fetched in full; 0 when they are believed. */
  distrustedUntil: number;
  /** Changes seen of pages with a date in a sitemap: those that a newer date had announced, and the others. */
  announced: number;
  unannounced: number;
  headChecks: number; // GETs that said the same as a HEAD that found no page; -1: they differ (crawl/head-first.ts)
}

export interface HostLease {
  hostId: number;
  host: string;
  fence: number;
  /** Wall time until which the lease holds unless renewed. */
  until: number;
  state: HostState;
  /** The previous holder vanished: wait one full delay before the first request. */
  takenOver: boolean;
  /** Set when the host was closed for this run: its waiting pages get this state and reason. */
  closed: { state: PageStateCode; reason: string } | null;
  /** Set by `renew`: another project's run waits for the host. Given back, it is that one's turn. */
  isWanted?: boolean;
}

export interface StoredRobots {
  origin: string;
  /** HTTP status; 0 for a transport failure. */
  status: number;
  body: Uint8Array | null;
  fetchedAt: number;
  expiresAt: number;
  /** What it asks between two requests, by Crawl-delay or Request-rate; null when it asks nothing. */
  delaySeconds: number | null;
}

/** gap: a holder vanished. cleared: one line a host and project in place of those that ended before its own end. */
export const REQUEST_KINDS = ['GET', 'HEAD', 'robots', 'gap', 'sitemap', 'cleared'] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number];
/** Lines of the log that are no requests, as a list for SQL. */
export const MARK_KINDS = `(${REQUEST_KINDS.indexOf('gap')}, ${REQUEST_KINDS.indexOf('cleared')})`;

/** One line of the request log: what `sumi audit` replays and the `visits` view shows. */
export interface RequestEntry {
  kind: RequestKind;
  hostId: number;
  pageId: number | null;
  /** The slot reserved for it. */
  slotAt: number;
  sentAt: number;
  endedAt: number;
  /** The least gap to the host's request before it that was in force. */
  delayMs: number;
  /** Most requests of this host that may be open at once. */
  perHost: number;
  statusCode: number;
  wireBytes: number;
  contentHash: Uint8Array | null;
  /** Set when the answer blocked the host until then. */
  blockedUntil: number | null;
  /** The transport failure, if any. */
  failure: string | null;
}

/** Flag of a link that the run's rules do not follow (an obeyed nofollow): it lends no depth. Beside LINK_FLAGS. */
export const UNFOLLOWED = 128;

/** Stored depth of a page that no followed link leads to (yet); any real path is shorter. */
export const NO_DEPTH = 65_535;

/** Links of a page: each target is a page id, or -(i + 1) for the settlement's candidate i. The store drops repeats. */
export interface LinkTargets {
  count: number;
  targets: Int32Array;
  flags: Uint8Array;
  anchors: string[] | null;
}

export interface Settlement {
  claim: Claim;
  state: PageStateCode;
  reason: string | null;
  /** Not final: queue the page again (with its attempts), from this wall time on if given. */
  requeue: { attempts: number; notBefore: number | null; priority: number | null } | null;
  facts: PageFacts | null;
  /** Instead of facts, for a page that was visited before. */
  touch: PageTouch | null;
  /** The visit's line of history; null while the page is queued again. Its outcome is the page's `change`. */
  visit: VisitRecord | null;
  /** What changed since the last visit, and 003's numbers after it. */
  change: PageChange | null;
  changeFrequency: number;
  changesDetected: number;
  /** UTF-8; read before `settle` returns. */
  text: Uint8Array | null;
  /** Null leaves the stored links as they are. */
  links: LinkTargets | null;
  candidates: Candidate[];
  /** The page this one redirects to, as an index into `candidates`, and how many hops a chain may have. */
  redirect: { candidate: number; maxHops: number } | null;
  /** True when this settles a page GET with a final answer (what max-pages counts). */
  countsAsPage: boolean;
  /** Nobody was asked: a page of which an answer is known stays as it was, as with `closeHost`. `Settled` tells this state. */
  isUnasked?: true;
}

export interface Settled {
  /** State and reason as stored: a redirect's may differ from the settlement's (loops, refused targets). */
  state: PageStateCode;
  reason: string | null;
  /** The ids of the candidates, in order; 0 where the store will only know after the group's commit. */
  candidateIds: number[];
  /** Pages that had redirected here, or through here, and failed with this one. */
  failedSources: readonly FailedSource[];
}

export interface FailedSource {
  url: string;
  depth: number;
  reason: string;
}

/** A stored page put before the scope again (configuration changed, a new run, or a shorter path appeared). */
export interface Reconsidered {
  url: string;
  fetchUrl: string;
  host: string;
  depth: number;
  state: PageStateCode;
  reason: string | null;
}

/** What `reconsider` tells of a page besides. */
export interface KnownPage extends Reconsidered {
  pageId: number;
  /** The last visit got an answer that was read, or led on: whatever became of the page since. */
  wasRead: boolean;
  /** Requests to its host in this run, or the last. */
  hostRequests: number;
  /** This run has left it out already: its state is what was known before. */
  isLeftOut: boolean;
}

export interface Verdict {
  state: PageStateCode;
  priority: number;
  reason: string | null;
}

/** A verdict on a known page. */
export interface Revision extends Verdict {
  /** The page's new depth, null for none; absent: as it was. */
  depth?: number | null;
  /** Only the depth is new: state, tries and waiting redirects stay as they are. */
  keepsState?: true;
}

/** How many pages went from one state to another. */
export interface StateMove {
  from: PageStateCode;
  to: PageStateCode;
  pages: number;
}

export interface Revised {
  runId: number;
  moves: StateMove[];
  /** Pages that wait now. */
  waiting: number;
}

/** Depths from origins, beside each other: a page, the origin's place in the list, the depth. */
export interface DepthBatch {
  count: number;
  pageIds: Int32Array;
  origins: Uint16Array;
  depths: Uint16Array;
}

export interface ClaimAnswer {
  claims: Claim[];
  /** When claims is empty: the wall time of the earliest retry waiting; null when nothing waits at all. */
  nextRetryAt: number | null;
}

/** What was known of an entry when it was saved. */
export interface SavedEntry {
  pageId: number;
  /** It shows a date later than the stored one, or the first. */
  isNewer: boolean;
  /** What named the page last: the same sitemap, another one, or none that still does. */
  namedBy: 'none' | 'same' | 'another';
}

/** A sitemap's entry, judged as a candidate of the project. */
export interface SitemapFinding {
  candidate: Candidate;
  lastmod: number | null;
  changefreq: string | null;
  /** As written, 0 to 1. */
  priority: number | null;
  sitemap: string;
  /** The date in the sitemap's own words. */
  lastmodText: string | null;
  /** What else it says of the page, as JSON (`src/sitemap/entry-words.ts`). */
  details: string | null;
}

/** How the pages of a host were found when it was looked at last. */
export interface HostDiscovery {
  method: 'sitemap' | 'links' | 'not_found';
  checkedAt: number;
  /** Entries seen. */
  entries: number;
  /** Where they were read. */
  sitemaps: string[];
  /** What kept some of them from being read whole: it may pass, or it may last. Null when all were read. */
  trouble: 'passing' | 'lasting' | null;
  /** Of single sitemaps that were read whole, by their address: when, and how many entries they had. */
  looks?: Readonly<Record<string, { at: number; entries: number }>>;
  /** Names with ports (`a.test:8080`) whose sitemaps were looked for, and not only read as given. Null: an older version did not say. */
  searched: readonly string[] | null;
  /** Paths tried where nothing named a sitemap. Null as above. */
  guessed: readonly string[] | null;
}

export type CrawlMode = 'full' | 'incremental';

export interface ModeDecision {
  mode: CrawlMode;
  /** In words, with the figures. */
  reason: string;
}

/** Visits of a run by outcome and by how that was known: what was spared is in the last column. */
export interface LedgerRow {
  outcome: VisitRecord['outcome'];
  knownBy: VisitRecord['knownBy'];
  visits: number;
  bytesSaved: number;
}

export type RunEnd = 'completed' | 'interrupted' | 'failed';

export interface RunCounts {
  byState: Record<string, number>;
  waiting: number;
  known: number;
  /** Of the run, by all who work on it. */
  pages: number;
  requests: number;
  bytes: number;
  ledger: LedgerRow[];
  /** Pages known from earlier runs that this run ended without asking for: they stay as they were. */
  leftOut: number;
  /** The mean of change_frequency over the project's pages that were visited more than once; 0 when there is none. */
  averageChangeFrequency: number;
}

export interface Store {
  /** The time that leases, slots and blocks are counted in. */
  readonly clock: Clock;
  /** More than one worker may be at work on a run. */
  readonly isShared: boolean;
  begin(request: RunRequest): Promise<RunStart>;
  /** Takes part in a run that is under way; null when it is not (any more). */
  join(runId: number, owner: string): Promise<JoinedRun | null>;
  /** Puts every page of the project that is not in flight before the judge, by growing id; null leaves it. Answers how many changed. */
  reconsider(judge: (row: KnownPage) => Revision | null): Promise<number>;
  /**
   * The same without a crawl: the project's last run gets the configuration, and goes on with the next `begin` if pages
   * wait. Null when there is no such project or run; refused while somebody is at work on it.
   */
  revise(request: RunRequest, judge: (row: KnownPage) => Revision | null): Promise<Revised | null>;
  /** Replaces what is stored of depths per origin in the project, as one; each origin's name as written in the list. */
  saveDepths(origins: readonly string[], batches: Iterable<DepthBatch>): Promise<void>;
  /** Called for a page whose depth was lowered while it was shut out by depth or nofollow. */
  onLowered(judge: (row: Reconsidered) => Verdict): void;
  /**
   * Ends the run; one that others are still at work on is only left. Where another knew of more pages and is gone before
   * anybody found them (`knowsNoMore`), it is interrupted, not completed. Answers the status the run has then.
   */
  finish(status: RunEnd, now: number, error: string | null): Promise<RunEnd | 'running'>;
  /** True when no page of the run waits or is in flight, here or at any other worker, and no other knows of more. */
  isDone(): Promise<boolean>;
  /**
   * Who begins a run, or goes on with it, knows where more pages may come from: others do not take the run for done until
   * he says that he knows no more, or is gone.
   */
  knowsNoMore(): Promise<void>;
  /** Calls when another worker may have queued pages or given a host back. One listener. */
  onWork(listener: () => void): void;
  /** Permits for up to `count` more page GETs, so that all workers together stay within `limit`; 0 when none is left. */
  reservePages(count: number, limit: number): Promise<number>;
  /** Gives permits back that were not used. */
  returnPages(count: number): Promise<void>;
  /** Says that the worker is alive. */
  heartbeat(report: WorkerReport): Promise<void>;

  /** New → a row; known → the shallower depth (and queued again where the candidate reopens). Answers the ids. */
  offer(candidates: Candidate[]): Promise<number[]>;
  /** Leases up to `count` hosts that have pages waiting. */
  lease(owner: string, count: number, now: number, leaseMs: number): Promise<HostLease[]>;
  /** Leases one host by name, pages waiting or not; null while somebody else holds it. */
  leaseHost(owner: string, host: string, now: number, leaseMs: number): Promise<HostLease | null>;
  renew(owner: string, leases: Iterable<HostLease>, until: number): Promise<void>;
  /** Takes the host's best waiting pages. */
  claim(lease: HostLease, count: number, now: number): Promise<ClaimAnswer>;
  settle(lease: HostLease, settlement: Settlement): Promise<Settled | null>;
  /** Gives claimed but unasked pages back as they were. */
  unclaim(lease: HostLease, claims: Claim[]): Promise<void>;
  release(lease: HostLease): Promise<void>;
  /** Closes the host for the run: its waiting pages get this state, known ones what they were (kept-answer.ts). Answers how many. */
  closeHost(lease: HostLease, state: PageStateCode, reason: string, marksKnown?: boolean): Promise<number>;
  /**
   * Gives every waiting page of the project this state (the run's limit is reached), known ones what they had before, as
   * `closeHost` does. Answers how many; where none waited and others work on the run, how many of what it found these have closed or in flight.
   */
  closeWaiting(state: PageStateCode, reason: string): Promise<number>;
  /** Passes lowered depths on to the links of at most `budget` pages. Answers the hosts that got work, or null when done. */
  lowerDepths(budget: number): Promise<string[] | null>;

  /**
   * Queues known pages of the project that are not in flight, whatever their state, at this priority; answers how many.
   * One that waits already only gets the priority: its tries and its time stay.
   */
  requeue(pageIds: readonly number[], priority: number): Promise<number>;
  /** What is stored of a page, to compare with, its links unless told otherwise; null for a page that was never read (no body, no redirect, no other hash). */
  past(pageId: number, withLinks?: boolean): Promise<PastPage | null>;
  /** The run's decision between full and incremental: the first one stands, and is answered. Null asks only. */
  decideMode(decision: ModeDecision | null): Promise<ModeDecision | null>;
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
  /**
   * Offers the entries and keeps them: of dates the newest of those of one look (the same `now`), of the rest the last. Answers for
   * each of them in turn. A page may stand there twice.
   */
  saveEntries(findings: readonly SitemapFinding[], now: number): Promise<SavedEntry[]>;
  /** Of the project's host. */
  discovery(host: string): Promise<HostDiscovery | null>;
  saveDiscovery(host: string, found: HostDiscovery): Promise<void>;
  /** Without a run. False where nothing was written: there is no such project, or the plan it has is not `before`. */
  saveRevisits(project: string, batch: RevisitBatch, kept: KeptPlan): Promise<boolean>;
  /**
   * Without a run: drops visits, changes and requests older than that, of one project or of all. Pages keep what they
   * have now; the request log keeps a mark a host, so that an audit knows what it cannot judge any more.
   */
  forget(project: string | null, before: number): Promise<Forgotten>;
  /** Without a run: up to where this reader has been told of the project's changes. Nothing is kept of an unknown project. */
  saveLook(project: string, reader: string, look: ReaderLook): Promise<void>;
  /** Without a run: how the project is to be crawled, as a JSON object; null when nothing is kept. */
  projectSettings(project: string): Promise<string | null>;
  /** Makes the project when there is none; null keeps nothing. */
  saveProjectSettings(project: string, settings: string | null): Promise<void>;

  log(entry: RequestEntry): void;
  /** With the lease of the origin's host a store may know without asking: what it has comes with the lease. */
  robots(origin: string, lease?: HostLease): Promise<StoredRobots | null>;
  saveRobots(hostId: number, robots: StoredRobots): Promise<void>;
  counts(): Promise<RunCounts>;
  /** About how many pages wait: cheap enough to ask every second. */
  waiting(): number;
  flush(): Promise<void>;
  close(): Promise<void>;
}
