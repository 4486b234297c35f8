/**
 * Step 6 ends here: what an outcome means for its page. Pure: an outcome in, one of six answers out. The table of
 * statuses is the one place that turns an HTTP status into a state; the retry policy is the caller's.
 */
import type { FetchFailure, Outcome } from '../../fetch/fetcher.ts';
import type { PageState } from '../../frontier/page-state.ts';

export type Answer =
  /** A body to read (or a 2xx without one). */
  | { kind: 'page' }
  | { kind: 'not-modified' }
  | { kind: 'redirect'; location: string }
  | { kind: 'final'; state: PageState; reason: string }
  /** May be tried again; `state` is what it comes to when the tries are used up. */
  | { kind: 'retry'; state: PageState; reason: string }
  | { kind: 'rate-limited'; reason: string }
  /** Nothing happened on the wire: the page goes back as it was. */
  | { kind: 'unasked' };

const STATUS_STATES: Readonly<Record<number, PageState>> = { 404: 'DeadLink', 410: 'Gone' };
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** Failures to connect at all: the host is unreachable rather than the page broken. */
const UNREACHABLE: ReadonlySet<FetchFailure> = new Set(['dns', 'unknown-host', 'refused', 'tls', 'proxy']);

export interface JudgeOptions {
  maxBodyBytes: number;
  /** Connection refused and TLS errors may be tried again. */
  retryRefused: boolean;
}

export function judgeAnswer(outcome: Outcome, options: JudgeOptions): Answer {
  const { failure } = outcome;
  // An error page or redirect has said all that matters in its head: what became of its body is no matter.
  const isDecided = outcome.head !== null && outcome.head.status >= 300 && failure !== 'aborted';
  if (failure !== null && !isDecided) return judgeFailure(outcome, failure, options);
  const { status, contentType, location } = outcome.head!;
  if (status === 429) return { kind: 'rate-limited', reason: 'http: 429 Too Many Requests' };
  if (status >= 500) return { kind: 'retry', state: 'Failed', reason: `http: ${status}` };
  if (status >= 400)
    return { kind: 'final', state: STATUS_STATES[status] ?? 'Failed', reason: `http: ${status}` };
  if (status === 304) return { kind: 'not-modified' };
  if (REDIRECTS.has(status)) {
    return location === null || location === ''
      ? { kind: 'final', state: 'Failed', reason: `redirect: ${status} without a Location` }
      : { kind: 'redirect', location };
  }
  if (status >= 300) return { kind: 'final', state: 'Failed', reason: `http: ${status}` };
  if (outcome.bodyRefused)
    return { kind: 'final', state: 'ContentMismatch', reason: `type: ${contentType ?? 'none'}` };
  return { kind: 'page' };
}

function judgeFailure(outcome: Outcome, failure: FetchFailure, options: JudgeOptions): Answer {
  // Queued again, the page is refused before it takes a slot: what is known of it stays.
  if (failure === 'not-sent' || failure === 'aborted' || failure === 'egress') return { kind: 'unasked' };
  if (failure === 'too-large') {
    return { kind: 'final', state: 'Failed', reason: `size: over ${options.maxBodyBytes} bytes` };
  }
  if (failure === 'decode')
    return { kind: 'final', state: 'Failed', reason: `encoding: ${outcome.message ?? 'undecodable'}` };
  const state: PageState = UNREACHABLE.has(failure) ? 'Unreachable' : 'Failed';
  const reason = `network: ${failure}${outcome.message === null ? '' : `, ${outcome.message}`}`;
  if (failure === 'unknown-host') return { kind: 'final', state, reason };
  const isFinal = (failure === 'refused' || failure === 'tls') && !options.retryRefused;
  return isFinal ? { kind: 'final', state, reason } : { kind: 'retry', state, reason };
}
