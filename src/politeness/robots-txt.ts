/**
 * Reads a robots.txt by RFC 9309 and answers: may this agent request this path, and which line says so?
 *
 * Promises: never throws, whatever the bytes; reads at most 500 KiB; a decision takes time linear in the path for each
 * rule, because wildcards are matched from left to right without going back. Never fetches, caches or waits: the other
 * files of politeness/ do.
 */

/** RFC 9309 section 2.5 asks for at least 500 KiB; what comes after is not read. */
export const ROBOTS_BODY_LIMIT_BYTES = 500 * 1024;

export interface RobotsTxt {
  readonly groups: readonly RobotsGroup[];
  readonly sitemaps: readonly string[];
}

export interface RequestRate {
  readonly requests: number;
  readonly seconds: number;
}

export interface RobotsDecision {
  readonly allowed: boolean;
  /** The line that decided, such as `Disallow /private/`; null if no line matches. */
  readonly rule: string | null;
}

export interface RobotsRules {
  /** Takes an absolute URL or a path with its query. */
  decide(urlOrPath: string): RobotsDecision;
  /** The number of that line in the file, from 1; null if no line matches. */
  lineOf(urlOrPath: string): number | null;
  readonly crawlDelaySeconds: number | null;
  readonly requestRate: RequestRate | null;
  /** The longer of Crawl-delay and the pause that Request-rate means; null if the file has neither. */
  readonly delaySeconds: number | null;
  readonly sitemaps: readonly string[];
}

interface RobotsGroup {
  readonly agents: string[];
  readonly rules: PathRule[];
  crawlDelaySeconds: number | null;
  requestRate: RequestRate | null;
}

interface PathRule {
  readonly allow: boolean;
  /** Literal pieces between the stars, in canonical escapes. */
  readonly pieces: readonly string[];
  /** The same with reserved characters of the query decoded; null where the rule has no query. */
  readonly queryPieces: readonly string[] | null;
  readonly isAnchored: boolean;
  readonly octets: number;
  readonly text: string;
  /** The line of the rule in the file, from 1. */
  readonly line: number;
}

const UNMATCHED: RobotsDecision = { allowed: true, rule: null };

/** Spellings that are so common that ignoring them would ignore what the site clearly wants. */
const MISSPELT_KEYS: Readonly<Record<string, string>> = {
  useragent: 'user-agent',
  'user agent': 'user-agent',
  dissallow: 'disallow',
  dissalow: 'disallow',
  disalow: 'disallow',
  diasllow: 'disallow',
  disallaw: 'disallow',
  desallow: 'disallow',
  'site-map': 'sitemap',
};

export function parseRobotsTxt(body: Uint8Array | string): RobotsTxt {
  const groups: RobotsGroup[] = [];
  const sitemaps: string[] = [];
  let group: RobotsGroup | null = null;
  let isHeaderOpen = false;
  let lineNumber = 0;
  for (const line of readOctets(body).split(/\r\n|\r|\n/)) {
    lineNumber++;
    const record = readRecord(line);
    if (record === null) continue;
    const { key, value } = record;
    if (key === 'user-agent') {
      if (group === null || !isHeaderOpen) {
        group = { agents: [], rules: [], crawlDelaySeconds: null, requestRate: null };
        groups.push(group);
        isHeaderOpen = true;
      }
      group.agents.push(agentToken(value));
    } else if (key === 'sitemap') {
      if (value !== '') sitemaps.push(utf8FromOctets(value));
    } else if (group !== null) {
      // Section 2.2.4: only allow and disallow end a run of user-agent lines, no other record may.
      if (key === 'allow' || key === 'disallow') {
        isHeaderOpen = false;
        if (value !== '') group.rules.push(compileRule(key === 'allow', value, lineNumber));
      } else if (key === 'crawl-delay') {
        group.crawlDelaySeconds = longer(group.crawlDelaySeconds, readSeconds(value));
      } else if (key === 'request-rate') {
        group.requestRate = slower(group.requestRate, readRate(value));
      }
    }
  }
  return { groups, sitemaps };
}

