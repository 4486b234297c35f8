import { describe, expect, it } from 'vitest';
import { answer, type Handler } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, page, useBench } from './crawl-site.ts';

const bench = useBench();

/** Every named misbehaviour of a page, by its name; those of robots.txt are hosts of their own. */
const pages: Record<Exclude<keyof typeof misbehaviours, `robots${string}`> | 'robotsTagHeader', Handler> = {
  slowHeaders: misbehaviours.slowHeaders(50),
  dripBody: misbehaviours.dripBody(2),
  neverAnswers: misbehaviours.neverAnswers(),
  resetsBeforeHead: misbehaviours.resetsBeforeHead(),
  resetsMidBody: misbehaviours.resetsMidBody(),
  contentLengthTooShort: misbehaviours.contentLengthTooShort(),
  contentLengthTooLong: misbehaviours.contentLengthTooLong(),
  endlessBody: misbehaviours.endlessBody(),
  closesEachTime: misbehaviours.closesEachTime(),
  closesSilently: misbehaviours.closesSilently(),
  informational: misbehaviours.informational(),
  dateSkew: misbehaviours.dateSkew(-3_600_000),
  gzipBomb: misbehaviours.gzipBomb(5),
  brokenGzip: misbehaviours.brokenGzip(),
  gzipWithTail: misbehaviours.gzipWithTail(),
  wrongContentType: misbehaviours.wrongContentType(),
  noContentType: misbehaviours.noContentType(),
  binaryAsHtml: misbehaviours.binaryAsHtml(),
  hugePage: misbehaviours.hugePage(3),
  manyLinks: misbehaviours.manyLinks(300),
  duplicateContent: misbehaviours.duplicateContent(),
  latin1: misbehaviours.latin1(),
  utf16: misbehaviours.utf16(),
  shiftJis: misbehaviours.shiftJis(),
  redirectLoop: misbehaviours.redirectLoop(),
  redirectChain: misbehaviours.redirectChain(12),
  redirectToHost: misbehaviours.redirectToHost(1, '/here'),
  brokenLocation: misbehaviours.brokenLocation(),
  noLocation: misbehaviours.noLocation(),
  relativeLocation: misbehaviours.relativeLocation(),
  metaRefresh: misbehaviours.metaRefresh('/refreshed'),
  rateLimitedForSeconds: misbehaviours.rateLimitedForSeconds(1, 0),
  rateLimitedUntilDate: misbehaviours.rateLimitedUntilDate(1, 1),
  rateLimitedForAYear: misbehaviours.rateLimitedForAYear(1),
  rateLimitedSilently: misbehaviours.rateLimitedSilently(1),
  unavailableAtFirst: misbehaviours.unavailableAtFirst(1),
  serverError: misbehaviours.serverError(),
  notFound: misbehaviours.notFound(),
  gone: misbehaviours.gone(),
  softNotFound: misbehaviours.softNotFound(),
  spiderTrap: misbehaviours.spiderTrap(),
  sessionIds: misbehaviours.sessionIds(),
  metaNofollow: misbehaviours.metaNofollow('/nofollow-1'),
  metaNoindex: misbehaviours.metaNoindex('/indexed'),
  relNofollow: misbehaviours.relNofollow('/nofollow-2'),
  robotsTagHeader: misbehaviours.robotsTagHeader(['noindex', 'nofollow'], '/nofollow-3'),
  canonicalElsewhere: misbehaviours.canonicalElsewhere('/canonical'),
  baseHref: misbehaviours.baseHref('/base/', 'leaf'),
  idnHost: misbehaviours.idnHost(),
  conditional: misbehaviours.conditional(),
  lying304: misbehaviours.lying304(),
};
const names = Object.keys(pages);

const plainRobots: Handler = (exchange) => answer(exchange, { status: 404 });
/** Host by host, from the third on. */
const robots: Record<
  Exclude<Extract<keyof typeof misbehaviours, `robots${string}`>, 'robotsTagHeader'>,
  Handler
