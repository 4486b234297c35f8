/** Composition: the one place where configuration becomes parts. Nothing here decides anything while a crawl runs. */

import { guessedPaths } from '../config/guessed-paths.ts';
import type { Config } from '../config/load-config.ts';
import { resolvedNames } from '../config/resolve-rules.ts';
import { productToken } from '../config/user-agent.ts';
import type { EventHub } from '../events/event-hub.ts';
import type { OutputSink } from '../events/output-sink.ts';
import type { EgressGuard } from '../fetch/egress.ts';
import type { Fetcher } from '../fetch/fetcher.ts';
import type { FetcherOptions } from '../fetch/fetcher-options.ts';
import { createHttpFetcher } from '../fetch/http-fetcher.ts';
import type { Tap } from '../fetch/tap.ts';
import { matchesMimeType } from '../parse/mime-type.ts';
import { createPageParser } from '../parse/parse-page.ts';
import type { PaceOptions, PacingStrategy } from '../politeness/host-pace.ts';
import type { Clock } from '../primitives/clock.ts';
import { watchLoopLag } from '../primitives/loop-lag.ts';
import {
  createScope,
  type HostMode,
  type Scope,
  type ScopeCandidate,
  type ScopeRule,
} from '../scope/classify.ts';
import { PATTERN_PRESETS, type PatternPresetName } from '../scope/pattern-presets.ts';
import { SKIPPED_EXTENSIONS } from '../scope/skipped-extensions.ts';
import type { BodyStore } from '../store/bodies.ts';
import type { RunStore, Store } from '../store/store-port.ts';
import { HrefCache } from '../url/href-cache.ts';
import { createNormalizer, type NormalizedUrl, type Normalizer } from '../url/normalize.ts';
import { siteOf } from '../url/site-of.ts';
import { createLinkDiscovery, type LinkDiscovery, UNFOLLOWED_LINK } from './discover/discover-links.ts';
import { createUrlJudge, type JudgeUrls } from './discover/judge-urls.ts';
import type {
  AfterParse,
  BeforeSettle,
  ContentParser,
  CrawlParts,
  CrawlPolicy,
  MapParts,
  SitemapParts,
  StartUrl,
  TrustPolicy,
} from './parts.ts';
import { createRunMode } from './revisit/choose-run-mode.ts';
import { chooseCrew } from './run/choose-crew.ts';
import { headersByOrigin } from './run/credentials.ts';
import type { HostAllowance } from './run/host-allowance.ts';
import { createSlots, type Slots } from './run/slots.ts';
import { createPageFaults } from './visit/count-faults.ts';

/** What a program may put in place of, or beside, the built-in parts. */
export interface Extensions {
  /** Asked after blacklist and stub list, before everything else; a verdict of theirs is final. */
  scopeRules?: readonly ScopeRule[];
  /** Changes the priority of what is queued: a whole number from 0 to 999,999, lower goes first. */
  priority?: (candidate: ScopeCandidate, priority: number) => number;
  /** Parsers by content type, such as application/pdf; these types are then accepted besides accept-types. */
  parsers?: Readonly<Record<string, ContentParser>>;
  /** Called with each page that was parsed, and awaited before it is compared and settled. */
  afterParse?: AfterParse;
  /** Called with each final visit, and awaited before the page is settled. */
  beforeSettle?: BeforeSettle;
  /** `beforeSettle` is given all header fields of answers. The built-in fetcher keeps them only then. */
  wantsHeaders?: boolean;
  /** Asked, after the scope, whether found URLs are queued. */
  judgeUrls?: JudgeUrls;
  /** Asked after each answer for the host's delay; never goes below the configured one or robots.txt's. */
  pacing?: PacingStrategy;
  sinks?: readonly OutputSink[];
  /** Hears the raw bytes of every request and answer of the built-in fetcher, for archives. */
  tap?: Tap;
  /** In place of the SQLite file: opened by the caller, who closes it when no run is under way on it. */
  store?: Store;
  /** In place of `bodies`. The crawl closes it at the end. */
  bodies?: BodyStore;
  fetcher?: Fetcher;
  /** Judges what the built-in fetcher connects to; absent: it may connect to anything. */
  egress?: EgressGuard;
  clock?: Clock;
}

export interface Wiring {
  config: Config;
  /** Shared with other crawls of this process. */
  slots: Slots | undefined;
  startUrls: StartUrl[];
  allowance?: HostAllowance;
  extensions: Extensions;
  clock: Clock;
  store: RunStore;
  bodies: BodyStore | null;
  events: EventHub;
  normalizer: Normalizer;
}

