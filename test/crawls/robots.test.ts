import { describe, expect, it } from 'vitest';
import { answer, type Handler } from '../web/fake-web.ts';
import { misbehaviours } from '../web/misbehaviours.ts';
import { asked, fastClock, page, seenAs, useBench } from './crawl-site.ts';

const bench = useBench();
const site = {
  '/': page('Home', '/open', '/private/a', '/private/b', '/open?x=1'),
  '/open': page('Open'),
  '/private/*': page('Private'),
};

describe('robots.txt in a crawl', () => {
  it('keeps disallowed pages from being requested and names the rule', async () => {
    const web = await bench.web({ pages: site, robots: 'User-agent: *\nDisallow: /private/\n' });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(summary.status).toBe('completed');
    expect(web.log[0].path).toBe('/robots.txt');
    expect(web.requestsTo('/robots.txt')).toHaveLength(1);
    expect(asked(web).sort()).toEqual(['/', '/open', '/open?x=1']);
    expect(file.page('/private/a')).toMatchObject({ state: 'Skipped', reason: 'robots: Disallow /private/' });
    expect(file.page('/private/b')).toMatchObject({ state: 'Skipped', reason: 'robots: Disallow /private/' });
    expect(file.rows("SELECT status FROM crawled_pages WHERE url LIKE '%private%'")).toEqual([
      { status: 'skipped' },
      { status: 'skipped' },
    ]);
  });

  it('obeys the group of its own name and not the one for all', async () => {
    const robots = 'User-agent: *\nDisallow: /\n\nUser-agent: probe\nDisallow: /open\n';
    const web = await bench.web({ pages: site, robots });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { userAgent: 'Probe/1.0' });
    expect(asked(web).sort()).toEqual(['/', '/private/a', '/private/b']);
  });

  it('shuts out the start URL too', async () => {
    const web = await bench.web({ pages: site, robots: 'User-agent: *\nDisallow: /\n' });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(asked(web)).toEqual([]);
    expect(file.page('/')).toMatchObject({ state: 'Skipped', reason: 'robots: Disallow /' });
  });

  it('allows everything where robots.txt is missing', async () => {
    const web = await bench.web({ pages: site, robots: misbehaviours.robotsMissing() });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(asked(web).sort()).toEqual(['/', '/open', '/open?x=1', '/private/a', '/private/b']);
  });

  it('asks again after a 503 and goes on when it gets better', async () => {
    const web = await bench.web({ pages: site, robots: misbehaviours.robotsUnavailable(1) });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), {}, { clock: fastClock(20) });
    expect(web.requestsTo('/robots.txt')).toHaveLength(2);
    expect(web.log.findLastIndex((entry) => entry.path === '/robots.txt')).toBe(1);
    expect(summary.by_state).toEqual({ Processed: 5 });
  });

  it('gives a host up whose robots.txt stays unreachable, and ends', async () => {
    const web = await bench.web({ pages: site, robots: misbehaviours.robotsUnavailable() });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { robotsRetries: 2 }, { clock: fastClock(20) });
    expect(web.log.map((entry) => entry.path)).toEqual(Array(3).fill('/robots.txt'));
    expect(file.page('/')).toMatchObject({ state: 'Unreachable', reason: 'robots: unreachable 503' });
    expect(summary.waiting).toBe(0);
  });

  it('crawls without rules when an unreachable robots.txt is to count as none', async () => {
    const web = await bench.web({ pages: site, robots: misbehaviours.robotsUnavailable() });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { robotsUnreachable: 'allow' });
    expect(summary.by_state).toEqual({ Processed: 5 });
  });

  it('takes an unreachable robots.txt on one port of a host for what it is: no word about the other port', async () => {
    const other = await bench.web({
      pages: { '/': page('Other') },
      robots: misbehaviours.robotsUnavailable(),
    });
    const web = await bench.web({
      pages: { '/': page('Home', other.url('/'), '/a', '/b'), '/*': page('Page') },
    });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), {
      ...{ robotsRetries: 0, perHost: 1, allowedHosts: ['127.0.0.1'] },
    });
    expect(asked(web)).toEqual(['/', '/a', '/b']);
    expect(file.page(other.url('/'))).toMatchObject({
      state: 'Unreachable',
      reason: 'robots: unreachable 503',
    });
    expect(asked(other)).toEqual([]);
  });

  it('follows five redirects of robots.txt', async () => {
    const web = await bench.web({ pages: site, robots: misbehaviours.robotsRedirects(5) });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(asked(web).filter((path) => path.startsWith('/private/'))).toEqual([]);
    expect(file.page('/private/a').reason).toBe('robots: Disallow /private/');
  });

  it('takes robots.txt as missing after a sixth redirect', async () => {
    const web = await bench.web({ pages: site, robots: misbehaviours.robotsRedirects(6) });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(web.log.filter((entry) => entry.path.startsWith('/robots.txt'))).toHaveLength(6);
    expect(file.page('/private/a').state).toBe('Processed');
  });

  it('follows a redirect of robots.txt to another host, on a slot of that host', async () => {
    const pages = {
      ...site,
      '0:/robots.txt': ((exchange) =>
        answer(exchange, { status: 302, headers: { location: exchange.url('/rules', 1) } })) as Handler,
      '1:/rules': { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /private/\n' },
      '1:/': page('Other host', '/x'),
      '1:/x': page('X'),
    };
    const web = await bench.web({ hosts: 2, pages });
    const file = bench.file();
    const { summary } = await bench.crawl(file, [web.url('/'), web.url('/', 1)], { delay: 0.06 });
    expect(summary.status).toBe('completed');
    expect(file.page('/private/a').reason).toBe('robots: Disallow /private/');
    // Host 1 was asked for its own robots.txt, for the rules of host 0 and for its pages: each on a slot.
    expect(
      web.log
        .filter((entry) => entry.host === 1)
        .map((entry) => entry.path)
        .sort(),
    ).toEqual(['/', '/robots.txt', '/rules', '/x']);
    for (const host of [0, 1])
      for (const gapMs of web.gapsMs(host)) expect(gapMs).toBeGreaterThanOrEqual(seenAs(60));
  });

  it('finds no rules in an HTML page', async () => {
    const web = await bench.web({ pages: site, robots: misbehaviours.robotsIsHtml() });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'));
    expect(summary.by_state).toEqual({ Processed: 5 });
  });

  it('reads the first 500 KiB of a huge robots.txt and goes on', async () => {
    const pages = { '/': page('Home', '/first/a', '/last/a'), '/*': page('Page') };
    const web = await bench.web({ pages, robots: misbehaviours.robotsHuge(600) });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    expect(file.states()).toEqual({ '/': 'Processed', '/first/a': 'Skipped', '/last/a': 'Processed' });
  });

  it('remembers robots.txt in the file: the next run asks for none', async () => {
    const web = await bench.web({ pages: site, robots: 'User-agent: *\nDisallow: /private/\n' });
    const file = bench.file();
    await bench.crawl(file, web.url('/'));
    await bench.crawl(file, web.url('/'));
    expect(web.requestsTo('/robots.txt')).toHaveLength(1);
    expect(web.requestsTo('/')).toHaveLength(2);
    expect(asked(web).some((path) => path.startsWith('/private/'))).toBe(false);
    expect(file.rows('SELECT robots_status AS status FROM domains')).toEqual([{ status: 200 }]);
  });

  it('asks for robots.txt again when it is older than robots-ttl', async () => {
    const web = await bench.web({ pages: site, robots: 'User-agent: *\nDisallow: /private/\n' });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { robotsTtl: 0 });
    await bench.crawl(file, web.url('/'), { robotsTtl: 0 });
    expect(web.requestsTo('/robots.txt')).toHaveLength(2);
  });

  it('asks again in the middle of a crawl that outlives robots-ttl', async () => {
    const rules = ['User-agent: *\nAllow: /\n', 'User-agent: *\nDisallow: /p/9\n'];
    const web = await bench.web({
      pages: {
        '/': page('Home', ...Array.from({ length: 10 }, (_, n) => `/p/${n}`)),
        '/p/*': page('P'),
        '/robots.txt': (exchange) => answer(exchange, { body: rules[Math.min(exchange.nth, 2) - 1] }),
      },
    });
    const file = bench.file();
    const clock = fastClock(1000);
    await bench.crawl(file, web.url('/'), { robotsTtl: 60, delay: 20, perHost: 1 }, { clock });
    expect(web.requestsTo('/robots.txt').length).toBeGreaterThanOrEqual(2);
    expect(file.page('/p/9').reason).toBe('robots: Disallow /p/9');
  });

  it('asks for none when told so', async () => {
    const web = await bench.web({ pages: site, robots: 'User-agent: *\nDisallow: /\n' });
    const file = bench.file();
    const { summary } = await bench.crawl(file, web.url('/'), { robots: false });
    expect(web.requestsTo('/robots.txt')).toEqual([]);
    expect(summary.by_state).toEqual({ Processed: 5 });
  });

  it('obeys a Crawl-delay of a fraction of a second, one request at a time, from robots.txt on', async () => {
    const pages = { '/': page('Home', '/1', '/2', '/3'), '/*': page('Page') };
    const web = await bench.web({ pages, robots: misbehaviours.robotsCrawlDelay(0.05) });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 5 });
    expect(web.log).toHaveLength(5);
    for (const gapMs of web.gapsMs()) expect(gapMs).toBeGreaterThanOrEqual(seenAs(50));
  });

  it('obeys Request-rate', async () => {
    const pages = { '/': page('Home', '/1', '/2', '/3'), '/*': page('Page') };
    const web = await bench.web({ pages, robots: 'User-agent: *\nRequest-rate: 10/1\n' });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { perHost: 5 });
    expect(web.log).toHaveLength(5);
    for (const gapMs of web.gapsMs()) expect(gapMs).toBeGreaterThanOrEqual(seenAs(100));
  });

  it('obeys the longest Crawl-delay of the ports of a host', async () => {
    const slow = await bench.web({
      pages: { '/': page('Slow') },
      robots: misbehaviours.robotsCrawlDelay(0.05),
    });
    const pages = { '/': page('Home', slow.url('/'), '/1', '/2'), '/*': page('Page') };
    const web = await bench.web({ pages });
    const file = bench.file();
    await bench.crawl(file, [slow.url('/'), web.url('/')], { perHost: 1 });
    const times = [...slow.log, ...web.log].map((entry) => entry.atMs).sort((a, b) => a - b);
    expect(times).toHaveLength(6);
    const gaps = times.slice(1).map((at, n) => at - times[n]);
    for (const gapMs of gaps) expect(gapMs).toBeGreaterThanOrEqual(seenAs(50));
  });

  it('gives robots.txt a slot of its own: the first page waits one delay', async () => {
    const web = await bench.web({ pages: site });
    const file = bench.file();
    await bench.crawl(file, web.url('/'), { delay: 0.08, maxPages: 1 });
    expect(web.log.map((entry) => entry.path)).toEqual(['/robots.txt', '/']);
    expect(web.gapsMs()[0]).toBeGreaterThanOrEqual(seenAs(80));
  });

  it('shows the delay it asks for in the view of domains', async () => {
    const web = await bench.web({ pages: site, robots: 'User-agent: *\nCrawl-delay: 0.07\n' });
    const file = bench.file();
    await bench.crawl(file, web.url('/open'), { fetchOnly: true });
    expect(file.rows('SELECT crawl_delay FROM domains')).toEqual([{ crawl_delay: 0.07 }]);
  });

  it('of another port holds only the pages of that port', async () => {
    const dead = await bench.web({ pages: {}, robots: misbehaviours.robotsUnavailable(1000) });
    const pages = { '/': page('Home', `${dead.origin}/x`, '/a', '/b', '/c'), '/*': page('Page') };
    const web = await bench.web({ pages });
    const file = bench.file();
    const { events } = await bench.crawl(
      file,
      web.url('/'),
      { robotsRetries: 2, perHost: 1, allowedHosts: ['127.0.0.1'] },
      { clock: fastClock(20) },
    );
    const order = events.flatMap((event) => (event.type === 'page' ? [event.url] : []));
    expect(file.page(`${dead.origin}/x`)).toMatchObject({
      state: 'Unreachable',
      reason: 'robots: unreachable 503',
    });
    expect(order.at(-1)).toBe(`${dead.origin}/x`);
    expect(order).toHaveLength(5);
  });
});