/** The rules that bind one crawler: all groups that name it, or else all groups for `*`, or else none. */
export function rulesFor(robots: RobotsTxt, productToken: string): RobotsRules {
  const token = agentToken(octetsFromUtf8(productToken));
  let groups = token === '' ? [] : robots.groups.filter((group) => group.agents.includes(token));
  if (groups.length === 0) groups = robots.groups.filter((group) => group.agents.includes('*'));
  // Longest first and allow before disallow, so that the first match is the answer (section 2.2.2).
  const rules = groups
    .flatMap((group) => group.rules)
    .sort((a, b) => b.octets - a.octets || Number(b.allow) - Number(a.allow));
  const crawlDelaySeconds = groups.reduce<number | null>(
    (delay, g) => longer(delay, g.crawlDelaySeconds),
    null,
  );
  const requestRate = groups.reduce<RequestRate | null>((rate, g) => slower(rate, g.requestRate), null);
  return {
    decide: (urlOrPath) => decideByRules(rules, urlOrPath),
    lineOf: (urlOrPath) => firstMatch(rules, urlOrPath)?.line ?? null,
    crawlDelaySeconds,
    requestRate,
    delaySeconds: longer(crawlDelaySeconds, requestRate && requestRate.seconds / requestRate.requests),
    sitemaps: robots.sitemaps,
  };
}

/** Section 2.2.1: the names in a User-Agent header that robots.txt files can use. */
export function isProductToken(text: string): boolean {
  return /^[A-Za-z_-]+$/.test(text);
}

function decideByRules(rules: readonly PathRule[], urlOrPath: string): RobotsDecision {
  const rule = firstMatch(rules, urlOrPath);
  if (rule === null) return UNMATCHED;
  return { allowed: rule.allow, rule: `${rule.allow ? 'Allow' : 'Disallow'} ${rule.text}` };
}

function firstMatch(rules: readonly PathRule[], urlOrPath: string): PathRule | null {
  if (rules.length === 0) return null;
  const raw = pathAndQuery(urlOrPath);
  if (raw === '/robots.txt') return null;
  const octets = octetsFromUtf8(raw);
  const path = canonicalEscapes(octets, false);
  let queryPath: string | null = null;
  for (const rule of rules) {
    let isMatch = matchesPieces(rule.pieces, rule.isAnchored, path);
    if (!isMatch && rule.queryPieces !== null) {
      queryPath ??= canonicalEscapes(octets, true);
      isMatch = matchesPieces(rule.queryPieces, rule.isAnchored, queryPath);
    }
    if (isMatch) return rule;
  }
  return null;
}

/** Leftmost placement of each piece is enough: if any placement fits, the leftmost one does. */
function matchesPieces(pieces: readonly string[], isAnchored: boolean, path: string): boolean {
  const first = pieces[0];
  if (!path.startsWith(first)) return false;
  const last = pieces.length - 1;
  if (last === 0) return !isAnchored || path.length === first.length;
  let at = first.length;
  for (let i = 1; i < last; i++) {
    const found = path.indexOf(pieces[i], at);
    if (found === -1) return false;
    at = found + pieces[i].length;
  }
  if (isAnchored) return path.length - pieces[last].length >= at && path.endsWith(pieces[last]);
  return path.indexOf(pieces[last], at) !== -1;
}

function compileRule(allow: boolean, value: string, line: number): PathRule {
  const isAnchored = value.endsWith('$');
  const parts = (isAnchored ? value.slice(0, -1) : value).split('*');
  const pieces = parts.map((part) => canonicalEscapes(part, false));
  let queryPieces: string[] | null = null;
  if (value.includes('?')) {
    let isQuery = false;
    queryPieces = parts.map((part) => {
      const piece = canonicalEscapes(part, true, isQuery);
      isQuery ||= part.includes('?');
      return piece;
    });
  }
  const octets = pieces.reduce((sum, piece) => sum + piece.length, parts.length - 1 + (isAnchored ? 1 : 0));
  // `/a**b` says no more than `/a*b`; dropping empty inner pieces keeps hostile runs of stars cheap.
  const inner = (list: string[]) =>
    list.filter((piece, i) => piece !== '' || i === 0 || i === list.length - 1);
  return {
    allow,
    pieces: inner(pieces),
    queryPieces: queryPieces && inner(queryPieces),
    isAnchored,
    octets,
    text: utf8FromOctets(value),
    line,
  };
}

