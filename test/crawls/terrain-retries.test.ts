// Specification 004 section 4.3, row by row, in the terrain profile as it is.
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { answer, type Exchange, type FakeWeb } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { type CrawlFile, fastClock, page, useBench } from './crawl-site.ts';
import { mapWeb } from './terrain-file.ts';

const bench = useBench();

async function closedPort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.9', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const methods = (web: FakeWeb, path: string) => web.requestsTo(path).map(({ method }) => method);

/** Pauses between one try of a page and the next, by the crawler's own clock; a HEAD and its GET are one try. */
function pausesMs(file: CrawlFile, url: string, kind: 'GET' | 'HEAD'): number[] {
  const sent = file
    .rows<{ sent_at: number }>(
      `SELECT q.sent_at FROM request q JOIN pages p ON p.id = q.page_id WHERE p.fetch_url = ? AND q.kind = ? ORDER BY q.id`,
      url,
      kind === 'GET' ? 0 : 1,
    )
    .map((row) => row.sent_at);
  return sent.slice(1).map((at, i) => at - sent[i]);
}

describe('in a terrain map', () => {
  it('404 is a DeadLink at once', async () => {
    const web = await bench.web({ pages: { '/': page('Home', '/gone'), '/gone': misbehaviours.notFound() } });
    const file = bench.file();
    await mapWeb(bench, file, web, {});
    expect(file.page('/gone')).toMatchObject({ state: 'DeadLink', status_code: 404, retry_count: 0 });
    // HEAD's word is checked for the first pages of a host: head-first.test.ts.
    expect(methods(web, '/gone')).toEqual(['HEAD', 'GET']);
  });

  it('429 suspends the domain for the run: what waits there is RateLimited, other domains go on', async () => {
    const web = await bench.web({
      hosts: 2,
      pages: {
        '0:/': (at: Exchange) =>
          answer(at, { body: page('Home', at.url('/a', 1), at.url('/b', 1), at.url('/c', 1), '/own') }),
        '1:/a': misbehaviours.rateLimitedForSeconds(9, 1),
        '/*': page('P'),
      },
    });
    const file = bench.file();
    const { summary } = await mapWeb(bench, file, web, {});
    expect(summary.status).toBe('completed');
    for (const path of ['/a', '/b', '/c'])
      expect(file.page(web.url(path, 1)), path).toMatchObject({
        state: 'RateLimited',
        reason: 'rate-limit: 429 Too Many Requests',
      });
    expect(file.page('/own').state).toBe('Processed');
    expect(methods(web, '/a')).toEqual(['HEAD']);
    expect([...methods(web, '/b'), ...methods(web, '/c')]).toEqual([]);
    expect(file.rows('SELECT domain FROM domain_states WHERE rate_limited = 1')).toEqual([
      { domain: '127.0.0.2' },
    ]);
  });

  it('5xx is tried three times more, five seconds apart, then Failed', async () => {
    const web = await bench.web({
      pages: { '/': page('Home', '/broken'), '/broken': misbehaviours.serverError() },
    });
    const file = bench.file();
    await mapWeb(bench, file, web, {});
    expect(file.page('/broken')).toMatchObject({ state: 'Failed', reason: 'http: 500', retry_count: 3 });
    const pauses = pausesMs(file, web.url('/broken'), 'GET');
    expect(pauses).toHaveLength(3);
    for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(5000);
  });

  it('5xx that gets better in time is read', async () => {
    // HEAD and GET of the first try, HEAD and GET of the second.
    const web = await bench.web({
      pages: { '/': page('Home', '/busy'), '/busy': misbehaviours.unavailableAtFirst(4) },
    });
    const file = bench.file();
    await mapWeb(bench, file, web, {});
    expect(file.page('/busy')).toMatchObject({ state: 'Processed', retry_count: 2 });
  });

  it('a time-out is tried three times more, five seconds apart, then Failed', async () => {
    const web = await bench.web({
      pages: { '/': page('Home', '/silent'), '/silent': misbehaviours.neverAnswers() },
    });
    const file = bench.file();
    await mapWeb(bench, file, web, {}, { timeout: 2, headersTimeout: 2 });
    expect(file.page('/silent')).toMatchObject({ state: 'Failed', retry_count: 3 });
    expect(file.page('/silent').reason).toMatch(/^network: timeout/);
    const pauses = pausesMs(file, web.url('/silent'), 'HEAD');
    expect(pauses).toHaveLength(3);
    for (const pause of pauses) expect(pause).toBeGreaterThanOrEqual(5000);
  });

  it('a refused connection is Unreachable at once', async () => {
    const nobody = `http://127.0.0.9:${await closedPort()}/x`;
    const web = await bench.web({ pages: { '/': page('Home', nobody) } });
    const file = bench.file();
    await mapWeb(bench, file, web, {});
    expect(file.page(nobody)).toMatchObject({ state: 'Unreachable', retry_count: 0 });
    // The same where no robots.txt stands before the page.
    const other = bench.file();
    await mapWeb(bench, other, web, {}, { robots: false });
    expect(other.page(nobody)).toMatchObject({ state: 'Unreachable', retry_count: 0 });
    expect(other.page(nobody).reason).toMatch(/^network: refused/);
  });

  it('a failed TLS handshake is Unreachable at once, and http is asked as https unless allowed', async () => {
    const web = await bench.web({ hosts: 2, pages: { '/*': page('P') } });
    // The fake web speaks no TLS.
    const secure = web.url('/x', 1).replace('http:', 'https:');
    const home = await bench.web({ pages: { '/': page('Home', secure) } });
    const file = bench.file();
    await mapWeb(bench, file, home, {}, { robots: false });
    expect(file.page(secure)).toMatchObject({ state: 'Unreachable', retry_count: 0 });
    expect(file.page(secure).reason).toMatch(/^network: tls/);
  });

  it('a redirect loop is Failed at once, with the reason', async () => {
    const web = await bench.web({
      pages: {
        '/': page('Home', '/a'),
        '/a': { status: 302, headers: { location: '/b' } },
        '/b': { status: 302, headers: { location: '/a' } },
      },
    });
    const file = bench.file();
    await mapWeb(bench, file, web, {});
    for (const path of ['/a', '/b']) {
      expect(file.page(path).state, path).toBe('Failed');
      expect(file.page(path).reason, path).toMatch(/^redirect: loop at /);
      expect(web.requestsTo(path).length, path).toBeLessThanOrEqual(2);
    }
  });

  it('a chain of more than ten redirects is Failed, with the reason', async () => {
    const pages: Record<string, unknown> = { '/': page('Home', '/r0') };
    for (let n = 0; n < 14; n++) pages[`/r${n}`] = { status: 302, headers: { location: `/r${n + 1}` } };
    const web = await bench.web({ pages: { ...(pages as Record<string, string>), '/r14': page('End') } });
    const file = bench.file();
    await mapWeb(bench, file, web, {});
    expect(file.page('/r0')).toMatchObject({ state: 'Failed', reason: 'redirect: more than 10 hops' });
    expect(web.requestsTo('/r14')).toEqual([]);
    // Nor does the next run go on where this one stopped.
    await mapWeb(bench, file, web, {});
    expect(web.requestsTo('/r10').length).toBeGreaterThan(1);
    expect(web.requestsTo('/r11')).toEqual([]);
  });

  it('a redirect into the blacklist or a stub stops there, and its target is recorded with who led to it', async () => {
    const web = await bench.web({
      hosts: 3,
      pages: {
        '0:/': page('Home', '/to-ads', '/to-repo'),
        '0:/to-ads': (at: Exchange) => answer(at, { status: 302, headers: { location: at.url('/ad', 1) } }),
        '0:/to-repo': (at: Exchange) =>
          answer(at, { status: 301, headers: { location: at.url('/repo', 2) } }),
        '/*': page('P'),
      },
    });
    const file = bench.file();
    await mapWeb(bench, file, web, { blacklist: [1], stub: [2] });
    expect(file.page(web.url('/ad', 1))).toMatchObject({
      state: 'Blacklisted',
      reason: 'blacklist: 127.0.0.2',
    });
    expect(file.page(web.url('/repo', 2))).toMatchObject({ state: 'Stubbed', reason: 'stub: 127.0.0.3' });
    expect(file.page('/to-ads').state).toBe('Failed');
    expect(file.page('/to-ads').reason).toMatch(/^redirect: to .* refused, blacklist: 127\.0\.0\.2/);
    const referrers = (kind: string) =>
      file.rows(
        `SELECT u.reference_count, p.fetch_url AS referrer FROM ${kind}_urls u JOIN ${kind}_referrers r ON r.${kind}_url_id = u.id
         JOIN pages p ON p.id = r.referrer_page_id`,
      );
    expect(referrers('blacklisted')).toEqual([{ reference_count: 1, referrer: web.url('/to-ads') }]);
    expect(referrers('stubbed')).toEqual([{ reference_count: 1, referrer: web.url('/to-repo') }]);
    expect(web.log.filter(({ host }) => host > 0)).toEqual([]);
  });

  it('a type that HEAD tells is no page is a ContentMismatch, one that only GET tells too', async () => {
    const web = await bench.web({
      pages: {
        '/': page('Home', '/image', '/liar'),
        '/image': misbehaviours.wrongContentType(),
        '/liar': (at: Exchange) =>
          answer(at, {
            headers: { 'content-type': at.request.method === 'HEAD' ? 'text/html' : 'application/pdf' },
            body: 'x',
          }),
      },
    });
    const file = bench.file();
    await mapWeb(bench, file, web, {}, {}, { clock: fastClock(10) });
    expect(file.page('/image').state).toBe('ContentMismatch');
    expect(methods(web, '/image')).toEqual(['HEAD']);
    expect(file.page('/liar')).toMatchObject({ state: 'ContentMismatch', reason: 'type: application/pdf' });
    expect(methods(web, '/liar')).toEqual(['HEAD', 'GET']);
  });
});
