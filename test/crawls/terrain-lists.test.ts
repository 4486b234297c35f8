// What a map does with its lists and limits: whom it never asks, what it records of them, and what holds under load.
// The fake web's log is the judge.
import { describe, expect, it } from 'vitest';
import { answer, type Exchange, type FakeWeb, type FakeWebOptions } from '../web/fake-web.ts';
import { asked, fastClock, page, seenAs, useBench } from './crawl-site.ts';
import { mapWeb } from './terrain-file.ts';

const bench = useBench();

const linking =
  (title: string, ...targets: (string | [host: number, path: string])[]) =>
  (at: Exchange) =>
    answer(at, {
      body: page(
        title,
        ...targets.map((target) => (typeof target === 'string' ? target : at.url(target[1], target[0]))),
      ),
    });

const requestsOf = (web: FakeWeb, host: number) => web.log.filter((entry) => entry.host === host);

describe('the lists of a map', () => {
  it('keep every request from blacklisted and stubbed domains, robots.txt too, and count who refers to them', async () => {
    const web = await bench.web({
      hosts: 4,
      pages: {
        '0:/': linking('Home', '/a', '/b', [1, '/ad'], [2, '/repo'], [3, '/']),
        '0:/a': linking('A', [1, '/ad'], [1, '/other'], [2, '/repo']),
        '0:/b': linking('B', [1, '/ad'], [1, '/ad']),
        '3:/': linking('Found', [2, '/repo']),
      },
    });
    const file = bench.file();
    await mapWeb(bench, file, web, { blacklist: [1], stub: [2] });
    expect(requestsOf(web, 1)).toEqual([]);
    expect(requestsOf(web, 2)).toEqual([]);
    const counts = (kind: string) =>
      Object.fromEntries(
        file
          .rows<{ url: string; n: number }>(`SELECT url, reference_count AS n FROM ${kind}_urls`)
          .map(({ url, n }) => [new URL(url).pathname, n]),
      );
    expect(counts('blacklisted')).toEqual({ '/ad': 3, '/other': 1 });
    expect(counts('stubbed')).toEqual({ '/repo': 3 });
    const referrers = file.rows<{ path: string }>(
      `SELECT p.fetch_url AS path FROM blacklisted_referrers r JOIN pages p ON p.id = r.referrer_page_id
       JOIN blacklisted_urls u ON u.id = r.blacklisted_url_id WHERE u.url LIKE '%/ad'`,
    );
    expect(referrers.map(({ path }) => new URL(path).pathname).sort()).toEqual(['/', '/a', '/b']);
  });

  it('are asked in order: blacklist, stub, quality', async () => {
    const web = await bench.web({
      hosts: 3,
      pages: { '0:/': linking('Home', [1, '/x'], [2, '/x']), '/*': page('P') },
    });
    const file = bench.file();
    await mapWeb(bench, file, web, { quality: [0, 1, 2], blacklist: [1], stub: [1, 2] });
    expect(file.page(web.url('/x', 1)).state).toBe('Blacklisted');
    expect(file.page(web.url('/x', 2)).state).toBe('Stubbed');
    expect(requestsOf(web, 1)).toEqual([]);
    expect(requestsOf(web, 2)).toEqual([]);
  });

  it('make a page of a quality domain depth 0 however far away it was found', async () => {
    const web = await bench.web({
      hosts: 3,
      pages: {
        '0:/': linking('Home', [2, '/1']),
        '2:/1': linking('One', [2, '/2']),
        '2:/2': linking('Two', [1, '/deep']),
        '1:/deep': linking('Deep', [1, '/inner'], [2, '/3']),
        '/*': page('P'),
      },
    });
    const file = bench.file();
    // From host 1 nothing is linked before host 2 leads there, at depth 3 of at most 2.
    await mapWeb(bench, file, web, { quality: [0, 1] }, { maxDepth: 2 });
    const depths = Object.fromEntries(file.pages().map(({ fetch_url, depth }) => [fetch_url, depth]));
    expect(depths[web.url('/deep', 1)]).toBe(0);
    expect(depths[web.url('/inner', 1)]).toBe(0);
    expect(depths[web.url('/3', 2)]).toBe(1);
    expect(file.page(web.url('/inner', 1)).state).toBe('Processed');
    const byOrigin = file.rows(
      `SELECT d.quality_origin AS origin, d.depth FROM page_depths d JOIN pages p ON p.id = d.page_id
       WHERE p.fetch_url = ? ORDER BY 1`,
      web.url('/deep', 1),
    );
    expect(byOrigin).toEqual([
      { origin: '127.0.0.1', depth: 3 },
      { origin: '127.0.0.2', depth: 0 },
    ]);
  });

  it('name the origins from the start, so that nobody takes the project for one in the middle of a run', async () => {
    const file = bench.file();
    let origins: unknown[] = [];
    const web = await bench.web({
      pages: {
        '/': (at: Exchange) => {
          origins = file.rows('SELECT name FROM origin');
          answer(at, { body: page('Home') });
        },
      },
    });
    await mapWeb(bench, file, web, {});
    expect(origins).toEqual([{ name: '127.0.0.1' }]);
  });
});

