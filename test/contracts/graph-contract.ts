/** What every adapter answers about the link graph: a little map is written through the store port, then read back. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeDomains } from '../../src/graph/describe-domains.ts';
import { describePages } from '../../src/graph/describe-pages.ts';
import type { Cell, ExportGraph } from '../../src/graph/export-graph.ts';
import { readStoredOrigins } from '../../src/graph/stored-origins.ts';
import type { GraphLinks, GraphPage, ReadSide } from '../../src/store/read-side.ts';
import { UNFOLLOWED } from '../../src/store/settlement.ts';
import type { RunStore } from '../../src/store/store-port.ts';
import type { FakeClock } from '../fake-clock.ts';
import type { ReadHarness } from './little-crawl.ts';
import {
  candidate,
  facts,
  LEASE_MS,
  linksTo,
  processed,
  redirecting,
  refused,
  url,
} from './store/harness.ts';

const TERRAIN = {
  quality: [
    { domain: '*.a.test', seeds: [url('')] },
    { domain: 'q.test', seeds: [url('', 'q.test')] },
  ],
};
/** More than a batch of pages and of link sets on either store. */
const MANY = 5100;
const NOFOLLOW = 1;

export async function drawALittle({ clock, openStore }: ReadHarness): Promise<void> {
  const opened = await openStore();
  const begin = (project: string, config: object) =>
    opened.begin({
      project,
      owner: 'me',
      configHash: 'h',
      config: JSON.stringify(config),
      fresh: false,
      metadata: null,
      now: clock.now(),
    });
  const store = await begin('map', { terrain: TERRAIN });
  await drawMap(store, clock);
  await store.run.finish('completed', clock.now(), null);
  await opened.close();
  const next = await openStore();
  const other = await next.begin({
    project: 'many',
    owner: 'me',
    configHash: 'h',
    config: '{}',
    fresh: false,
    metadata: null,
    now: clock.now(),
  });
  await other.frontier.offer(
    Array.from({ length: MANY }, (_, i) => candidate(`many-${i}`, { host: 'many.test' })),
  );
  const lease = (await other.frontier.leaseHost('many.test', clock.now(), LEASE_MS))!;
  for (let left = MANY; left > 0; ) {
    const { claims } = await other.frontier.claim(lease, 500, clock.now());
    for (const claim of claims) {
      const next = candidate(`many-${(Number(claim.url.split('-')[1]) + 1) % MANY}`, { host: 'many.test' });
      await other.frontier.settle(lease, processed(claim, linksTo([next])));
    }
    left -= claims.length;
  }
  await other.run.finish('completed', clock.now(), null);
  await next.close();
}

async function drawMap(store: RunStore, clock: FakeClock): Promise<void> {
  await store.frontier.offer([candidate('', { depth: 0, priority: 0 })]);
  const a = (await store.frontier.leaseHost('a.test', clock.now(), LEASE_MS))!;
  const claimOne = async () => (await store.frontier.claim(a, 1, clock.now())).claims[0];
  const found = [
    candidate('moved', { depth: 0 }),
    candidate('far', { host: 'd.test' }),
    refused('bad', 'Blacklisted', 'blacklist: bad.test', { host: 'bad.test' }),
    refused('stub', 'Stubbed', 'stub: stub.test', { host: 'stub.test' }),
    refused('no', 'Skipped', 'nofollow', { host: 'd.test', onlyNofollow: true }),
    candidate('', { host: 'q.test', depth: 0 }),
  ];
  const flags = [0, NOFOLLOW, 0, 0, NOFOLLOW | UNFOLLOWED, 0];
  const title = 'Home & "more" <b> \u0007 ü';
  await store.frontier.settle(
    a,
    processed(await claimOne(), { facts: facts({ title }), ...linksTo(found, flags) }),
  );
  await store.frontier.settle(
    a,
    redirecting(await claimOne(), candidate('target', { host: 'd.test', depth: 0 })),
  );
}

async function pagesOf(side: ReadSide, project?: string): Promise<(readonly GraphPage[])[]> {
  const batches: (readonly GraphPage[])[] = [];
  for await (const batch of side.graphPages({ project })) batches.push(batch);
  return batches;
}

