// What is read of a project as a whole over HTTP, on both stores: hosts, links, graph, statistics, audit; exports as files;
// saved views.
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { judge } from '../graph/outside-program.ts';
import { HOSTILE_TITLE, useReadWorld } from './reads-site.ts';
import { type Loose, STORES } from './start-serving.ts';

describe.each(STORES)('a whole project on %s', (store) => {
  const world = useReadWorld(store);
  const statusOf = async (path: string) =>
    (await world().service.get(`projects/${world().id}/${path}`)).status;

  it('has hosts with pace, blocks and robots.txt', async () => {
    const { items, total } = await world().read<Loose>('hosts?count=true');
    expect(total).toBe(items.length);
    expect(items.find(({ host }: Loose) => host === '127.0.0.1')).toMatchObject({
      ...{ robots_status: 200, blocked_until: null, failures: 0, urls: { waiting: 0 } },
    });
    expect(await statusOf('hosts?cursor=x')).toBe(400);
    expect(await statusOf('hosts?sort=id')).toBe(400);
  });

  it('has links, and the broken ones with the pages that have them', async () => {
    const whole = await world().read<Loose>('links?limit=1000&count=true');
    expect(await world().all('links', 2)).toEqual(whole.items);
    expect([whole.total, whole.total_is_exact]).toEqual([whole.items.length, true]);
    const broken = await world().read<Loose>('links?broken=true&count=true');
    const named = broken.items.map(({ from_url, to_url }: Loose) =>
      [from_url, to_url].map((url) => new URL(url).pathname),
    );
    expect(named).toEqual(
      expect.arrayContaining([
        ['/', '/missing'],
        ['/', '/broken'],
        ['/docs/three', '/missing'],
      ]),
    );
    // The page that is gone links to it, too, but nobody can follow that.
    expect(named).not.toContainEqual(['/leaving', '/missing']);
    expect(broken.total).toBe(broken.items.length);
    const home = await world().page('/');
    const one = await world().page('/docs/one');
    expect(await world().read(`links?from=${home.id}&to=${one.id}`)).toMatchObject({
      items: [{ to_id: one.id }],
    });
    const dead = await world().all('links?to_state=DeadLink');
    expect(new Set(dead.map(({ to_state }) => to_state))).toEqual(new Set(['DeadLink']));
    expect((await world().all('links?to_status=5xx')).map(({ to_status }) => to_status)).toEqual([500]);
    for (const [query, status] of [
      ['to_state=Dead', 400],
      ['broken=yes', 400],
      ['from=1', 404],
      ['to_status=404', 400],
    ] as const)
      expect([query, await statusOf(`links?${query}`)]).toEqual([query, status]);
  });

  it('has a graph of sections, domains and pages, as large as was asked for', async () => {
    const pages = await world().read<Loose>('graph?of=pages');
    expect(pages).toMatchObject({ of: 'pages', is_whole: true, total_nodes: pages.nodes.length });
    expect(pages.nodes[0]).toMatchObject({ id: 0, name: '127.0.0.1/'.slice(9), kind: 'start', depth: 0 });
    const ranks = pages.nodes.reduce((sum: number, { pagerank }: Loose) => sum + pagerank, 0);
    expect(ranks).toBeCloseTo(1);
    for (const { source, target, count } of pages.edges)
      expect([source < pages.nodes.length, target < pages.nodes.length, count > 0]).toEqual([
        true,
        true,
        true,
      ]);
    const few = await world().read<Loose>('graph?of=pages&most=2');
    expect([few.nodes.length, few.is_whole, few.total_nodes]).toEqual([2, false, pages.total_nodes]);
    for (const { source, target } of few.edges) expect([source < 2, target < 2]).toEqual([true, true]);
    const sections = await world().read<Loose>('graph');
    expect(sections.nodes.map(({ name }: Loose) => name)).toContain('/docs/');
    const domains = await world().read<Loose>('graph?of=domains');
    expect(domains.nodes.map(({ name }: Loose) => name)).toEqual(
      expect.arrayContaining(['127.0.0.1', '127.0.0.2']),
    );
    for (const query of ['of=hosts', 'most=0', 'most=2001', 'most=x'])
      expect([query, await statusOf(`graph?${query}`)]).toEqual([query, 400]);
  });

  it('has figures that agree with its pages', async () => {
    const { urls, by_state, last_run, runs } = await world().read<Loose>('statistics');
    const pages = await world().all('pages', 100);
    expect(urls.known_urls).toBe(pages.length);
    expect(by_state.Processed).toBe(pages.filter(({ state }) => state === 'Processed').length);
    expect([runs, last_run.run]).toEqual([2, 2]);
    expect(last_run.requests_by_kind.GET).toBeGreaterThan(5);
  });

  it('is audited by itself and by run', async () => {
    const whole = await world().read<Loose>('audit');
    expect(whole).toMatchObject({ project_id: world().id, run: null, violations: 0, rows: [], by_kind: {} });
    const [first, second] = [
      await world().read<Loose>('audit?run=1'),
      await world().read<Loose>('audit?run=2'),
    ];
    expect(first.requests + second.requests).toBe(whole.requests);
    const other = (await world().service.get(`projects/${world().otherId}/audit`)).body;
    expect(other.requests).toBeLessThan(whole.requests);
    expect([await statusOf('audit?run=3'), await statusOf('audit?run=0')]).toEqual([404, 400]);
  });

  /** The file of an export, as bytes. */
  async function exported(query: string) {
    const response = await fetch(`${world().service.url}/api/v1/projects/${world().id}/export?${query}`);
    expect([query, response.status]).toEqual([query, 200]);
    expect(response.headers.get('content-disposition')).toMatch(/^attachment; filename="[A-Za-z0-9.-]+"$/);
    return { bytes: Buffer.from(await response.arrayBuffer()), headers: response.headers };
  }

  it('is exported as files with the rows of its lists', async () => {
    const pages = await world().all('pages?status=success', 100);
    const json = JSON.parse((await exported('what=pages&format=json&status=success')).bytes.toString());
    expect(json).toEqual(pages);
    const lines = (
      await exported('what=pages&format=jsonl&status=success&fields=url,title')
    ).bytes.toString();
    expect(
      lines
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual(pages.map(({ url, title }) => ({ url, title })));
    const { bytes: parquet } = await exported(
      'what=pages&format=parquet&status=success&fields=url,depth,noindex,links_found',
    );
    const file = parquet.buffer.slice(parquet.byteOffset, parquet.byteOffset + parquet.length) as ArrayBuffer;
    const rows = await parquetReadObjects({ file });
    expect(rows.map(({ url }) => url)).toEqual(pages.map(({ url }) => url));
    expect(JSON.parse(rows[0].links_found)).toContain(world().web.url('/docs/one'));
    const csv = (await exported('what=pages&fields=title,url')).bytes.toString();
    expect(csv.split('\n')).toHaveLength((await world().all('pages', 100)).length + 2);
    expect(csv).not.toMatch(/^[=+@-]/m);
    const links = JSON.parse((await exported('what=links&format=json&broken=true')).bytes.toString());
    expect(links).toEqual(await world().all('links?broken=true', 100));
    const changes = JSON.parse((await exported('what=changes&since=2020-01-01')).bytes.toString());
    expect(changes).toEqual(await world().all('changes?since=2020-01-01', 100));
  });

  it('is exported as a graph, a feed and a report', async () => {
    const gexf = (await exported('what=graph')).bytes.toString();
    expect(gexf).toContain('<gexf');
    expect(gexf).not.toContain('<script>');
    const nodes = (await exported('what=graph&of=domains&format=csv&table=nodes')).bytes.toString();
    expect(nodes).toMatch(/^id,label,/);
    const atom = (await exported('what=changes&format=atom&since=2020-01-01')).bytes.toString();
    if (judge('xmllint', ['--version'], '').status === 0)
      for (const text of [atom, gexf]) expect(judge('xmllint', ['--noout', '-'], text).stderr).toBe('');
    const { bytes: html, headers } = await exported('what=report');
    expect(html.toString()).toMatch(/^<!doctype html>/);
    expect(headers.get('content-security-policy')).toMatch(/^sandbox/);
    expect(html.toString()).not.toContain(HOSTILE_TITLE);
    const report = JSON.parse((await exported('what=report&format=json&run=1')).bytes.toString());
    expect(report).toMatchObject({ run: 1, project_id: world().id });
    for (const [query, status] of [
      ['', 400],
      ['what=all', 400],
      ['what=pages&format=gexf', 400],
      ['what=graph&status=success', 400],
      ['what=pages&status=x', 400],
      ['what=report&run=3', 404],
      ['what=changes&since=77', 404],
    ] as const)
      expect([query, await statusOf(`export?${query}`)]).toEqual([query, status]);
  });

  it('keeps views under names of their own', async () => {
    const at = `projects/${world().id}/views`;
    const { service } = world();
    const made = await service.post(at, { name: 'Broken', query: { status: 'failed', q: '<b>' } });
    expect([made.status, made.body]).toMatchObject([
      201,
      { project_id: world().id, query: { status: 'failed', q: '<b>' } },
    ]);
    expect(made.headers.get('location')).toBe(`/api/v1/${at}/${made.body.id}`);
    const twins = await Promise.all([1, 2, 3].map(() => service.post(at, { name: 'Twin', query: {} })));
    expect(twins.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    expect((await service.post(at, { name: 'Broken', query: {} })).body).toMatchObject({
      ...{ code: 'view-exists', errors: [{ pointer: '/name' }] },
    });
    const one = `${at}/${made.body.id}`;
    const tag = made.headers.get('etag')!;
    const renamed = await service.ask('PATCH', one, {
      body: { name: 'Worse' },
      headers: { 'if-match': tag },
    });
    expect([renamed.status, renamed.body.query]).toEqual([200, { status: 'failed', q: '<b>' }]);
    const late = await service.ask('PUT', one, {
      body: { name: 'Late', query: {} },
      headers: { 'if-match': tag },
    });
    expect([late.status, late.body.code]).toEqual([412, 'precondition-failed']);
    expect((await service.post(at, { name: 'Broken', query: {} })).status).toBe(201);
    const put = await service.ask('PUT', one, { body: { name: 'Worse', query: { depth: '1' } } });
    expect(put.body).toMatchObject({ query: { depth: '1' }, version: 3 });
    const listed = await world().all('views', 1);
    expect(listed.map(({ name }) => name)).toEqual(['Broken', 'Twin', 'Worse']);
    expect((await world().read<Loose>('views?count=true')).total).toBe(3);
    const others = await service.get(`projects/${world().otherId}/views/${made.body.id}`);
    expect([others.status, others.body.code]).toEqual([404, 'view-unknown']);
    expect((await service.ask('DELETE', one)).status).toBe(204);
    expect((await service.get(one)).status).toBe(404);
    for (const [body, pointer] of [
      [{ name: '', query: {} }, '/name'],
      [{ name: 'x'.repeat(201), query: {} }, '/name'],
      [{ name: 'x' }, '/query'],
      [{ name: 'x', query: { a: 1 } }, '/query/a'],
      [{ name: 'x', query: {}, more: 1 }, '/more'],
    ] as const) {
      const { status, body: problem } = await service.post(at, body);
      expect([status, problem.errors?.[0].pointer]).toEqual([400, pointer]);
    }
    expect(await world().all('views')).toHaveLength(2);
  });
});
