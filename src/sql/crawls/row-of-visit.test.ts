import { describe, expect, it } from 'vitest';
import type { SettlingVisit } from '../../crawl/parts.ts';
import type { FetchFailure } from '../../fetch/fetcher.ts';
import { NO_FACTS } from '../../store/page-facts.ts';
import { errorTypeOf, isPassing, rowOfVisit, type VisitRowRules } from './row-of-visit.ts';

const URL_A = 'http://www.a.example/x?b=1';
const BODY = Buffer.from('<p>x');

const visit = (more: Partial<SettlingVisit> = {}): SettlingVisit => ({
  ...{ pageId: 1, url: URL_A, fetchUrl: `${URL_A}#`, depth: 2, state: 'Processed', reason: null },
  ...{ outcome: 'new', knownBy: null, failure: null, statusCode: 200, hasFacts: true, date: null },
  ...{ headers: [['content-type', 'text/html']], responseMs: 12.6, redirectTo: null },
  facts: {
    ...NO_FACTS,
    ...{
      statusCode: 200,
      contentType: 'text/html',
      visitedAt: 1000,
      title: 'T',
      etag: '"e"',
      charset: 'utf-8',
    },
    contentHash: Uint8Array.of(0xab, 1),
  },
  text: Buffer.from('x'),
  body: BODY,
  ...more,
});

const rules: VisitRowRules = {
  inputUrlOf: (url) => (url === URL_A ? 'www.a.example/x?b=1' : null),
  respectsNoindex: true,
  wants: { body: true, text: true },
  now: () => 77,
};

describe('a visit as a row', () => {
  it('has what was asked and what was answered', () => {
    expect(rowOfVisit(visit(), rules)).toMatchObject({
      ...{
        url: URL_A,
        surtKey: 'example,a)/x?b=1',
        httpStatus: 200,
        contentType: 'text/html',
        crawlTime: 1000,
      },
      ...{
        error: null,
        errorType: null,
        etag: '"e"',
        contentHash: 'ab01',
        finalUrl: `${URL_A}#`,
        redirectCount: 0,
      },
      ...{ elapsedMs: 13, title: 'T', depth: 2, inputUrl: 'www.a.example/x?b=1', state: 'Processed' },
      ...{ charset: 'utf-8', headers: [['content-type', 'text/html']] },
    });
  });

  it('copies its bytes into buffers of their own, those that are wanted', () => {
    const row = rowOfVisit(visit(), rules);
    expect(Buffer.from(row.body!).toString()).toBe('<p>x');
    expect(row.body!.buffer).not.toBe(BODY.buffer);
    expect(row.body!.buffer.byteLength).toBe(4);
    expect(rowOfVisit(visit(), { ...rules, wants: { body: false, text: false } })).toMatchObject({
      body: null,
      text: null,
    });
  });

  it('loses its content where the page says noindex and that is respected', () => {
    const hidden = visit();
    const facts = { ...hidden.facts, noindex: true };
    expect(rowOfVisit({ ...hidden, facts }, rules)).toMatchObject({ body: null, text: null, title: 'T' });
    const shown = rowOfVisit({ ...hidden, facts }, { ...rules, respectsNoindex: false });
    expect([shown.body?.length, shown.text?.length]).toEqual([4, 1]);
  });

  it('of a redirect says where it leads', () => {
    const moved = visit({ redirectTo: 'http://b.example/', statusCode: 301 });
    expect(rowOfVisit(moved, rules)).toMatchObject({
      ...{ httpStatus: 301, finalUrl: 'http://b.example/', redirectCount: 1, errorType: null },
    });
  });

  it('of a 304 keeps the status that the page was read with', () => {
    expect(rowOfVisit(visit({ statusCode: 304, hasFacts: false, knownBy: '304' }), rules).httpStatus).toBe(
      200,
    );
  });

  it('of a refused page has the time of the refusal', () => {
    const refused = visit({
      ...{ facts: { ...NO_FACTS }, hasFacts: false, statusCode: null, responseMs: null, outcome: null },
      ...{ state: 'Skipped', reason: 'robots: Disallow /x', body: null, text: null, headers: null },
    });
    expect(rowOfVisit(refused, rules)).toMatchObject({
      ...{ crawlTime: 77, httpStatus: null, finalUrl: null, redirectCount: null, elapsedMs: null },
      ...{ error: 'robots: Disallow /x', errorType: 'robots_disallowed' },
    });
  });
});

describe('the type of an error', () => {
  const of = (reason: string | null, more: object = {}) =>
    errorTypeOf({ state: 'Failed', reason, httpStatus: null, ...more });

  it('is told by the reason of the engine', () => {
    const told: Record<string, string> = {
      'http: 404': 'http_client_error',
      'http: 429 Too Many Requests': 'http_rate_limited',
      'rate-limit: 429 Too Many Requests': 'http_rate_limited',
      'http: 503': 'http_server_error',
      'http: 304': 'redirect_error',
      'redirect: loop at http://a/': 'redirect_error',
      'robots: Disallow /x': 'robots_disallowed',
      'robots: unreachable 503': 'http_server_error',
      'robots: unreachable 429': 'http_rate_limited',
      'robots: unreachable connect ECONNREFUSED 127.0.0.1:1': 'network_connection_refused',
      'robots: unreachable getaddrinfo EAI_AGAIN a.example': 'network_dns_failure',
      'robots: unreachable no answer': 'network_error',
      'size: over 10 bytes': 'content_too_large',
      'type: image/png': 'content_type_rejected',
      'encoding: bad gzip': 'network_error',
      'network: unknown-host, getaddrinfo ENOTFOUND': 'network_dns_failure',
      'network: dns': 'network_dns_failure',
      'network: refused, connect ECONNREFUSED': 'network_connection_refused',
      'network: tls, certificate has expired': 'network_ssl_error',
      'network: timeout-headers': 'network_timeout',
      'network: reset, read ECONNRESET': 'network_error',
      'network: no answer from a.example': 'network_error',
    };
    for (const [reason, type] of Object.entries(told)) expect(of(reason), reason).toBe(type);
  });

  it('is told by the failure or the status where there is no reason', () => {
    const failure: FetchFailure = 'timeout-total';
    expect(of(null, { failure })).toBe('network_timeout');
    expect(of(null, { httpStatus: 410 })).toBe('http_client_error');
    expect(of(null)).toBe('network_error');
  });

  it('is none where nothing went wrong, or nobody was to ask', () => {
    expect(of('http: 404', { state: 'Processed' })).toBe(null);
    expect(of('limit: max-pages 3', { state: 'Skipped' })).toBe(null);
  });

  it('passes or lasts', () => {
    expect(
      ['network_error', 'http_server_error', 'http_rate_limited'].map((type) => isPassing(type as never)),
    ).toEqual([true, true, true]);
    expect(
      [null, 'http_client_error', 'robots_disallowed', 'invalid_url'].map((type) => isPassing(type as never)),
    ).toEqual([false, false, false, false]);
  });
});
