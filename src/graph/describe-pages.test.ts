import { describe, expect, it } from 'vitest';
import type { GraphPage } from '../store/read-side.ts';
import { describePages, type ExportSide } from './describe-pages.ts';
import { buildLinkGraph } from './link-graph.ts';
import { buildOriginColumns } from './origin-columns.ts';
import { createStoredOrigins } from './stored-origins.ts';

const page = (id: number): GraphPage => ({
  id,
  project_id: 1,
  url: `https://a.test/${id}`,
  host: 'a.test',
  state: 'Processed',
  title: null,
  status_code: 200,
  depth: 0,
  discovered_run: 1,
  redirect_to: null,
});

/** A store that answers otherwise each time it is asked for its pages. */
function changing(...answers: readonly (readonly number[])[]): ExportSide {
  let asked = 0;
  return {
    async *graphPages() {
      yield answers[asked++].map(page);
    },
    async *graphLinks() {
      yield { from: 1, targets: [2], flags: null };
    },
  };
}

const origins = createStoredOrigins(new Map([[1, ['a.test', 'b.test']]]));

async function labelsOf(side: ExportSide): Promise<string[]> {
  const { graph } = await describePages(side, {}, origins);
  const labels: string[] = [];
  for await (const nodes of graph.nodes()) labels.push(...nodes.map(({ label }) => label));
  return labels;
}

describe('pages that change while they are exported', () => {
  it('are left out when they are new', async () => {
    const labels = await labelsOf(changing([1, 2], [1, 2, 3]));
    expect(labels).toEqual(['https://a.test/1', 'https://a.test/2']);
  });

  it('fail the export when they vanish, since edges lead to them', async () => {
    await expect(labelsOf(changing([1, 2], [1]))).rejects.toMatchObject({ code: 'export-changed' });
  });
});

describe('depth by origin', () => {
  it('is left out, and said to be, where it would not fit', async () => {
    const graph = await buildLinkGraph(changing([1, 2]));
    const columnsOf = (most: number) => buildOriginColumns(graph, origins, 2, (index) => index, most);
    expect(columnsOf(4)).toMatchObject({
      isLeftOut: false,
      columns: [{ name: 'depth_a.test' }, { name: 'depth_b.test' }],
    });
    expect(columnsOf(4).cells(1)).toEqual([0, null]);
    expect(columnsOf(3)).toMatchObject({ isLeftOut: true, columns: [] });
  });
});