describe('the links of a map', () => {
  it('are anchors and canonical links, nofollow or not, and nothing that is no page', async () => {
    const body = `<html><head><title>Home</title><link rel="canonical" href="/canonical"><link rel="stylesheet" href="/style.css">
      <script src="/script.js"></script></head><body><nav><a href="/nav">n</a></nav><footer><a href="/foot">f</a></footer>
      <a rel="nofollow" href="/nofollow">x</a><a href="/file" download>d</a><a href="mailto:a@b.test">m</a>
      <a href="tel:1">t</a><a href="javascript:void(0)">j</a><a href="data:text/html,x">d</a><img src="/image.png"></body></html>`;
    const web = await bench.web({ pages: { '/': body, '/*': page('P') } });
    const file = bench.file();
    await mapWeb(bench, file, web, {});
    expect([...new Set(asked(web))].sort()).toEqual(['/', '/canonical', '/foot', '/nav', '/nofollow']);
    expect(Object.keys(file.states()).sort()).toEqual(['/', '/canonical', '/foot', '/nav', '/nofollow']);
  });
});

describe('the limits of a map under load', () => {
  /** Hosts that link to all pages of each other. */
  function crowd(hosts: number, pagesEach: number): FakeWebOptions {
    const all = Array.from({ length: hosts }, (_, host) =>
      Array.from({ length: pagesEach }, (_, n): [number, string] => [host, `/p${n}`]),
    ).flat();
    const neighbours = Array.from({ length: hosts }, (_, host): [number, string] => [host, '/']);
    return { hosts, pages: { '0:/': linking('Home', ...neighbours), '/*': linking('P', ...all) } };
  }

  it('hold: no more pages open than allowed, no host asked sooner than it may be', async () => {
    const web = await bench.web(crowd(12, 4));
    const file = bench.file();
    await mapWeb(bench, file, web, {}, { concurrency: 3 }, { clock: fastClock(2) });
    const open = web.log.map(
      ({ atMs }) =>
        web.log.filter((other) => other.atMs <= atMs && (other.endedMs ?? Infinity) > atMs).length,
    );
    expect(Math.max(...open)).toBeLessThanOrEqual(3);
    // 0.1 s on a clock that runs twice as fast.
    for (let host = 0; host < 12; host++)
      for (const gap of web.gapsMs(host)) expect(gap).toBeGreaterThanOrEqual(seenAs(50));
    expect(file.rows("SELECT count(*) AS n FROM pages WHERE state = 'Processed'")).toEqual([{ n: 60 }]);
  });

  it('hold: no host gets more requests than max-domain-requests, and the rest is RequestLimitHit', async () => {
    const web = await bench.web(crowd(5, 10));
    const file = bench.file();
    await mapWeb(bench, file, web, {}, { maxDomainRequests: 8 });
    for (let host = 0; host < 5; host++) expect(requestsOf(web, host)).toHaveLength(8);
    const states = file.rows<{ state: string; reason: string | null; n: number }>(
      'SELECT state, reason, count(*) AS n FROM pages GROUP BY state, reason ORDER BY state',
    );
    // robots.txt, then HEAD and GET a page; the HEAD that was the last request leaves its page unread.
    expect(states).toEqual([
      { state: 'Processed', reason: null, n: 15 },
      { state: 'RequestLimitHit', reason: 'limit: max-domain-requests 8', n: 40 },
    ]);
    expect(
      file.rows('SELECT DISTINCT request_count FROM domain_states').map((row) => row.request_count),
    ).toEqual([8]);
  });

  it('hold: nothing deeper than max-depth is asked for', async () => {
    const chain: FakeWebOptions['pages'] = { '0:/': linking('Home', [1, '/1']) };
    for (let n = 1; n < 6; n++) chain[`1:/${n}`] = linking(`${n}`, [1, `/${n + 1}`]);
    const web = await bench.web({ hosts: 2, pages: chain });
    const file = bench.file();
    await mapWeb(bench, file, web, {}, { maxDepth: 2 });
    expect([...new Set(asked(web, 1))]).toEqual(['/1', '/2']);
    expect(file.page(web.url('/3', 1))).toMatchObject({ state: 'DepthExceeded', reason: 'depth: 3 > 2' });
  });
});
