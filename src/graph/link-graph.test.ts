import { describe, expect, it } from 'vitest';
import type { GraphLinks, GraphPage } from '../store/read-side.ts';
import { createDomainTally } from './domain-facts.ts';
import { buildDomainGraph } from './domain-graph.ts';
import { buildLinkGraph, type GraphSource } from './link-graph.ts';
import { originDepths } from './origin-depths.ts';
import { createStoredOrigins } from './stored-origins.ts';

function page(id: number, host: string, more: Partial<GraphPage> = {}): GraphPage {
  return {
    id,
    project_id: 1,
    url: `https://${host}/${id}`,
    host,
    state: 'Processed',
    title: null,
    status_code: 200,
    depth: 1,
    discovered_run: 1,
    redirect_to: null,
    ...more,
  };
}

/** What a read side would stream: pages in two batches. */
function source(pages: readonly GraphPage[], links: readonly GraphLinks[]): GraphSource {
  return {
    async *graphPages() {
      const half = Math.ceil(pages.length / 2);
      if (pages.length > 0) yield pages.slice(0, half);
      if (pages.length > half) yield pages.slice(half);
    },
    async *graphLinks() {
      yield* links;
    },
  };
}

const PAGES = [
  page(5, 'a.test', { depth: 0, redirect_to: 9 }),
  page(6, 'b.test', { depth: null }),
  page(9, 'a.test', { state: 'DeadLink', project_id: 2 }),
  page(40, 'c.test', { redirect_to: 41 }),
];

describe('the link graph', () => {
  it('has pages by id under dense indexes, with what the measures need', async () => {
    const graph = await buildLinkGraph(source(PAGES, []));
    expect(graph.nodeCount).toBe(4);
    expect([5, 6, 9, 40, 7, 1, 41].map(graph.indexOf)).toEqual([0, 1, 2, 3, -1, -1, -1]);
    expect([...graph.ids]).toEqual([5, 6, 9, 40]);
    expect([...graph.hostOf].map((host) => graph.hosts[host])).toEqual([
      'a.test',
      'b.test',
      'a.test',
      'c.test',
    ]);
    expect([...graph.depths]).toEqual([0, -1, 1, 1]);
    expect([...graph.projects]).toEqual([1, 1, 2, 1]);
    // A target that is not known is none.
    expect([...graph.redirectTo]).toEqual([2, -1, -1, -1]);
  });

  it('keeps links in order with their flags, and leaves out those to and from unknown pages', async () => {
    const graph = await buildLinkGraph(
      source(PAGES, [
        { from: 5, targets: [9, 77, 6], flags: [0, 1, 129] },
        { from: 8, targets: [5], flags: null },
        { from: 40, targets: [40], flags: null },
      ]),
    );
    expect([...graph.offsets]).toEqual([0, 2, 2, 2, 3]);
    expect([...graph.targets]).toEqual([2, 1, 3]);
    expect([...graph.flags]).toEqual([0, 129, 0]);
  });

  it('holds more than the arrays it begins with', async () => {
    const count = 5000;
    const pages = Array.from({ length: count }, (_, i) => page(i + 1, `h${i % 7}.test`));
    const links = pages.map(({ id }) => ({ from: id, targets: [(id % count) + 1, 1], flags: null }));
    const graph = await buildLinkGraph(source(pages, links));
    expect([graph.nodeCount, graph.targets.length, graph.hosts.length]).toEqual([count, 2 * count, 7]);
    expect(graph.targets[2 * 1234]).toBe(1235);
    expect(graph.targets[2 * 4999]).toBe(0);
  });

  it('can be empty', async () => {
    const graph = await buildLinkGraph(source([], []));
    expect([graph.nodeCount, [...graph.offsets], graph.indexOf(1)]).toEqual([0, [0], -1]);
    expect(buildDomainGraph(graph).nodeCount).toBe(0);
  });
});

describe('the domain graph', () => {
  it('weighs links between hosts and counts those inside one apart', async () => {
    const graph = await buildLinkGraph(
      source(PAGES, [
        { from: 5, targets: [9, 6, 40], flags: [0, 1, 0] },
        { from: 9, targets: [6, 9], flags: null },
        { from: 40, targets: [5, 9], flags: [1, 1] },
      ]),
    );
    const domains = buildDomainGraph(graph);
    expect(domains.hosts).toEqual(['a.test', 'b.test', 'c.test']);
    expect([...domains.offsets]).toEqual([0, 2, 2, 3]);
    expect([...domains.targets]).toEqual([1, 2, 0]);
    expect([...domains.weights]).toEqual([2, 1, 2]);
    expect([...domains.nofollow]).toEqual([1, 0, 2]);
    expect([...domains.internalLinks]).toEqual([2, 0, 0]);
  });
});

describe('facts of a domain', () => {
  it('are counts, range of depth, home page, first run, and what most pages are', async () => {
    const tally = createDomainTally();
    const pages = [
      page(1, 'a.test', { depth: 3, title: 'not the home page', discovered_run: 4 }),
      page(2, 'a.test', { url: 'https://a.test/', depth: 1, title: 'Home', discovered_run: 2 }),
      page(3, 'a.test', { depth: null, state: 'DeadLink', discovered_run: 5 }),
      page(4, 'b.test', { state: 'Stubbed', depth: null, status_code: null }),
      page(5, 'b.test', { state: 'Blacklisted' }),
    ];
    await buildLinkGraph(source(pages, []), {}, (row, _, host) =>
      tally.add(row, host, row.host === 'a.test'),
    );
    expect(tally.of(0)).toEqual({
      class: 'quality',
      state: 'Processed',
      title: 'Home',
      status: 200,
      pages: 3,
      processed: 2,
      depth: 1,
      depthMax: 3,
      discoveredRun: 2,
    });
    expect(tally.of(1)).toMatchObject({
      class: 'blacklist',
      title: null,
      status: null,
      pages: 2,
      processed: 0,
    });
  });
});

describe('origins of the stored projects', () => {
  it('own the pages of their domain in the projects that name them', async () => {
    const origins = createStoredOrigins(
      new Map([
        [1, ['a.test', '*.b.test']],
        [2, ['*.b.test']],
        [3, []],
      ]),
    );
    expect(origins.names).toEqual(['a.test', '*.b.test']);
    expect(origins.isQuality(1, 'a.test')).toBe(true);
    expect(origins.isQuality(2, 'a.test')).toBe(false);
    expect(origins.isQuality(3, 'b.test')).toBe(false);
    const pages = [
      page(1, 'a.test'),
      page(2, 'x.b.test'),
      page(3, 'b.test', { project_id: 2 }),
      page(4, 'a.test', { project_id: 2 }),
    ];
    const graph = await buildLinkGraph(source(pages, [{ from: 1, targets: [2], flags: null }]));
    const told: number[][] = [];
    originDepths(graph, origins.over(graph), (...args) => told.push(args));
    expect(told).toEqual([
      [0, 0, 0],
      [1, 0, 1],
      [1, 1, 0],
      [2, 1, 0],
    ]);
  });
});
