import { describe, expect, it } from 'vitest';
import { answer } from '../web/fake-web.ts';
import { homes, reached, useCrew } from './crew.ts';
import { expectSettledPages } from './judge.ts';

const crew = useCrew();

/** Redirects within and between hosts, dead ends, refusals, flaky pages: what takes more than one road to a state. */
const PAGES = {
  '0:/start': `<title>Start</title><a href="/">home</a><a href="/hop/1">hop</a><a href="/gone">gone</a>
    <a href="/private/x">private</a><a href="/flaky">flaky</a><a href="/loop/a">loop</a><a href="/dead">dead</a>
    <a href="/plain" rel="nofollow">plain</a><a href="/away">away</a>`,
  '/hop/1': { status: 301, headers: { location: '/hop/2' } },
  '/hop/2': { status: 302, headers: { location: '/hop/3' } },
  '/hop/3': '<title>End</title>',
  '/away': ({ url, host, ...exchange }: Parameters<typeof answer>[0]) =>
    answer({ url, host, ...exchange }, { status: 302, headers: { location: url('/hop/1', 1) } }),
  '/loop/a': { status: 302, headers: { location: '/loop/b' } },
  '/loop/b': { status: 302, headers: { location: '/loop/a' } },
  '/gone': { status: 410 },
  '/plain': { headers: { 'content-type': 'image/png' }, body: 'none' },
};

describe('the same crawl', () => {
  it.each([1, 3])('gives the same rows on SQLite and on PostgreSQL with %i workers', async (workers) => {
    const flaky = new Map<string, number>();
    const web = await crew.web({
      robots: 'User-agent: *\nDisallow: /private/\n',
      graph: { seed: 17, pages: 120, hosts: 8, linksPerPage: 10, textWords: 60 },
      pages: {
        ...PAGES,
        // Odd times fail, so that each of the crawls sees a failure first.
        '/flaky': (exchange) => {
          const times = (flaky.get('flaky') ?? 0) + 1;
          flaky.set('flaky', times);
          answer(exchange, { status: times % 2 === 1 ? 503 : 200, body: '<title>Well</title>' });
        },
      },
    });
    const urls = [web.url('/start'), ...homes(web)];
    const flags = ['--retry-delay', '0.01', '--delay', '0.02', '--per-host', '1', '--no-adaptive-delay'];
    const calm = await crew.calmRows(urls, flags);
    web.log.length = 0;
    const store = await crew.store();
    const at = ['--store', store.address, '--concurrency', workers === 1 ? '16' : '3', '-q'];
    const all = [crew.start(['crawl', ...urls, ...flags, ...at])];
    await reached(web, 1);
    while (all.length < workers) all.push(crew.start(['worker', ...at, '--once']));
    for (const { finished } of all) expect(await finished).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(calm.length).toBeGreaterThan(130);
    expect(await store.pages()).toEqual(calm);
    await expectSettledPages(store);
  });
});