> = {
  robotsUnavailable: misbehaviours.robotsUnavailable(),
  robotsNeverAnswers: misbehaviours.robotsNeverAnswers(),
  robotsMissing: misbehaviours.robotsMissing(),
  robotsIsHtml: misbehaviours.robotsIsHtml(),
  robotsRedirects: misbehaviours.robotsRedirects(9),
  robotsHuge: misbehaviours.robotsHuge(),
  robotsCrawlDelay: misbehaviours.robotsCrawlDelay(0.05),
  robotsRequestRate: misbehaviours.robotsRequestRate(20, 1),
};

/** What each page must have come to; those not named are Processed. */
const ENDS: Record<string, string> = {
  neverAnswers: 'Failed network',
  resetsBeforeHead: 'Failed network',
  resetsMidBody: 'Failed network',
  contentLengthTooLong: 'Failed network',
  endlessBody: 'Failed size',
  gzipBomb: 'Failed size',
  wrongContentType: 'ContentMismatch type',
  hugePage: 'Failed size',
  redirectLoop: 'Failed redirect',
  redirectChain: 'Failed redirect',
  brokenLocation: 'Failed redirect',
  noLocation: 'Failed redirect',
  serverError: 'Failed http',
  notFound: 'DeadLink http',
  gone: 'Gone http',
};

describe('a site with every misbehaviour there is', () => {
  it('is crawled to the end, and every URL has a state and a reason', async () => {
    const paths: Record<string, string> = {
      redirectLoop: '/redirectLoop/a',
      redirectChain: '/redirectChain/0',
    };
    const pathOf = (name: string) => paths[name] ?? `/${name}`;
    const robotsHosts = Object.values(robots);
    const web = await bench.web({
      hosts: 2 + robotsHosts.length,
      pages: {
        '0:/': (exchange) =>
          answer(exchange, {
            body: page(
              'Home',
              ...names.map(pathOf),
              ...robotsHosts.map((_, n) => exchange.url('/start', n + 2)),
            ),
          }),
        ...Object.fromEntries(names.map((name) => [`0:/${name}`, pages[name as keyof typeof pages]])),
        '0:/redirectLoop/*': pages.redirectLoop,
        '0:/redirectChain/*': pages.redirectChain,
        '0:/calendar/*': misbehaviours.spiderTrap(),
        '0:/shop/*': misbehaviours.sessionIds(),
        ...Object.fromEntries(robotsHosts.map((handler, n) => [`${n + 2}:/robots.txt`, handler])),
        '0:/robots.txt': plainRobots,
        '1:/robots.txt': plainRobots,
        '/start': page('Start', '/first/x', '/last/x', '/private/x'),
        '/*': page('Fine'),
      },
    });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), {
      allowedHosts: web.origins.map((origin) => new URL(origin).hostname).concat('xn--bcher-kva.example'),
      resolve: [`xn--bcher-kva.example=127.0.0.1:${web.port}`],
      maxDepth: 4,
      maxPages: 4000,
      retries: 1,
      headersTimeout: 0.4,
      bodyTimeout: 0.4,
      timeout: 3,
      maxRetryAfter: 0.2,
      robotsRetries: 0,
      maxBodyBytes: 1_000_000,
      concurrency: 20,
      perHost: 5,
    });
    expect(summary.status).toBe('completed');
    expect(summary.waiting).toBe(0);
    expect(file.rows('SELECT * FROM frontier')).toEqual([]);
    const ends = Object.fromEntries(
      names.map((name) => {
        const { state, reason } = file.page(web.url(pathOf(name)));
        return [name, reason === null ? state : `${state} ${reason.split(':')[0]}`];
      }),
    );
    expect(ends).toEqual(Object.fromEntries(names.map((name) => [name, ENDS[name] ?? 'Processed'])));
    for (const { state, reason, url, visited_at: visited } of file.pages()) {
      if (state === 'Processed') expect(visited, url).not.toBeNull();
      else expect(reason, url).toMatch(/^[a-z0-9-]+: ./);
    }
    const hosts = Object.keys(robots).map((_, n) => file.page(web.url('/start', n + 2)).state);
    expect(hosts).toEqual(['Unreachable', 'Unreachable', ...Array(6).fill('Processed')]);
    expect(asked(web).some((path) => path.startsWith('/nofollow-'))).toBe(false);
  });
});
