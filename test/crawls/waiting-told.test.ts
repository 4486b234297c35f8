// While nothing happens the progress says why. Long pauses are waited for by a clock that runs fast.
import { expect, it } from 'vitest';
import type { CrawlEvent, WaitingFor } from '../../src/events/events.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { indexOf, robotsNaming, sitemapOf } from '../web/sitemap-pages.ts';
import { fastClock, page, useBench } from './crawl-site.ts';

const bench = useBench();

/** What was waited for, each kind once, in the order in which it was told first. */
function told(events: readonly CrawlEvent[]): WaitingFor[] {
  const waits = events.flatMap((event) => (event.type === 'progress' ? (event.waiting_for ?? []) : []));
  return waits.filter(({ why }, i) => waits.findIndex((other) => other.why === why) === i);
}

const find = (events: readonly CrawlEvent[], why: WaitingFor['why']) =>
  told(events).find((wait) => wait.why === why);

it('for the Crawl-delay that robots.txt asks for', async () => {
  const web = await bench.web({
    robots: misbehaviours.robotsCrawlDelay(30),
    pages: { '/': page('home', '/a'), '/a': page('a') },
  });
  const { events } = await bench.crawl(bench.file(), web.url('/'), { delay: 0.5 }, { clock: fastClock(50) });
  const wait = find(events, 'crawl-delay');
  expect(wait).toMatchObject({ host: '127.0.0.1', seconds: 30, status: null, sitemap: null });
  expect(wait!.in_seconds).toBeGreaterThan(0);
  expect(wait!.in_seconds).toBeLessThanOrEqual(30);
});

it('for a robots.txt that answered 503', async () => {
  const web = await bench.web({ robots: misbehaviours.robotsUnavailable(3), pages: { '/': page('home') } });
  const { events, summary } = await bench.crawl(bench.file(), web.url('/'), {}, { clock: fastClock(20) });
  expect(summary.pages).toBe(1);
  expect(find(events, 'robots')).toMatchObject({ host: '127.0.0.1', status: 503, detail: web.origin });
});

it('for the end of a block, and for another try of a page', async () => {
  const web = await bench.web({
    pages: {
      '/': page('home', '/busy'),
      '/busy': misbehaviours.rateLimitedForSeconds(1, 60),
    },
  });
  const { events } = await bench.crawl(bench.file(), web.url('/'), {}, { clock: fastClock(50) });
  expect(find(events, 'blocked')).toMatchObject({ host: '127.0.0.1', status: 429 });
  const broken = await bench.web({
    pages: { '/': page('home', '/bad'), '/bad': misbehaviours.serverError() },
  });
  const retryDelay = { retryDelay: 20 };
  const { events: more } = await bench.crawl(bench.file(), broken.url('/'), retryDelay, {
    clock: fastClock(50),
  });
  expect(find(more, 'retry')).toMatchObject({ host: '127.0.0.1', sitemap: null });
});

it('for the sitemaps that an index names, counted', async () => {
  const children = Array.from({ length: 10 }, (_, n) => `/s${n}.xml`);
  const web = await bench.web({
    robots: robotsNaming(['/index.xml'], 'User-agent: *\nCrawl-delay: 5'),
    pages: {
      '/index.xml': indexOf(...children),
      ...Object.fromEntries(children.map((path) => [path, sitemapOf('/')])),
      '/': page('home'),
    },
  });
  const options = { discover: ['sitemap', 'links'] };
  const { events } = await bench.crawl(bench.file(), web.url('/'), options, { clock: fastClock(50) });
  const counts = events.flatMap((event) =>
    event.type === 'progress' && event.waiting_for?.sitemap ? [event.waiting_for.sitemap] : [],
  );
  expect(counts).toContainEqual({ url: web.url('/s4.xml'), nth: 6, of: 11, is_guess: false });
});
