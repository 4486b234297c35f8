import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../test/seeded-random.ts';
import { PAGE_STATES } from '../../frontier/page-state.ts';
import { createPageParser } from '../../parse/parse-page.ts';
import { LINK_FLAGS, type LinkList } from '../../parse/parsed-page.ts';
import { createScope, type ScopeOptions } from '../../scope/classify.ts';
import { UNFOLLOWED } from '../../store/settlement.ts';
import { HrefCache } from '../../url/href-cache.ts';
import { createNormalizer } from '../../url/normalize.ts';
import { createLinkDiscovery, type DiscoverOptions } from './discover-links.ts';

const parsePage = createPageParser();

function linksOf(html: string): LinkList {
  const text = Buffer.from(html);
  const bytes = new Uint8Array(text.length + 1);
  bytes.set(text);
  const input = { bytes, length: text.length, contentType: 'text/html; charset=utf-8', xRobotsTag: null };
  return parsePage({ ...input, agentToken: 'sumi-ripple' }).links;
}

const anchors = (hrefs: string[]) => hrefs.map((href) => `<a href="${href}">x</a>`).join('\n');

function open(scope: Partial<ScopeOptions> = {}, more: Partial<DiscoverOptions> = {}) {
  const discovery = createLinkDiscovery({
    cache: new HrefCache(),
    normalizer: createNormalizer({ preset: 'standard' }),
    scope: createScope({ startHosts: ['a.test'], hostMode: 'host', respectNofollow: true, ...scope }),
    respectNofollow: true,
    followCanonical: false,
    followFrames: 'frameset',
    keepAnchors: false,
    unfollowed: null,
    ...more,
  });
  const ids = new Map<string, number>();
  /** Reads a page as the crawl does: discover, let the store give ids, remember. Answers the targets by URL. */
  function read(html: string, baseUrl: string, isNofollow = false) {
    const { links, candidates, misses } = discovery.discover(linksOf(html), baseUrl, 1, isNofollow);
    const candidateIds = candidates.map(({ url }) => {
      if (!ids.has(url)) ids.set(url, ids.size + 1);
      return ids.get(url)!;
    });
    discovery.remember(misses, candidateIds);
    const names = new Map([...ids].map(([url, id]) => [id, url]));
    const urls = [...links.targets.subarray(0, links.count)].map((target) =>
      names.get(target < 0 ? candidateIds[-target - 1] : target),
    );
    return { urls, candidates, flags: [...links.flags.subarray(0, links.count)], anchors: links.anchors };
  }
  return { discovery, read };
}

describe('links of a page', () => {
  it('become candidates, normalized and judged, in order', () => {
    const { read } = open();
    const { urls, candidates } = read(
      anchors(['/b', 'c', '?q=1', 'https://other.test/', 'mailto:x@a.test', '/b#there']),
      'https://a.test/d/page',
    );
    expect(urls).toEqual([
      'https://a.test/b',
      'https://a.test/d/c',
      'https://a.test/d/page?q=1',
      'https://other.test/',
      'https://a.test/b',
    ]);
    expect(candidates[0]).toMatchObject({
      depth: 1,
      state: PAGE_STATES.Queued,
      reason: null,
      host: 'a.test',
    });
    expect(candidates[3]).toMatchObject({
      state: PAGE_STATES.Skipped,
      reason: expect.stringMatching(/^scope: host other\.test/),
    });
  });

  it('that were seen before are known by id and no candidates', () => {
    const { read } = open();
    const page = anchors(['/b', 'c', '//a.test/e', 'https://a.test/f', 'ftp://a.test/']);
    expect(read(page, 'https://a.test/d/1').candidates).toHaveLength(4);
    const again = read(page, 'https://a.test/d/2');
    expect(again.candidates).toHaveLength(0);
    expect(again.urls).toEqual([
      'https://a.test/b',
      'https://a.test/d/c',
      'https://a.test/e',
      'https://a.test/f',
    ]);
  });

  it('that stand on a page many times are judged once', () => {
    const { read } = open();
    const { urls, candidates } = read(
      anchors(['#a', '/b', '#b', '', '/b#c', 'c', '#d', '/b']),
      'https://a.test/d/page',
    );
    expect(candidates.map(({ url }) => url)).toEqual([
      'https://a.test/d/page',
      'https://a.test/b',
      'https://a.test/d/c',
    ]);
    expect(urls.map((url) => url!.slice('https://a.test'.length))).toEqual([
      '/d/page',
      '/b',
      '/d/page',
      '/d/page',
      '/b',
      '/d/c',
      '/d/page',
      '/b',
    ]);
  });

  it('that other pages had, and that have no ids yet, keep their verdict at the same depth and with the same flags', () => {
    const { discovery } = open({ maxDepth: 2 });
    const discover = (html: string, depth: number) =>
      discovery.discover(linksOf(html), 'https://a.test/', depth, false);
    const first = discover(anchors(['/b', '/c']), 2);
    discovery.remember(first.misses, [0, 7]);
    const second = discover(anchors(['/c', '/b']), 2);
    expect(second.candidates).toHaveLength(1);
    expect(second.candidates[0]).toBe(first.candidates[0]);
    expect([...second.links.targets.subarray(0, 2)]).toEqual([7, -1]);
    discovery.remember(second.misses, [0]);
    const [deeper] = discover(anchors(['/b']), 3).candidates;
    expect(deeper).toMatchObject({ url: 'https://a.test/b', depth: 3, state: PAGE_STATES.DepthExceeded });
    const [nofollow] = discover('<a rel=nofollow href="/b">x</a>', 2).candidates;
    expect(nofollow).toMatchObject({ onlyNofollow: true });
    const known = discover(anchors(['/b']), 2);
    discovery.remember(known.misses, [9]);
    expect(discover(anchors(['/b']), 2).links.targets[0]).toBe(9);
  });

  it('that stand on a page with other flags are judged for each', () => {
    const { read } = open();
    const html =
      '<a rel=nofollow href="/b">1</a><a href="/b">2</a><a rel=nofollow href="#">3</a><a href="#">4</a>';
    const { candidates } = read(html, 'https://a.test/');
    expect(candidates.map(({ url, onlyNofollow }) => [url, onlyNofollow])).toEqual([
      ['https://a.test/b', true],
      ['https://a.test/b', false],
      ['https://a.test/', true],
      ['https://a.test/', false],
    ]);
    expect(read(anchors(['/b']), 'https://a.test/').candidates).toEqual([]);
  });

  it('keep their flags and, where wanted, their anchor text', () => {
    const { read } = open({}, { keepAnchors: true });
    const { flags, anchors: texts } = read(
      '<a href="/b" rel="ugc">to <b>b</b></a><a href="mailto:x">no</a><a href="/c">to c</a>',
      'https://a.test/',
    );
    expect(flags).toEqual([LINK_FLAGS.ugc, 0]);
    expect(texts).toEqual(['to b', 'to c']);
  });

  it('to a canonical URL are followed only where the operator wants it', () => {
    const page = '<link rel="canonical" href="/c"><a href="/b">b</a>';
    expect(open().read(page, 'https://a.test/x').urls).toEqual(['https://a.test/b']);
    const { urls, flags } = open({}, { followCanonical: true }).read(page, 'https://a.test/x');
    expect(urls).toEqual(['https://a.test/c', 'https://a.test/b']);
    expect(flags).toEqual([LINK_FLAGS.canonical, 0]);
  });

  it('are recorded and not queued in fetch-only mode', () => {
    const { discovery, read } = open({}, { unfollowed: 'scope: fetch-only' });
    const { candidates } = read(anchors(['/b', 'https://other.test/']), 'https://a.test/');
    expect(candidates[0]).toMatchObject({ state: PAGE_STATES.Discovered, reason: 'scope: fetch-only' });
    expect(candidates[1]).toMatchObject({ state: PAGE_STATES.Skipped });
    const start = { url: 'https://a.test/s', fetchUrl: 'https://a.test/s', host: 'a.test' };
    expect(discovery.judge(start, 0, 'link', false, true)).toMatchObject({
      state: PAGE_STATES.Queued,
      priority: 0,
    });
  });
});

