// Random sites against a model: what a crawl must have fetched, at which depth and in which state is worked out here
// from the site's plan alone, and must come out whatever the order, the number of hands or the number of stops.
import { describe, expect, it } from 'vitest';
import { answer, type FakeWebOptions } from '../web/fake-web.ts';
import { asked, type CrawlFile, type CrawlOptions, useBench } from './crawl-site.ts';

const bench = useBench();
const MAX_DEPTH = 5;
const MAX_HOPS = 10;

interface Plan {
  /** By number: a page with links, a redirect, or nothing there. */
  nodes: ({ links: { to: number; nofollow: boolean }[] } | { redirect: number } | 'missing')[];
}

/** Numerical Recipes' generator: enough to be different for every seed and the same for one. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function makePlan(seed: number, size: number): Plan {
  const random = randomOf(seed);
  const nodes: Plan['nodes'] = Array.from({ length: size }, (_, n) => {
    const kind = n === 0 ? 9 : random(10);
    if (kind === 0) return 'missing';
    if (kind === 1) return { redirect: random(size) };
    // Mostly near numbers, so that the site is deep; now and then far ahead, so that short cuts appear late.
    const links = Array.from({ length: random(5) + 2 }, () => ({
      to: random(12) === 0 ? random(size) : Math.min(size - 1, n + 1 + random(12)),
      nofollow: random(8) === 0,
    }));
    return { links };
  });
  return { nodes };
}

interface Expected {
  states: Record<string, string>;
  depths: Record<string, number | null>;
  fetched: string[];
}

/** Shortest paths, a link being one step and a redirect none; nothing is known of what lies behind pages too deep. */
function expectedOf({ nodes }: Plan): Expected {
  const depths = new Map<number, number>([[0, 0]]);
  const marked = new Set<number>();
  for (let depth = 0; depth <= MAX_DEPTH; depth++) {
    const level = [...depths].filter(([, at]) => at === depth).map(([n]) => n);
    for (let next = level.pop(); next !== undefined; next = level.pop()) {
      const node = nodes[next];
      if (node === 'missing') continue;
      if ('redirect' in node) {
        if ((depths.get(node.redirect) ?? Number.POSITIVE_INFINITY) <= depth) continue;
        depths.set(node.redirect, depth);
        level.push(node.redirect);
        continue;
      }
      for (const { to, nofollow } of node.links) {
        // A page is followed to when one of its links to it is.
        if (nofollow && !node.links.some((other) => other.to === to && !other.nofollow)) marked.add(to);
        else if (!depths.has(to)) depths.set(to, depth + 1);
      }
    }
  }
  const expected: Expected = { states: {}, depths: {}, fetched: [] };
  const put = (n: number, state: string, depth: number | null) => {
    expected.states[`/${n}`] = state;
    expected.depths[`/${n}`] = depth;
  };
  for (const [n, depth] of depths) {
    const isFetched = depth <= MAX_DEPTH;
    put(n, isFetched ? stateOf(n, nodes) : 'DepthExceeded', depth);
    if (isFetched) expected.fetched.push(`/${n}`);
  }
  for (const n of marked) if (!depths.has(n)) put(n, 'Skipped', null);
  expected.fetched.sort();
  return expected;
}

function stateOf(from: number, nodes: Plan['nodes']): string {
  const node = nodes[from];
  if (node === 'missing') return 'DeadLink';
  let at = node;
  for (let hops = 0; 'redirect' in at; hops++) {
    if (hops === MAX_HOPS) return 'Failed';
    const next = nodes[at.redirect];
    if (next === 'missing') break;
    at = next;
  }
  return 'Processed';
}

function pagesOf({ nodes }: Plan): FakeWebOptions['pages'] {
  return Object.fromEntries(
    nodes.map((node, n) => [
      `/${n}`,
      (exchange) => {
        if (node === 'missing') answer(exchange, { status: 404 });
        else if ('redirect' in node)
          answer(exchange, { status: 302, headers: { location: `/${node.redirect}` } });
        else
          answer(exchange, {
            body: node.links
              .map(({ to, nofollow }) => `<a ${nofollow ? 'rel=nofollow ' : ''}href="/${to}">${to}</a>`)
              .join(' '),
          });
      },
    ]),
  );
}

function found(file: CrawlFile): Pick<Expected, 'states' | 'depths'> {
  const rows = file.pages().map((row) => [new URL(row.fetch_url).pathname, row] as const);
  return {
    states: Object.fromEntries(rows.map(([path, { state }]) => [path, state])),
    depths: Object.fromEntries(rows.map(([path, { depth }]) => [path, depth])),
  };
}

const WAYS: Record<string, CrawlOptions> = {
  'by one hand': { concurrency: 1, perHost: 1 },
  'by many hands': { concurrency: 12, perHost: 12 },
  'odd numbers first': { concurrency: 3, perHost: 3, include: ['[13579]$'], includeMode: 'prefer' },
};

describe('a random site', () => {
  const seeds = [7932, 2199314];
  for (const [way, options] of Object.entries(WAYS)) {
    it(`comes out as planned, crawled ${way}`, async () => {
      for (const seed of seeds) {
        const plan = makePlan(seed, 300);
        const expected = expectedOf(plan);
        expect(expected.fetched.length).toBeGreaterThan(20);
        const web = await bench.web({ pages: pagesOf(plan) });
        const file = bench.file();
        const { summary } = await bench.crawl(file, web.url('/0'), { ...options, maxDepth: MAX_DEPTH });
        const { states, depths } = found(file);
        expect(depths, `depths of seed ${seed}`).toEqual(expected.depths);
        expect(states, `states of seed ${seed}`).toEqual(expected.states);
        expect(asked(web).sort(), `requests of seed ${seed}`).toEqual(expected.fetched);
        expect(summary.pages).toBe(expected.fetched.length);
      }
    });
  }

  it('comes out as planned, with a stop every few pages', async () => {
    for (const seed of seeds) {
      const plan = makePlan(seed, 300);
      const expected = expectedOf(plan);
      const web = await bench.web({ pages: pagesOf(plan) });
      const file = bench.file();
      const options = { maxDepth: MAX_DEPTH, concurrency: 4, perHost: 4, robots: false };
      for (let status = 'interrupted'; status === 'interrupted'; ) {
        const stopAt = web.log.length + 9;
        const begun = await bench.begin(file, web.url('/0'), options);
        let isDone = false;
        begun.finished.then(() => {
          isDone = true;
        });
        while (!isDone && web.log.length < stopAt) await new Promise((resolve) => setImmediate(resolve));
        begun.stop();
        ({ status } = await begun.finished);
      }
      const { states, depths } = found(file);
      expect(depths, `depths of seed ${seed}`).toEqual(expected.depths);
      expect(states, `states of seed ${seed}`).toEqual(expected.states);
      expect(asked(web).sort(), `requests of seed ${seed}`).toEqual(expected.fetched);
    }
  });
});
