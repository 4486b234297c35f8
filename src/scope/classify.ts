/**
 * Step 2 of a URL's life: decides what happens to a candidate, and names the rule that decided.
 *
 * Promises: rules are in one ordered table, and the first rule with a verdict decides. Every verdict but "queued" has a
 * reason that begins with the kind of rule. The same values always give the same verdict, so a stored row can be judged
 * again under new options. Takes values only, keeps a bounded memory of hosts, never asks the store or the network.
 * Before it: url/normalize. After it: the store's offer.
 */
import type { PageState } from '../frontier/page-state.ts';
import { splitSite } from '../primitives/split-site.ts';
import { createDomainSet, type DomainSet } from '../url/domain-pattern.ts';
import { registrableDomain } from '../url/registrable-domain.ts';
import { siteOf } from '../url/site-of.ts';
import { compileUrlPattern, type UrlPattern } from './url-pattern.ts';

export type HostMode = 'host' | 'subdomains' | 'domain' | 'any';
export type IncludeMode = 'strict' | 'prefer';
export type LinkKind = 'link' | 'redirect' | 'canonical' | 'frame' | 'iframe' | 'sitemap';
export type DomainKind = 'blacklist' | 'stub' | 'quality' | 'discovered';

export interface ScopeCandidate {
  /** The identity. */
  readonly url: string;
  readonly fetchUrl: string;
  /** Host of the identity. */
  readonly host: string;
  readonly depth: number;
  readonly isStart: boolean;
  readonly isNofollow: boolean;
  readonly linkKind?: LinkKind;
}

export interface Verdict {
  readonly state: PageState;
  /** Lower is fetched first: 0 start pages, 1 wanted, 2 the rest. */
  readonly priority: number;
  /** Null if the candidate is queued. */
  readonly reason: string | null;
}

/** Returns a verdict, or null to leave the decision to the next rules. */
export type ScopeRule = (candidate: ScopeCandidate) => Verdict | null;

export interface ScopeOptions {
  /** Sites of the start URLs' identities: hosts, with the port unless it is the default port of the scheme. */
  readonly startHosts: readonly string[];
  readonly hostMode: HostMode;
  /** Domain patterns that are in scope in addition to the mode: every port of them, or the port after a colon. */
  readonly allowedDomains?: readonly string[];
  readonly blacklist?: readonly string[];
  readonly stub?: readonly string[];
  readonly quality?: readonly string[];
  readonly include?: readonly string[];
  readonly exclude?: readonly string[];
  readonly includeMode?: IncludeMode;
  /** Null or absent: no limit. */
  readonly maxDepth?: number | null;
  /** Path prefixes; absent or empty: every path. */
  readonly paths?: readonly string[];
  /** Without colon (default: http and https). */
  readonly schemes?: readonly string[];
  /** Without dot. */
  readonly skippedExtensions?: readonly string[];
  readonly respectNofollow?: boolean;
  /** Called after blacklist and stub list, before all other rules. Their verdict is final. */
  readonly extraRules?: readonly ScopeRule[];
  /** Changes the priority of a queued candidate. */
  readonly priorityOf?: (candidate: ScopeCandidate, priority: number) => number;
}

export interface Scope {
  classify(candidate: ScopeCandidate): Verdict;
  /** Whether depth is counted from this host: every page of it is depth 0. */
  isOrigin(host: string): boolean;
  /** Which list the domain of a host is on. The strictest list counts. */
  domainKind(host: string): DomainKind;
}

const MAX_REMEMBERED_HOSTS = 4096;

const START: Verdict = { state: 'Queued', priority: 0, reason: null };
const WANTED: Verdict = { state: 'Queued', priority: 1, reason: null };
const REST: Verdict = { state: 'Queued', priority: 2, reason: null };

export function createScope(options: ScopeOptions): Scope {
  const blacklist = createDomainSet(options.blacklist ?? []);
  const stub = createDomainSet(options.stub ?? []);
  const quality = createDomainSet(options.quality ?? []);
  const accept = acceptRule(options);
  const isOrigin = originMatcher(blacklist, stub, quality);
  const rules: ScopeRule[] = [
    schemeRule(options.schemes ?? ['http', 'https']),
    ...domainListRule(blacklist, 'Blacklisted', 'blacklist'),
    ...domainListRule(stub, 'Stubbed', 'stub'),
    ...(options.extraRules ?? []),
    ...nofollowRule(options.respectNofollow ?? false),
    ...hostRule(options, quality),
    ...pathRule(options.paths ?? []),
    ...extensionRule(options.skippedExtensions ?? []),
    ...excludeRule(options.exclude ?? []),
    ...depthRule(options.maxDepth ?? null, isOrigin),
  ];
  const { priorityOf } = options;
  return {
    classify(candidate) {
      for (const rule of rules) {
        const verdict = rule(candidate);
        if (verdict !== null) return verdict;
      }
      const verdict = accept(candidate);
      if (priorityOf === undefined || verdict.state !== 'Queued') return verdict;
      return { ...verdict, priority: priorityOf(candidate, verdict.priority) };
    },
    isOrigin,
    domainKind(host) {
      if (blacklist.match(host) !== null) return 'blacklist';
      if (stub.match(host) !== null) return 'stub';
      return quality.match(host) !== null ? 'quality' : 'discovered';
    },
  };
}

