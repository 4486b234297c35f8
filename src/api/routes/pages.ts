/** Pages of a project: the list, one page, and what is kept of it. What a site sent is never answered as HTML. */
import { z } from 'zod';
import { explainPageOf } from '../../answers/explain-why.ts';
import { findProject } from '../../answers/find-project.ts';
import { findPage, listPages, readPage } from '../../answers/list-pages.ts';
import {
  diffPage,
  listPageLinks,
  listPageVisits,
  readStoredBody,
  readStoredHeaders,
  readStoredText,
} from '../../answers/read-page-parts.ts';
import { projectParams } from '../../contract/lists.ts';
import {
  noQuery,
  pageBodyQuery,
  pageDiffQuery,
  pageLinksQuery,
  pageListQuery,
  pageParams,
  plainListQuery,
} from '../../contract/page-parts.ts';
import {
  CrawledPage,
  PageDiff,
  PageLinkList,
  PageList,
  PageVisitList,
  StoredHeaders,
} from '../../contract/pages.ts';
import { WhySchema } from '../../contract/site.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { untilGone } from '../until-gone.ts';

const TAGS = ['Pages'];

export function registerPageRoutes(app: ApiServer, deps: ApiDeps): void {
  const { clock } = deps;
  /** The project and the page that the address names. */
  async function find(asked: ApiDeps, { id, pageId }: z.infer<typeof pageParams>) {
    const project = await findProject(asked, id);
    return { project, page: await findPage(asked, project, pageId) };
  }

  app.get(
    '/projects/:id/pages',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listPages', summary: 'List pages' },
        params: projectParams,
        querystring: pageListQuery,
        response: { 200: PageList },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      return await listPages(asked, await findProject(asked, params.id), query);
    },
  );

  app.get(
    '/projects/:id/pages/:pageId',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getPage', summary: 'A page with its text and its links' },
        params: pageParams,
        querystring: noQuery,
        response: { 200: CrawledPage },
      },
      config: { hasTag: true },
    },
    async ({ params }, reply) => {
      const asked = untilGone(deps, reply);
      return await readPage(asked, await findProject(asked, params.id), params.pageId);
    },
  );

  app.get(
    '/projects/:id/pages/:pageId/history',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listPageHistory', summary: 'Its visits, newest first' },
        params: pageParams,
        querystring: plainListQuery,
        response: { 200: PageVisitList },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      const { project, page } = await find(asked, params);
      return await listPageVisits(asked, project, page, query);
    },
  );

  app.get(
    '/projects/:id/pages/:pageId/links',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listPageLinks', summary: 'Its links, or the links to it' },
        params: pageParams,
        querystring: pageLinksQuery,
        response: { 200: PageLinkList },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      const { project, page } = await find(asked, params);
      return await listPageLinks(asked, project, page, query);
    },
  );

  app.get(
    '/projects/:id/pages/:pageId/diff',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'diffPage', summary: 'What differs between two runs' },
        params: pageParams,
        querystring: pageDiffQuery,
        response: { 200: PageDiff },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      const { project, page } = await find(asked, params);
      return await diffPage(asked, project, page, query);
    },
  );

  app.get(
    '/projects/:id/pages/:pageId/why',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'explainPage', summary: 'What became of it, and which rule decided' },
        params: pageParams,
        querystring: noQuery,
        response: { 200: WhySchema },
      },
    },
    async ({ params }, reply) => {
      const asked = untilGone(deps, reply);
      const { project, page } = await find(asked, params);
      return await explainPageOf(asked, project, page, clock.now());
    },
  );

  registerBodyRoute(app, deps, find);
}

type FindPage = (
  asked: ApiDeps,
  params: z.infer<typeof pageParams>,
) => Promise<{ page: Awaited<ReturnType<typeof findPage>> }>;

/** A browser that is led here runs nothing, and shows nothing of the site. */
const HARMLESS = {
  'x-content-type-options': 'nosniff',
  'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
};

function registerBodyRoute(app: ApiServer, deps: ApiDeps, find: FindPage): void {
  app.get(
    '/projects/:id/pages/:pageId/body',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getPageBody', summary: 'Its stored text, bytes or headers' },
        params: pageParams,
        querystring: pageBodyQuery,
        response: {
          200: {
            description: 'text/plain for text, application/octet-stream for raw, JSON for headers.',
            content: {
              'text/plain': { schema: z.string() },
              'application/octet-stream': { schema: z.string() },
              'application/json': { schema: StoredHeaders },
            },
          },
        },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      const { page } = await find(asked, params);
      reply.headers(HARMLESS);
      if (query.as === 'headers') return reply.type('application/json').send(readStoredHeaders(page));
      const isRaw = query.as === 'raw';
      const bytes = isRaw
        ? await readStoredBody(asked, page)
        : Buffer.from(await readStoredText(asked, page));
      if (isRaw) reply.header('content-disposition', `attachment; filename="page-${params.pageId}.bin"`);
      return reply
        .type(isRaw ? 'application/octet-stream' : 'text/plain; charset=utf-8')
        .send(Buffer.from(bytes) as never);
    },
  );
}
