// Facets and the tree over HTTP on both stores: each number is the total of the list with the filter that it names.
import { describe, expect, it } from 'vitest';
import { FACETS } from '../../src/contract/facets.ts';
import { useReadWorld } from './reads-site.ts';
import { type Loose, STORES } from './start-serving.ts';

describe.each(STORES)('facets on %s', (store) => {
  const world = useReadWorld(store);
  const totalOf = async (query: string) =>
    (await world().read<Loose>(`pages?limit=1&count=true&${query}`)).total as number;

  it('count as the list of pages does, with and without a filter', async () => {
    for (const filter of ['', 'status=success', 'depth=1-', 'q=docs&status_code=2xx']) {
      for (const by of FACETS) {
        const facets = await world().read<Loose>(`facets?by=${by}&${filter}`);
        expect(facets).toMatchObject({ total: await totalOf(filter), total_is_exact: true });
        if (filter === '') expect(facets.items.length, by).toBeGreaterThan(0);
        for (const { value, count } of facets.items) {
          // The list takes each filter once: what is counted by is not filtered by here.
          if (filter.includes(by) || (by === 'status_code' && filter.includes('status'))) continue;
          expect(count, `${by}=${value}`).toBe(await totalOf(`${filter}&${by}=${encodeURIComponent(value)}`));
        }
      }
    }
  });

  it('are in a tree of folders', async () => {
    const tree = await world().read<Loose>('tree');
    expect(tree).toMatchObject({ path: '/', total_is_exact: true, pages: await totalOf('') });
    expect(tree.items.map(({ path, name }: Loose) => [path, name]).sort()).toEqual([
      ['/docs', 'docs'],
      ['/private', 'private'],
    ]);
    for (const { path, pages, success } of tree.items) {
      expect(pages).toBe(await totalOf(`section=${path}`));
      expect(success).toBe(await totalOf(`section=${path}&status=success`));
    }
    const inside = tree.items.reduce((sum: number, { pages }: Loose) => sum + pages, 0);
    expect(tree.pages_in).toBe(tree.pages - inside);
    const docs = await world().read<Loose>('tree?path=/docs&status=success');
    expect(docs).toMatchObject({ path: '/docs', name: 'docs', items: [], failed: 0 });
    expect(docs.pages).toBe(await totalOf('section=/docs&status=success'));
    expect(docs.mean_response_ms).toBeGreaterThanOrEqual(0);
  });

  it('are refused where they are asked for wrongly', async () => {
    const { service, id } = world();
    for (const path of [
      ...['facets', 'facets?by=title', 'facets?by=state&state=Lost', 'facets?by=state&depth=3-1'],
      ...['facets?by=state&status_code=20', 'facets?by=state&x=1', 'tree?section=/docs', 'tree?path=%00'],
      ...['pages?sort=title', 'pages?status=lost', 'pages?depth=x', 'pages?status_code=4x', 'pages?q='],
    ]) {
      const { status, body } = await service.get(`projects/${id}/${path}`);
      expect([status, body.status], path).toEqual([400, 400]);
    }
    expect((await service.get('projects/x/facets?by=state')).status).toBe(404);
    expect((await service.get(`projects/${id}/pages?sort=word_count&limit=1`)).status).toBe(200);
  });
});
