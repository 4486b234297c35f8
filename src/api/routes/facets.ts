/** Counts of a project's pages: by value, and by folder. */
import { countFacets } from '../../answers/count-facets.ts';
import { findProject } from '../../answers/find-project.ts';
import { readTree } from '../../answers/read-tree.ts';
import { FacetCounts, FacetQuery, FolderTree, TreeQuery } from '../../contract/facets.ts';
import { projectParams } from '../../contract/lists.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { untilGone } from '../until-gone.ts';

const TAGS = ['Pages'];

export function registerFacetRoutes(app: ApiServer, deps: ApiDeps): void {
  app.get(
    '/projects/:id/facets',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'countFacets', summary: 'Count pages by a property' },
        params: projectParams,
        querystring: FacetQuery,
        response: { 200: FacetCounts },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      return await countFacets(asked, await findProject(asked, params.id), query);
    },
  );

  app.get(
    '/projects/:id/tree',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'readTree', summary: 'Count pages by folder' },
        params: projectParams,
        querystring: TreeQuery,
        response: { 200: FolderTree },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      return await readTree(asked, await findProject(asked, params.id), query);
    },
  );
}