const NEEDS_ESCAPE_WORK = /[^!#-;=?-[\]_a-z~]|%/;
const ESCAPE_OR_ILLEGAL = /%([0-9A-Fa-f]{2})|[^!#-;=?-[\]_a-z~]/g;

/**
 * One spelling for equal octets (section 2.2.2): escapes of unreserved characters are decoded, other escapes are upper
 * case, and octets that a URI may not contain are escaped. `%2A` and `%24` become the literal `*` and `$`; this is
 * safe, because wildcards were split off before. Inside a query, the standard also treats `:` and `%3A` as equal, and
 * `/` and `%2F`.
 */
function canonicalEscapes(octets: string, decodeQuery: boolean, startsInQuery = false): string {
  if (octets.search(NEEDS_ESCAPE_WORK) === -1) return octets;
  const queryAt = startsInQuery ? -1 : octets.indexOf('?');
  const isInQuery = (at: number) => decodeQuery && (startsInQuery || (queryAt !== -1 && at > queryAt));
  return octets.replace(ESCAPE_OR_ILLEGAL, (found, hex: string | undefined, at: number) => {
    if (hex === undefined) return `%${found.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
    const char = String.fromCharCode(Number.parseInt(hex, 16));
    if (/[A-Za-z0-9\-._~*$]/.test(char)) return char;
    if (isInQuery(at) && /[:/?@]/.test(char)) return char;
    return found.toUpperCase();
  });
}

function pathAndQuery(urlOrPath: string): string {
  let from = 0;
  if (!urlOrPath.startsWith('/')) {
    const scheme = /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.exec(urlOrPath);
    const rest = urlOrPath.slice(scheme ? scheme[0].length : 0);
    const at = rest.search(/[/?#]/);
    from = at === -1 ? urlOrPath.length : urlOrPath.length - rest.length + at;
  }
  const hash = urlOrPath.indexOf('#', from);
  const path = urlOrPath.slice(from, hash === -1 ? undefined : hash);
  return path.startsWith('/') ? path : `/${path}`;
}

function readRecord(line: string): { key: string; value: string } | null {
  const hash = line.indexOf('#');
  const text = trimSpace(hash === -1 ? line : line.slice(0, hash));
  if (text === '') return null;
  // A line without a colon is no record, even if it looks like one (section 2.2).
  const colon = text.indexOf(':');
  if (colon === -1) return null;
  const key = trimSpace(text.slice(0, colon)).toLowerCase();
  return { key: MISSPELT_KEYS[key] ?? key, value: trimSpace(text.slice(colon + 1)) };
}

/** The part of an agent's name that counts: up to a version, a space or a comment. */
function agentToken(octets: string): string {
  if (/^\*(\s|$)/.test(octets)) return '*';
  return (/^[^\s/,;()*]*/.exec(octets)?.[0] ?? '').toLowerCase();
}

function readSeconds(value: string): number | null {
  return /^(\d+\.?\d*|\.\d+)$/.test(value) ? Number(value) : null;
}

/** `requests/time` with an optional unit s, m or h. A time of day after it is ignored: the pause then always holds. */
function readRate(value: string): RequestRate | null {
  const parts = /^(\d+)\s*\/\s*(\d+)\s*([smh]?)(?:\s|$)/i.exec(value);
  if (parts === null) return null;
  const requests = Number(parts[1]);
  const unit = { s: 1, m: 60, h: 3600 }[parts[3].toLowerCase()] ?? 1;
  return requests === 0 ? null : { requests, seconds: Number(parts[2]) * unit };
}

function longer(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.max(a, b);
}

function slower(a: RequestRate | null, b: RequestRate | null): RequestRate | null {
  if (a === null || b === null) return a ?? b;
  return b.seconds / b.requests > a.seconds / a.requests ? b : a;
}

/**
 * Without a regular expression: it would go back over long runs of spaces, and it takes 0xA0 for a space, which is half
 * a letter here.
 */
function trimSpace(octets: string): string {
  let start = 0;
  let end = octets.length;
  while (start < end && octets.charCodeAt(start) <= 0x20) start++;
  while (end > start && octets.charCodeAt(end - 1) <= 0x20) end--;
  return octets.slice(start, end);
}

/** One character per octet, so that lengths and escapes are those of the file and not of its decoding. */
function readOctets(body: Uint8Array | string): string {
  let bytes =
    typeof body === 'string'
      ? Buffer.from(body, 'utf8')
      : Buffer.from(body.buffer, body.byteOffset, body.length);
  if (bytes.length > ROBOTS_BODY_LIMIT_BYTES) {
    // A line that is cut would be a rule that nobody wrote: `Disallow: /` from `Disallow: /private`.
    const cut = bytes.subarray(0, ROBOTS_BODY_LIMIT_BYTES);
    bytes = cut.subarray(0, Math.max(cut.lastIndexOf(10), cut.lastIndexOf(13)) + 1);
  }
  if (bytes[0] === 0xff && bytes[1] === 0xfe)
    return octetsFromUtf8(new TextDecoder('utf-16le').decode(bytes));
  if (bytes[0] === 0xfe && bytes[1] === 0xff)
    return octetsFromUtf8(new TextDecoder('utf-16be').decode(bytes));
  const hasBom = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString('latin1', hasBom ? 3 : 0);
}

function octetsFromUtf8(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII is meant.
  return /^[\x00-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1');
}

function utf8FromOctets(octets: string): string {
  return Buffer.from(octets, 'latin1').toString('utf8');
}