async function linksOf(side: ReadSide, project?: string): Promise<GraphLinks[]> {
  const links: GraphLinks[] = [];
  for await (const set of side.graphLinks({ project })) links.push(set);
  return links;
}

/** Nodes by label, each an object by column; edges by the labels of their nodes. */
export async function graphByLabel(graph: ExportGraph) {
  const nodes: Record<string, Record<string, Cell>> = {};
  const labels = new Map<number, string>();
  for await (const batch of graph.nodes()) {
    for (const { id, label, cells } of batch) {
      nodes[label] = Object.fromEntries(graph.columns.map(({ name }, i) => [name, cells[i]]));
      labels.set(id, label);
    }
  }
  const edges = [...graph.edges()].map(({ source, target, weight, nofollow }) => ({
    from: labels.get(source),
    to: labels.get(target),
    weight,
    nofollow,
  }));
  return { nodes, edges };
}

export function describeGraph(name: string, start: () => Promise<ReadHarness>): void {
  describe(`the link graph on ${name}`, () => {
    let harness: ReadHarness;
    let side: ReadSide;
    beforeAll(async () => {
      harness = await start();
      await drawALittle(harness);
      side = await harness.openReadSide();
    });
    afterAll(async () => {
      await side?.close();
      await harness?.cleanUp();
    });

    pagesAndLinks(() => side);
    descriptions(() => side);
  });
}

function pagesAndLinks(asked: () => ReadSide): void {
  it('gives every page of a project in order of its id, with what a node shows', async () => {
    const pages = (await pagesOf(asked(), 'map')).flat();
    const short = pages.map((page) => [page.url, page.host, page.state, page.status_code, page.depth]);
    expect(short).toEqual([
      [url(''), 'a.test', 'Processed', 200, 0],
      [url('moved'), 'a.test', 'Processed', 301, 0],
      [url('far', 'd.test'), 'd.test', 'Queued', null, 1],
      [url('bad', 'bad.test'), 'bad.test', 'Blacklisted', null, 1],
      [url('stub', 'stub.test'), 'stub.test', 'Stubbed', null, 1],
      [url('no', 'd.test'), 'd.test', 'Skipped', null, null],
      [url('', 'q.test'), 'q.test', 'Queued', null, 0],
      [url('target', 'd.test'), 'd.test', 'Queued', null, 0],
    ]);
    const ids = pages.map(({ id }) => id);
    expect(ids).toEqual([...ids].sort((a, b) => a - b));
    expect(pages[1].redirect_to).toBe(pages[7].id);
    expect(pages[0]).toMatchObject({ title: 'Home & "more" <b> \u0007 ü', redirect_to: null });
    const [{ id: project }] = (await asked().projects()).filter((row) => row.project === 'map');
    expect(new Set(pages.map(({ project_id }) => project_id))).toEqual(new Set([project]));
    expect(Object.keys(pages[0])).toEqual([
      'id',
      'project_id',
      'url',
      'host',
      'state',
      'title',
      'status_code',
      'depth',
      'discovered_run',
      'redirect_to',
    ]);
  });

  it('gives the links of a page unpacked, with their flags, the unfollowed one marked', async () => {
    const ids = new Map((await pagesOf(asked(), 'map')).flat().map((page) => [page.url, page.id]));
    const [links, ...more] = await linksOf(asked(), 'map');
    expect(more).toEqual([]);
    expect(links.from).toBe(ids.get(url('')));
    const to = [
      url('moved'),
      url('far', 'd.test'),
      url('bad', 'bad.test'),
      url('stub', 'stub.test'),
      url('no', 'd.test'),
      url('', 'q.test'),
    ];
    expect(links.targets).toEqual(to.map((target) => ids.get(target)));
    expect(links.flags).toEqual([0, NOFOLLOW, 0, 0, NOFOLLOW | UNFOLLOWED, 0]);
  });

  it('comes in bounded batches, none of them empty, nothing twice and nothing left out', async () => {
    const batches = await pagesOf(asked(), 'many');
    expect(batches.length).toBeGreaterThan(1);
    for (const batch of batches) expect([batch.length > 0, batch.length <= 5000]).toEqual([true, true]);
    const ids = batches.flat().map(({ id }) => id);
    expect([ids.length, new Set(ids).size]).toEqual([MANY, MANY]);
    const links = await linksOf(asked(), 'many');
    expect(links.map(({ from }) => from)).toEqual(ids);
    expect(links.map(({ targets }) => targets)).toEqual(ids.map((_, i) => [ids[(i + 1) % MANY]]));
    expect(links.every(({ flags }) => flags === null)).toBe(true);
  });

  it('is all projects together without a name, and nothing for one that is not there', async () => {
    expect((await pagesOf(asked())).flat()).toHaveLength(MANY + 8);
    expect(await linksOf(asked())).toHaveLength(MANY + 1);
    expect([await pagesOf(asked(), 'nothing'), await linksOf(asked(), 'nothing')]).toEqual([[], []]);
  });
}