export function wireParts(wiring: Wiring): CrawlParts {
  const { config, extensions, clock, store, bodies, events, normalizer, startUrls } = wiring;
  const { tap, wantsHeaders, egress } = extensions;
  const scope = wireScope(config, startUrls, extensions);
  const contentParsers = new Map(Object.entries(extensions.parsers ?? {}));
  const token = productToken(config.userAgent);
  const starts = new Set(startUrls.flatMap((start) => identitiesOf(start, normalizer)));
  const lag = watchLoopLag(clock);
  const originHeaders = headersByOrigin(config, startUrls);
  const isStartUrl = (url: string) => starts.has(url);
  const pace = wirePace(config, extensions.pacing, () => lag.lagMs);
  const crew = chooseCrew({ store, clock, lag, pace });
  return {
    crew,
    startUrls,
    isStartUrl,
    isFetchOnly: config.fetchOnly,
    limits: {
      leaseMs: config.leaseSeconds * 1000,
      drainMs: config.drainSeconds * 1000,
      maxHosts: config.maxHosts,
      maxPages: config.maxPages,
      maxHostRequests: config.maxDomainRequests,
      maxBodyBytes: config.maxBodyBytes,
      maxRedirects: config.maxRedirects,
      indexes: [
        ...(config.reverseLinks ? ['reverse-links' as const] : []),
        ...(config.fullText ? ['full-text' as const] : []),
        ...(config.sections ? ['sections' as const] : []),
      ],
      keepHistoryMs: config.keepHistory === null ? null : config.keepHistory * 86_400_000,
    },
    allowance: wiring.allowance ?? null,
    slots: wiring.slots ?? createSlots(config.concurrency),
    policy: wirePolicy(config, token, [...contentParsers.keys()]),
    pace,
    modes: createRunMode({
      wanted: config.mode,
      threshold: config.smartThreshold,
      confidence: config.smartConfidence,
      sample: config.smartSample,
      store,
      crew,
      events,
      random: Math.random,
    }),
    trust: wireTrust(config),
    readSitemaps: new Map(),
    random: Math.random,
    clock,
    store,
    bodies: bodies && closedOnce(bodies),
    fetcher:
      extensions.fetcher ??
      wireFetcher(config, { originHeaders, clock, tap, keepsFields: wantsHeaders, egress }),
    egress: egress ?? null,
    parsePage: createPageParser(),
    contentParsers,
    afterParse: extensions.afterParse ?? null,
    beforeSettle: extensions.beforeSettle ?? null,
    urlJudge: extensions.judgeUrls === undefined ? null : createUrlJudge(extensions.judgeUrls, isStartUrl),
    normalizer,
    scope,
    discovery: wireDiscovery(config, scope, normalizer),
    sitemaps: wireSitemaps(config, normalizer),
    map: wireMap(config, scope, isStartUrl, store.openSide),
    events,
    faults: createPageFaults(events),
    agentToken: token,
    openSide: store.openSide,
    carriesHeaders: (origin) => originHeaders.has(origin),
    lag,
  };
}

export function wireDiscovery(config: Config, scope: Scope, normalizer: Normalizer): LinkDiscovery {
  return createLinkDiscovery({
    cache: new HrefCache(),
    normalizer,
    scope,
    respectNofollow: config.respectNofollow,
    followCanonical: config.followCanonical,
    followFrames: config.followFrames,
    keepAnchors: config.anchorText,
    unfollowed: unfollowed(config),
  });
}

/** Why links are recorded and not followed; null where they are. */
function unfollowed({ fetchOnly, discover }: Config): string | null {
  if (fetchOnly) return 'scope: fetch-only';
  return discover.includes('links') ? null : UNFOLLOWED_LINK;
}

function wireSitemaps(config: Config, normalizer: Normalizer): SitemapParts | null {
  if (config.fetchOnly || !config.discover.includes('sitemap')) return null;
  return {
    paths: guessedPaths(config.sitemapPaths),
    maxBytes: config.maxSitemapBytes,
    cacheMs: config.sitemapCacheHours * 3_600_000,
    followsLinks: config.discover.includes('links'),
    feeds: config.feed.flatMap((url) => {
      const found = normalizer.normalize(url);
      return found === null ? [] : [{ ...found, isBare: false }];
    }),
  };
}

/** A bare host may turn out to speak http only. */
function identitiesOf({ url, fetchUrl, isBare }: StartUrl, { normalize }: Normalizer): string[] {
  const plain = isBare ? normalize(fetchUrl.replace(/^https:/, 'http:')) : null;
  return plain === null ? [url] : [url, plain.url];
}

function wireMap(
  config: Config,
  scope: Scope,
  isStartUrl: (url: string) => boolean,
  openSide: MapParts['openSide'],
): MapParts | null {
  const origins = [...new Set(config.terrain.quality.map(({ domain }) => domain))];
  if (origins.length === 0) return null;
  return { origins, scope, isStartUrl, openSide };
}

