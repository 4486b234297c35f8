/** How many pages of a project have each value of one property, for those that fit a filter. */
import type { FacetCounts, FacetQuery } from '../contract/facets.ts';
import type { ProjectRow } from '../store/read-side.ts';
import type { Answering } from './answering.ts';
import { pageFilterOf } from './page-query.ts';

export async function countFacets(
  { side }: Pick<Answering, 'side'>,
  { project }: Pick<ProjectRow, 'project'>,
  { by, ...filter }: FacetQuery,
): Promise<FacetCounts> {
  const { items, total, isExact, asOfRun } = await side.facets(by, pageFilterOf(filter, project));
  return {
    items: items.map(({ value, pages }) => ({ value, count: pages })),
    total,
    total_is_exact: isExact,
    as_of_run: asOfRun,
  };
}