function descriptions(asked: () => ReadSide): void {
  it('becomes nodes and edges with class and depth from every origin', async () => {
    const origins = await readStoredOrigins(asked(), 'map');
    const { graph } = await describePages(asked(), { project: 'map' }, origins);
    const { nodes, edges } = await graphByLabel(graph);
    const shown = (label: string, ...names: string[]) => names.map((name) => nodes[label][name]);
    const depths = ['depth', 'depth_*.a.test', 'depth_q.test'];
    expect(shown(url(''), 'class', 'indegree', 'outdegree', ...depths)).toEqual([
      'quality',
      0,
      6,
      0,
      0,
      null,
    ]);
    expect(shown(url('', 'q.test'), 'class', ...depths)).toEqual(['quality', 0, 1, 0]);
    expect(shown(url('bad', 'bad.test'), 'class', 'state', ...depths)).toEqual([
      'blacklist',
      'Blacklisted',
      1,
      1,
      null,
    ]);
    expect(shown(url('stub', 'stub.test'), 'class', ...depths)).toEqual(['stub', 1, 1, null]);
    expect(shown(url('far', 'd.test'), 'class', ...depths)).toEqual(['discovered', 1, 1, null]);
    expect(shown(url('target', 'd.test'), 'class', 'depth_*.a.test')).toEqual(['discovered', 0]);
    expect(shown(url('no', 'd.test'), ...depths)).toEqual([null, null, null]);
    expect(edges).toHaveLength(6);
    expect(edges[1]).toEqual({ from: url(''), to: url('far', 'd.test'), weight: 1, nofollow: 1 });
    expect([graph.nodeCount, graph.edgeCount]).toEqual([8, 6]);
  });

  it('becomes domains with what their pages amount to, and weighted edges', async () => {
    const origins = await readStoredOrigins(asked(), 'map');
    const { graph } = await describeDomains(asked(), { project: 'map' }, origins);
    const { nodes, edges } = await graphByLabel(graph);
    expect(Object.keys(nodes)).toEqual(['a.test', 'd.test', 'bad.test', 'stub.test', 'q.test']);
    expect(nodes['a.test']).toMatchObject({
      class: 'quality',
      pages: 2,
      processed: 2,
      internal_links: 1,
      outdegree: 4,
      title: 'Home & "more" <b> \u0007 ü',
      status: 200,
      'depth_*.a.test': 0,
    });
    expect(nodes['d.test']).toMatchObject({
      class: 'discovered',
      pages: 3,
      depth: 0,
      max_depth: 1,
      'depth_*.a.test': 0,
    });
    expect(edges).toContainEqual({ from: 'a.test', to: 'd.test', weight: 2, nofollow: 2 });
    expect(edges).toHaveLength(4);
  });

  it('knows no origins in a project of another kind', async () => {
    expect((await readStoredOrigins(asked(), 'many')).names).toEqual([]);
    expect((await readStoredOrigins(asked())).names).toEqual(['*.a.test', 'q.test']);
  });
}
