/** Questions in SQL about one project: read-only, bounded in time and size, and ended when the caller goes away. */
import { findProject } from '../../answers/find-project.ts';
import { projectParams } from '../../contract/lists.ts';
import { QUERY_ROWS_UNLESS_SAID, queryAnswer, queryRequest } from '../../contract/queries.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { untilGone } from '../until-gone.ts';

const MOST_MS = 10_000;

export function registerQueryRoutes(app: ApiServer, deps: ApiDeps): void {
  app.post(
    '/projects/:id/query',
    {
      schema: {
        ...{ tags: ['Query'], operationId: 'query', summary: 'Ask in SQL' },
        description:
          'One statement that only reads, answered by DuckDB over the tables of this project alone. It is stopped after 10 seconds (408), and when the caller goes away.',
        params: projectParams,
        body: queryRequest,
        response: { 200: queryAnswer },
      },
      config: { scope: 'read', ignoresIdempotency: true },
    },
    async ({ params, body, caller }, reply) => {
      const project = await findProject(deps, params.id);
      const { sql, limit = QUERY_ROWS_UNLESS_SAID } = body;
      return await deps.queries.ask({
        ...{ project: project.project, sql, params: body.params, limit },
        timeoutMs: MOST_MS,
        asker: caller.key,
        signal: untilGone(deps, reply).gone,
      });
    },
  );
}