/** A crawl that had to drain closes them before its end. */
function closedOnce(bodies: BodyStore): BodyStore {
  let closing: Promise<void> | null = null;
  return {
    put: (hash, bytes, contentType) => bodies.put(hash, bytes, contentType),
    get: (key) => bodies.get(key),
    close() {
      closing ??= bodies.close();
      return closing;
    },
  };
}

export function wireNormalizer(config: Config): Normalizer {
  return createNormalizer({
    preset: config.normalize,
    keepQuery: config.keepQuery,
    dropQuery: config.dropQuery,
  });
}

const HOST_MODES: ReadonlySet<string> = new Set(['host', 'subdomains', 'domain', 'any']);

export function wireScope(config: Config, startUrls: NormalizedUrl[], extensions: Extensions): Scope {
  const presets = config.preset.map((name) => PATTERN_PRESETS[name as PatternPresetName]);
  const modes = config.allowedHosts.filter((word) => HOST_MODES.has(word));
  return createScope({
    startHosts: [...new Set(startUrls.map(siteOf))],
    hostMode: (modes.at(-1) ?? 'host') as HostMode,
    allowedDomains: config.allowedHosts.filter((word) => !HOST_MODES.has(word)),
    blacklist: config.terrain.blacklist,
    stub: config.terrain.stub,
    quality: config.terrain.quality.map(({ domain }) => domain),
    include: [...config.include, ...presets.flatMap(({ include }) => include)],
    exclude: [...config.exclude, ...presets.flatMap(({ exclude }) => exclude)],
    includeMode: config.includeMode,
    maxDepth: config.maxDepth,
    paths: config.path,
    skippedExtensions: config.skipExtensions.flatMap((word) =>
      word === 'usual' ? SKIPPED_EXTENSIONS : word,
    ),
    respectNofollow: config.respectNofollow,
    extraRules: extensions.scopeRules,
    priorityOf: extensions.priority,
  });
}

function wirePolicy(config: Config, token: string, ownTypes: string[]): CrawlPolicy {
  const accepted = [...config.acceptTypes, ...ownTypes];
  return {
    retry: {
      retries: config.retries,
      backoff: config.retryBackoff,
      delayMs: config.retryDelay * 1000,
      maxBackoffMs: config.maxRetryBackoff * 1000,
    },
    retryRefused: config.retryRefused,
    on429: config.on429,
    headFirst: config.headFirst,
    robots: config.robots
      ? {
          productToken: token,
          whenUnreachable: config.robotsUnreachable,
          retries: config.robotsRetries,
          ttlMs: config.robotsTtl * 1000,
          deniedState: config.profile === 'terrain' ? 'Failed' : 'Skipped',
        }
      : null,
    respectNofollow: config.respectNofollow,
    respectNoindex: config.respectNoindex,
    followMetaRefresh: config.metaRefresh,
    storeText: config.storeText,
    // A body without a type is most often a page of a careless server: it is read.
    wantsType: (essence) =>
      essence === null ||
      (accepted.some((pattern) => matchesMimeType(essence, pattern)) &&
        !config.rejectTypes.some((pattern) => matchesMimeType(essence, pattern))),
  };
}

function wireTrust(config: Config): TrustPolicy {
  return {
    obeysFreshness: config.obeyFreshness,
    maxFreshnessMs: config.maxFreshness * 3_600_000,
    lastmod: config.trustLastmod,
    spotCheck: config.spotCheck,
    distrustMs: config.distrustHours * 3_600_000,
  };
}

function wirePace(config: Config, strategy: PacingStrategy | undefined, lagMs: () => number): PaceOptions {
  return {
    delayMs: config.delay * 1000,
    maxDelayMs: config.maxCrawlDelay * 1000,
    perHost: config.perHost,
    isAdaptive: config.adaptiveDelay,
    maxRetryAfterMs: config.maxRetryAfter * 1000,
    breakerFailures: config.breakerFailures,
    breakerProbes: config.breakerProbes,
    lagMs,
    strategy,
  };
}

function wireFetcher(
  config: Config,
  given: Pick<FetcherOptions, 'originHeaders' | 'clock' | 'tap' | 'keepsFields' | 'egress'>,
): Fetcher {
  return createHttpFetcher({
    ...given,
    userAgent: config.userAgent,
    acceptLanguage: config.acceptLanguage ?? undefined,
    compress: config.compress,
    keepAlive: config.keepAlive,
    http2: config.http2,
    perHost: config.perHost,
    connectTimeoutMs: config.connectTimeout * 1000,
    headersTimeoutMs: config.headersTimeout * 1000,
    bodyTimeoutMs: config.bodyTimeout * 1000,
    totalTimeoutMs: config.timeout * 1000,
    resolve: resolvedNames(config),
    proxy: config.proxies,
  });
}
