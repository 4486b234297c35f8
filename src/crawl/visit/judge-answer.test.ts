import { describe, expect, it } from 'vitest';
import type { FetchFailure, Outcome, ResponseHead } from '../../fetch/fetcher.ts';
import { emptyHead } from '../../fetch/response-head.ts';
import { type Answer, judgeAnswer } from './judge-answer.ts';

const HEAD: ResponseHead = { ...emptyHead(200), contentType: 'text/html' };

function outcome(head: Partial<ResponseHead> | null, more: Partial<Outcome> = {}): Outcome {
  return {
    head: head === null ? null : { ...HEAD, ...head },
    body: null,
    bodyRefused: false,
    failure: null,
    message: null,
    sentAt: 1,
    responseMs: 1,
    wireBytes: 0,
    ...more,
  };
}

const OPTIONS = { maxBodyBytes: 1000, retryRefused: true };

function judge(head: Partial<ResponseHead> | null, more: Partial<Outcome> = {}, retryRefused = true): Answer {
  return judgeAnswer(outcome(head, more), { ...OPTIONS, retryRefused });
}

describe('a status', () => {
  it('of 2xx is a page, whatever its number', () => {
    for (const status of [200, 201, 203, 204, 206]) expect(judge({ status })).toEqual({ kind: 'page' });
  });

  it('of 404 and 410 is a dead link and gone, for good', () => {
    expect(judge({ status: 404 })).toEqual({ kind: 'final', state: 'DeadLink', reason: 'http: 404' });
    expect(judge({ status: 410 })).toEqual({ kind: 'final', state: 'Gone', reason: 'http: 410' });
  });

  it('of any other 4xx is a failure, for good', () => {
    for (const status of [400, 401, 403, 408, 418, 451])
      expect(judge({ status })).toEqual({ kind: 'final', state: 'Failed', reason: `http: ${status}` });
  });

  it('of 429 is a matter of pace', () => {
    expect(judge({ status: 429 })).toMatchObject({ kind: 'rate-limited' });
  });

  it('of 5xx may be tried again and comes to a failure', () => {
    for (const status of [500, 502, 503, 504, 599])
      expect(judge({ status })).toEqual({ kind: 'retry', state: 'Failed', reason: `http: ${status}` });
  });

  it('of a redirect leads on, or nowhere without a Location', () => {
    for (const status of [301, 302, 303, 307, 308]) {
      expect(judge({ status, location: '/x' })).toEqual({ kind: 'redirect', location: '/x' });
      for (const location of [null, ''])
        expect(judge({ status, location })).toMatchObject({ kind: 'final', state: 'Failed' });
    }
  });

  it('of 304 says that nothing changed, of another 3xx nothing of use', () => {
    expect(judge({ status: 304 })).toEqual({ kind: 'not-modified' });
    expect(judge({ status: 300, location: '/x' })).toMatchObject({ kind: 'final', state: 'Failed' });
  });
});

describe('a body', () => {
  it('of a type nobody wants is a mismatch that names the type', () => {
    expect(judge({ contentType: 'video/mp4' }, { bodyRefused: true })).toEqual({
      kind: 'final',
      state: 'ContentMismatch',
      reason: 'type: video/mp4',
    });
    expect(judge({ contentType: null }, { bodyRefused: true })).toMatchObject({ reason: 'type: none' });
  });

  it('that is too large or cannot be decoded fails for good, and says why', () => {
    expect(judge({}, { failure: 'too-large' })).toEqual({
      kind: 'final',
      state: 'Failed',
      reason: 'size: over 1000 bytes',
    });
    expect(judge({}, { failure: 'decode', message: 'bad gzip' })).toEqual({
      kind: 'final',
      state: 'Failed',
      reason: 'encoding: bad gzip',
    });
  });

  it('that breaks off may be tried again', () => {
    expect(judge({}, { failure: 'reset', message: 'closed' })).toEqual({
      kind: 'retry',
      state: 'Failed',
      reason: 'network: reset, closed',
    });
  });

  it('of an error page or redirect does not matter: the head has said all', () => {
    expect(judge({ status: 404 }, { failure: 'reset' })).toMatchObject({ kind: 'final', state: 'DeadLink' });
    expect(judge({ status: 301, location: '/x' }, { failure: 'too-large' })).toMatchObject({
      kind: 'redirect',
    });
  });
});

describe('no answer', () => {
  const finalWithoutRetry: FetchFailure[] = ['refused', 'tls'];
  const kinds: [FetchFailure, string][] = [
    ['dns', 'Unreachable'],
    ['refused', 'Unreachable'],
    ['tls', 'Unreachable'],
    ['proxy', 'Unreachable'],
    ['reset', 'Failed'],
    ['timeout-connect', 'Failed'],
    ['timeout-headers', 'Failed'],
    ['timeout-body', 'Failed'],
    ['timeout-total', 'Failed'],
    ['protocol', 'Failed'],
    ['other', 'Failed'],
  ];

  it('may be tried again, and comes to unreachable when nobody could be connected to', () => {
    for (const [failure, state] of kinds)
      expect(judge(null, { failure }), failure).toEqual({
        kind: 'retry',
        state,
        reason: `network: ${failure}`,
      });
  });

  it('for want of such a name is final: another try cannot help', () => {
    for (const retryRefused of [true, false])
      expect(judge(null, { failure: 'unknown-host' }, retryRefused)).toMatchObject({
        kind: 'final',
        state: 'Unreachable',
      });
  });

  it('for want of a listener or of a good certificate is final where the profile says so', () => {
    for (const [failure] of kinds) {
      const kind = finalWithoutRetry.includes(failure) ? 'final' : 'retry';
      expect(judge(null, { failure }, false), failure).toMatchObject({ kind });
    }
  });

  it('because nothing was sent leaves the page as it was', () => {
    for (const failure of ['not-sent', 'aborted'] as const)
      expect(judge(null, { failure })).toEqual({ kind: 'unasked' });
    expect(judge({ status: 404 }, { failure: 'aborted' })).toEqual({ kind: 'unasked' });
  });
});