describe('nofollow', () => {
  it('shuts a link out, marks it, and leaves the page open to any followed link', () => {
    const { read } = open();
    const { candidates, flags } = read('<a href="/b" rel="nofollow">b</a>', 'https://a.test/');
    expect(flags).toEqual([LINK_FLAGS.nofollow | UNFOLLOWED]);
    expect(candidates).toMatchObject([
      { state: PAGE_STATES.Skipped, reason: 'nofollow: link', onlyNofollow: true },
    ]);
  });

  it('of the whole page holds for all its links, known ones too', () => {
    const { read } = open();
    read(anchors(['/b']), 'https://a.test/');
    const { flags } = read(anchors(['/b', '/c']), 'https://a.test/', true);
    expect(flags).toEqual([LINK_FLAGS.nofollow | UNFOLLOWED, LINK_FLAGS.nofollow | UNFOLLOWED]);
  });

  it('is recorded and followed where it is not respected', () => {
    const { read } = open({ respectNofollow: false }, { respectNofollow: false });
    const { candidates, flags } = read('<a href="/b" rel="nofollow">b</a>', 'https://a.test/');
    expect(flags).toEqual([LINK_FLAGS.nofollow]);
    expect(candidates).toMatchObject([{ state: PAGE_STATES.Queued, onlyNofollow: false }]);
  });
});

describe('the memory of hrefs', () => {
  // biome-ignore format: a table
  const HREFS = [
    'x', './x', '../x', '/x', '//a.test/x', 'https://a.test/x', 'http://a.test/x', 'HTTPS://A.test/x',
    'https:x', 'http:x/y', 'https:/x', 'http:/x/y', 'https:a/b/c', 'http:a//b', 'hello:/x', 'home?x=a:b', 'h.tp://x',
    '?q', '&#63;q', '&quest;q', '&#x3F;q=1', '&#1;?q', '#f', '', ' ', '/\\x', '\\x', '&sol;x', '&#47;&#47;a.test/x',
    'x y', '%zz', 'https://', 'https://[', '/x?a=1&amp;b=2', 'a:b', 'dir/', 'dir/../x', '&Tab;?q',
  ];
  // biome-ignore format: a table
  const BASES = [
    'https://a.test/', 'https://a.test/x', 'https://a.test/d/', 'https://a.test/d/y?z=/1', 'http://a.test/d/y',
    'https://a.test/d/e/f', 'http://b.test:81/d/', 'https://a.test/?q/r', 'https://a.test/d/y?z=2',
  ];

  it('never changes what a link means, whichever pages were read before', () => {
    const seed = Date.now() >>> 0;
    const random = seededRandom(seed);
    const remembering = open({ hostMode: 'any' });
    for (let page = 0; page < 600; page++) {
      const hrefs = Array.from({ length: 8 }, () => random.pick(HREFS));
      const base = random.pick(BASES);
      const found = remembering.read(anchors(hrefs), base).urls;
      const expected = open({ hostMode: 'any' }).read(anchors(hrefs), base).urls;
      expect(found, `seed ${seed}: ${JSON.stringify(hrefs)} on ${base}`).toEqual(expected);
    }
  });
});