function skipped(reason: string): Verdict {
  return { state: 'Skipped', priority: REST.priority, reason };
}

function schemeRule(schemes: readonly string[]): ScopeRule {
  const allowed = new Set(schemes);
  return ({ fetchUrl }) => {
    const scheme = fetchUrl.slice(0, fetchUrl.indexOf(':'));
    return allowed.has(scheme) ? null : skipped(`scheme: ${scheme}`);
  };
}

function domainListRule(list: DomainSet, state: PageState, kind: string): ScopeRule[] {
  if (list.size === 0) return [];
  return [
    ({ host }) => {
      const pattern = list.match(host);
      return pattern === null ? null : { state, priority: REST.priority, reason: `${kind}: ${pattern}` };
    },
  ];
}

function nofollowRule(isRespected: boolean): ScopeRule[] {
  if (!isRespected) return [];
  // No link leads to a start URL as such, so nofollow does not apply to it.
  return [({ isNofollow, isStart }) => (isNofollow && !isStart ? skipped('nofollow: link') : null)];
}

function hostRule(options: ScopeOptions, quality: DomainSet): ScopeRule[] {
  if (options.hostMode === 'any') return [];
  const isAllowedByMode = hostMatcher(options.hostMode, options.startHosts);
  const isListed = listMatcher(options.allowedDomains ?? []);
  const names = [...new Set([...options.startHosts, ...(options.allowedDomains ?? [])])];
  const shown =
    names.length > 5 ? `${names.slice(0, 5).join(', ')} and ${names.length - 5} more` : names.join(', ');
  const answers = new Map<string, boolean>();
  return [
    (candidate) => {
      const site = siteOf(candidate);
      let isAllowed = answers.get(site);
      if (isAllowed === undefined) {
        isAllowed = isAllowedByMode(site) || isListed(site) || quality.match(candidate.host) !== null;
        if (answers.size >= MAX_REMEMBERED_HOSTS) answers.clear();
        answers.set(site, isAllowed);
      }
      return isAllowed ? null : skipped(`scope: host ${site} is not one of ${shown}`);
    },
  ];
}

/** A domain that is also on a stricter list is no origin. */
function originMatcher(blacklist: DomainSet, stub: DomainSet, quality: DomainSet): (host: string) => boolean {
  if (quality.size === 0) return () => false;
  const answers = new Map<string, boolean>();
  return (host) => {
    let isOrigin = answers.get(host);
    if (isOrigin === undefined) {
      isOrigin = quality.match(host) !== null && blacklist.match(host) === null && stub.match(host) === null;
      if (answers.size >= MAX_REMEMBERED_HOSTS) answers.clear();
      answers.set(host, isOrigin);
    }
    return isOrigin;
  };
}

function hostMatcher(
  mode: Exclude<HostMode, 'any'>,
  startSites: readonly string[],
): (site: string) => boolean {
  // `www.X` and `X` are one site, and the usual redirect between them must not end a crawl.
  if (mode === 'host') {
    const sites = new Set(startSites.map(withoutWww));
    return (site) => sites.has(withoutWww(site));
  }
  // A mode may add names to those of the start URLs, but the port stays that of the start URL.
  const byPort = new Map<string | null, string[]>();
  for (const { name, port } of startSites.map(splitSite))
    byPort.set(port, [...(byPort.get(port) ?? []), name]);
  const matchers = new Map([...byPort].map(([port, names]) => [port, nameMatcher(mode, names)]));
  return (site) => {
    const { name, port } = splitSite(site);
    return matchers.get(port)?.(name) ?? false;
  };
}

