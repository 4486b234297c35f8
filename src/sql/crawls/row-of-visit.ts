/**
 * A settled visit as a row of SQL: what was asked, what was answered, and one word for what went wrong. Bytes are copied,
 * because those of a visit are used again. A page that says noindex keeps its row and loses its content where the crawl
 * respects that. Tells nothing of the table and writes nothing.
 */
import type { SettlingVisit } from '../../crawl/parts.ts';
import { systemClock } from '../../primitives/clock.ts';
import { surtKey } from '../../url/surt.ts';
import type { CrawlRow, ErrorType } from '../table/crawl-row.ts';

export interface VisitRowRules {
  /** The text of the input that asked for this page; null for a page that was found. */
  inputUrlOf: (url: string) => string | null;
  respectsNoindex: boolean;
  /** What there is a column for; the rest is not copied. */
  wants: { body: boolean; text: boolean };
  /** Where bodies are copied to; without it each gets a buffer of its own. */
  copy?: (bytes: Uint8Array) => Uint8Array;
  /** The time, for a page that was refused without a request. */
  now?: () => number;
}

export function rowOfVisit(visit: SettlingVisit, rules: VisitRowRules): CrawlRow {
  const { facts, url, fetchUrl, redirectTo, reason, depth, state } = visit;
  // A 304 says that the page is as it was answered before.
  const httpStatus = visit.hasFacts ? visit.statusCode : (facts.statusCode ?? visit.statusCode);
  const isHidden = facts.noindex && rules.respectsNoindex;
  const isAnswered = httpStatus !== null;
  return {
    url,
    surtKey: surtKey(url),
    httpStatus,
    contentType: facts.contentType,
    // Nobody answered, or nobody was asked.
    crawlTime: facts.visitedAt === 0 ? (rules.now ?? systemClock.now)() : facts.visitedAt,
    error: state === 'Processed' ? null : (reason ?? state),
    errorType: errorTypeOf({ state, reason, httpStatus, failure: visit.failure }),
    etag: facts.etag,
    lastModified: facts.lastModified,
    contentHash: facts.contentHash === null ? null : Buffer.from(facts.contentHash).toString('hex'),
    finalUrl: redirectTo ?? (isAnswered ? fetchUrl : null),
    redirectCount: redirectTo === null ? (isAnswered ? 0 : null) : 1,
    elapsedMs: visit.responseMs === null ? null : Math.round(visit.responseMs),
    title: facts.title,
    depth,
    inputUrl: rules.inputUrlOf(url),
    state,
    body: rules.wants.body && !isHidden ? copyOf(visit.body, rules) : null,
    charset: facts.charset,
    headers: visit.headers,
    text: rules.wants.text && !isHidden ? copyOf(visit.text, rules) : null,
    h1: facts.h1,
    metaDescription: facts.description,
    lang: facts.lang,
    canonical: facts.canonical,
    wordCount: facts.wordCount,
  };
}

function copyOf(bytes: Uint8Array | null, { copy = ownCopy }: VisitRowRules): Uint8Array | null {
  return bytes === null ? null : copy(bytes);
}

/** `slice` of a Buffer would be a view of it. */
const ownCopy = (bytes: Uint8Array) => new Uint8Array(bytes);

export type Failing = Pick<SettlingVisit, 'state' | 'reason'> &
  Partial<Pick<SettlingVisit, 'failure'>> & { httpStatus: number | null };

/** Null for a page that was answered as a page or as a redirect, and for one that was not to be asked for. */
export function errorTypeOf({ state, reason, failure = null, httpStatus }: Failing): ErrorType | null {
  if (state === 'Processed') return null;
  const [kind, rest] = splitReason(reason ?? '');
  switch (kind) {
    case 'http':
      return ofStatus(Number.parseInt(rest, 10));
    case 'rate-limit':
      return 'http_rate_limited';
    case 'network':
      return ofFailure(/^[a-z-]+/.exec(rest)?.[0] ?? failure ?? '');
    case 'robots':
      return rest.startsWith('unreachable')
        ? ofUnreachable(rest.slice('unreachable'.length).trim())
        : 'robots_disallowed';
    case 'redirect':
      return 'redirect_error';
    case 'size':
      return 'content_too_large';
    case 'type':
      return 'content_type_rejected';
    case 'encoding':
    case 'internal':
      return 'network_error';
  }
  if (failure !== null) return ofFailure(failure);
  if (httpStatus !== null && httpStatus >= 300) return ofStatus(httpStatus);
  // Scope, limits, conditions: nobody asked, so nothing went wrong.
  return state === 'Failed' || state === 'Unreachable' ? 'network_error' : null;
}

/** The engine's reasons are `kind: what`. */
function splitReason(reason: string): [kind: string, rest: string] {
  const colon = reason.indexOf(':');
  return colon === -1 ? ['', reason] : [reason.slice(0, colon), reason.slice(colon + 1).trim()];
}

function ofStatus(status: number): ErrorType {
  if (status === 429) return 'http_rate_limited';
  if (status >= 500) return 'http_server_error';
  return status >= 400 ? 'http_client_error' : 'redirect_error';
}

const OF_FAILURE: Readonly<Record<string, ErrorType>> = {
  dns: 'network_dns_failure',
  'unknown-host': 'network_dns_failure',
  refused: 'network_connection_refused',
  tls: 'network_ssl_error',
  'timeout-connect': 'network_timeout',
  'timeout-headers': 'network_timeout',
  'timeout-body': 'network_timeout',
  'timeout-total': 'network_timeout',
  'too-large': 'content_too_large',
};

function ofFailure(failure: string): ErrorType {
  return OF_FAILURE[failure] ?? 'network_error';
}

/** A robots.txt that could not be read: the status that it was answered with, or what the runtime said. */
function ofUnreachable(why: string): ErrorType {
  if (/^\d{3}$/.test(why)) return ofStatus(Number(why));
  if (/ENOTFOUND|EAI_AGAIN/.test(why)) return 'network_dns_failure';
  if (/ECONNREFUSED/.test(why)) return 'network_connection_refused';
  if (/time|ETIMEDOUT/i.test(why)) return 'network_timeout';
  return /certificate|TLS|SSL/i.test(why) ? 'network_ssl_error' : 'network_error';
}

/** The failure may be over by now: a later CRAWL asks for the page again. */
export function isPassing(errorType: ErrorType | null): boolean {
  if (errorType === null) return false;
  return (
    errorType.startsWith('network_') || errorType === 'http_server_error' || errorType === 'http_rate_limited'
  );
}
