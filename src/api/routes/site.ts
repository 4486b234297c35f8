/** A project as a whole: its hosts, its links, their graph, its figures, the audit of its requests, and why of any URL. */
import { explainUrlOf } from '../../answers/explain-why.ts';
import { findProject } from '../../answers/find-project.ts';
import { findPage } from '../../answers/list-pages.ts';
import { askOnce } from '../../answers/project-questions.ts';
import { readLinksQuestion } from '../../answers/read-links-question.ts';
import { listHosts, listLinks, readStatistics } from '../../answers/read-site.ts';
import { projectParams } from '../../contract/lists.ts';
import {
  auditQuery,
  graphQuery,
  linksQuery,
  noQuery,
  plainListQuery,
  whyQuery,
} from '../../contract/page-parts.ts';
import { PageLinkList } from '../../contract/pages.ts';
import {
  type AuditAnswer,
  AuditSchema,
  type Graph,
  GraphSchema,
  HostList,
  StatisticsSchema,
  WhySchema,
} from '../../contract/site.ts';
import { createTurns } from '../../primitives/take-turns.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { untilGone } from '../until-gone.ts';

const TAGS = ['Site'];
/** Each keeps a thread of the read side at work for long. */
const STATISTICS_AT_ONCE = 2;

export function registerSiteRoutes(app: ApiServer, deps: ApiDeps): void {
  const { clock } = deps;
  const takeTurn = createTurns(STATISTICS_AT_ONCE);

  app.get(
    '/projects/:id/hosts',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listHosts', summary: 'Hosts with pace, blocks and robots.txt' },
        params: projectParams,
        querystring: plainListQuery,
        response: { 200: HostList },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      return await listHosts(asked, await findProject(asked, params.id), query);
    },
  );

  app.get(
    '/projects/:id/links',
    {
      schema: {
        ...{
          tags: TAGS,
          operationId: 'listLinks',
          summary: 'Links between pages; broken=true: who links to what',
        },
        params: projectParams,
        querystring: linksQuery,
        response: { 200: PageLinkList },
      },
    },
    async ({ params, query: { from, to, limit, cursor, count, ...filters } }, reply) => {
      const asked = untilGone(deps, reply);
      const project = await findProject(asked, params.id);
      const numberOf = async (pageId: string | undefined) =>
        pageId === undefined ? undefined : (await findPage(asked, project, pageId)).id;
      const ends = { fromId: await numberOf(from), toId: await numberOf(to) };
      return await listLinks(asked, project, {
        ...readLinksQuestion(filters),
        ...ends,
        limit,
        cursor,
        count,
      });
    },
  );

  app.get(
    '/projects/:id/graph',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getGraph', summary: 'Links as a graph of sections, domains or pages' },
        params: projectParams,
        querystring: graphQuery,
        response: { 200: GraphSchema },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      const project = await findProject(asked, params.id);
      const question = { ask: 'graph' as const, graph: query, now: clock.now() };
      return await askOnce<Graph>(asked.askProject, project, question, asked.gone);
    },
  );

  app.get(
    '/projects/:id/statistics',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getStatistics', summary: 'What the project amounts to' },
        params: projectParams,
        querystring: noQuery,
        response: { 200: StatisticsSchema },
      },
    },
    async ({ params, caller }, reply) => {
      const asked = untilGone(deps, reply);
      const project = await findProject(asked, params.id);
      const endTurn = await takeTurn(asked.gone, caller.key);
      try {
        return await readStatistics(asked, project);
      } finally {
        endTurn();
      }
    },
  );

  app.get(
    '/projects/:id/audit',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'audit', summary: 'Whether every request was polite' },
        params: projectParams,
        querystring: auditQuery,
        response: { 200: AuditSchema },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      const project = await findProject(asked, params.id);
      const question = { ask: 'audit' as const, run: query.run };
      return await askOnce<AuditAnswer>(asked.askProject, project, question, asked.gone);
    },
  );

  app.get(
    '/projects/:id/why',
    {
      schema: {
        ...{
          tags: TAGS,
          operationId: 'explainUrl',
          summary: 'What became of any URL, and which rule decided',
        },
        params: projectParams,
        querystring: whyQuery,
        response: { 200: WhySchema },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      return await explainUrlOf(asked, await findProject(asked, params.id), query.url, clock.now());
    },
  );
}