/** A name without a port means every port of it. The default port of http or https also means URLs without a port. */
function listMatcher(patterns: readonly string[]): (site: string) => boolean {
  const parts = patterns.map(splitSite);
  const withPort = (port: string | null) =>
    createDomainSet(parts.filter((part) => part.port === port).map(({ name }) => name));
  const anyPort = withPort(null);
  const byPort = new Map([...new Set(parts.map(({ port }) => port))].map((port) => [port, withPort(port)]));
  return (site) => {
    const { name, port } = splitSite(site);
    if (anyPort.match(name) !== null) return true;
    return (port === null ? ['80', '443'] : [port]).some(
      (each) => (byPort.get(each)?.match(name) ?? null) !== null,
    );
  };
}

function nameMatcher(
  mode: 'subdomains' | 'domain',
  startNames: readonly string[],
): (name: string) => boolean {
  if (mode === 'domain') {
    const domains = new Set(startNames.map(registrableDomain));
    return (name) => domains.has(registrableDomain(name));
  }
  const under = createDomainSet(
    startNames.map(withoutWww).map((name) => (isAddress(name) ? name : `*.${name}`)),
  );
  return (name) => under.match(name) !== null;
}

function withoutWww(host: string): string {
  return host.startsWith('www.') && host.includes('.', 4) ? host.slice(4) : host;
}

function isAddress(host: string): boolean {
  return host.startsWith('[') || /^[\d.]+$/.test(host);
}

function pathRule(paths: readonly string[]): ScopeRule[] {
  if (paths.length === 0) return [];
  const shown = paths.join(', ');
  return [
    ({ fetchUrl }) => {
      const start = pathStart(fetchUrl);
      const isInside = paths.some(
        (path) => fetchUrl.startsWith(path, start) || isDirectoryItself(fetchUrl, start, path),
      );
      return isInside ? null : skipped(`path: outside ${shown}`);
    },
  ];
}

/** `/docs` counts as inside `/docs/`, because servers redirect from it. */
function isDirectoryItself(fetchUrl: string, start: number, path: string): boolean {
  const end = start + path.length - 1;
  if (!path.endsWith('/') || !fetchUrl.startsWith(path.slice(0, -1), start)) return false;
  return end === fetchUrl.length || fetchUrl[end] === '?';
}

function extensionRule(extensions: readonly string[]): ScopeRule[] {
  if (extensions.length === 0) return [];
  const refused = new Set(extensions.map((extension) => extension.replace(/^\./, '').toLowerCase()));
  return [
    ({ fetchUrl, isStart }) => {
      const extension = extensionOf(fetchUrl);
      if (extension === '' || isStart || !refused.has(extension)) return null;
      return skipped(`type: extension .${extension}`);
    },
  ];
}

/** The lower-case extension of the path's last segment, or ''. */
function extensionOf(fetchUrl: string): string {
  const queryAt = fetchUrl.indexOf('?');
  const end = queryAt === -1 ? fetchUrl.length : queryAt;
  const dot = fetchUrl.lastIndexOf('.', end - 1);
  if (dot === -1 || dot < fetchUrl.lastIndexOf('/', end - 1) || dot < pathStart(fetchUrl)) return '';
  return fetchUrl.slice(dot + 1, end).toLowerCase();
}

function pathStart(fetchUrl: string): number {
  return fetchUrl.indexOf('/', fetchUrl.indexOf('://') + 3);
}

function excludeRule(texts: readonly string[]): ScopeRule[] {
  if (texts.length === 0) return [];
  const patterns = texts.map(compileUrlPattern);
  return [
    ({ fetchUrl, isStart }) => {
      if (isStart) return null;
      const found = firstMatch(patterns, fetchUrl);
      return found === null ? null : skipped(`exclude: ${found.text}`);
    },
  ];
}

function depthRule(maxDepth: number | null, isOrigin: (host: string) => boolean): ScopeRule[] {
  if (maxDepth === null) return [];
  return [
    ({ depth, host }) =>
      depth > maxDepth && !isOrigin(host)
        ? { state: 'DepthExceeded', priority: REST.priority, reason: `depth: ${depth} > ${maxDepth}` }
        : null,
  ];
}

/** The last rule: first start pages, then what include matches, then the rest if the mode allows it. */
function acceptRule(options: ScopeOptions): (candidate: ScopeCandidate) => Verdict {
  const patterns = (options.include ?? []).map(compileUrlPattern);
  const unmatched = options.includeMode === 'prefer' ? REST : skipped('include: no pattern matches');
  return ({ fetchUrl, isStart }) => {
    if (isStart) return START;
    return patterns.length === 0 || firstMatch(patterns, fetchUrl) !== null ? WANTED : unmatched;
  };
}

function firstMatch(patterns: readonly UrlPattern[], url: string): UrlPattern | null {
  for (const pattern of patterns) if (pattern.test(url)) return pattern;
  return null;
}
