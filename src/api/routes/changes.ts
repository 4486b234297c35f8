/** What changed since a run or a time, as JSON or as an Atom feed; and the pages that differ between two runs. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { compareProjectRuns } from '../../answers/compare-project-runs.ts';
import { feedOf } from '../../answers/export-project.ts';
import { findProject } from '../../answers/find-project.ts';
import { listChangesOf } from '../../answers/list-changes.ts';
import { renderAtom } from '../../answers/render-atom.ts';
import { ChangeList, ComparedList } from '../../contract/changes.ts';
import { MEDIA_TYPES } from '../../contract/export.ts';
import { projectParams } from '../../contract/lists.ts';
import { changesQuery, compareQuery } from '../../contract/page-parts.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { untilGone } from '../until-gone.ts';

const TAGS = ['Changes'];

export function registerChangeRoutes(app: ApiServer, deps: ApiDeps): void {
  app.get(
    '/projects/:id/changes',
    {
      schema: {
        ...{
          tags: TAGS,
          operationId: 'listChanges',
          summary: 'What changed: of several runs, what they come to',
        },
        params: projectParams,
        querystring: changesQuery,
        response: {
          200: {
            description: 'JSON, or an Atom feed.',
            content: {
              'application/json': { schema: ChangeList },
              'application/atom+xml': { schema: z.string() },
            },
          },
        },
      },
    },
    async (request, reply) => {
      const { outcome: outcomes, part: parts, format, ...asking } = request.query;
      const asked = untilGone(deps, reply);
      const project = await findProject(asked, request.params.id);
      const changes = await listChangesOf(asked, project, { outcomes, parts, ...asking });
      if (format !== 'atom') return reply.type('application/json; charset=utf-8').send(changes);
      const feed = {
        ...(await feedOf(asked, project)),
        selfUrl: addressOf(request, null),
        nextUrl: changes.next_cursor === null ? null : addressOf(request, changes.next_cursor),
      };
      let text = '';
      for await (const piece of renderAtom(feed, changes.items)) text += piece;
      return reply.type(MEDIA_TYPES.atom).send(Buffer.from(text) as never);
    },
  );

  app.get(
    '/projects/:id/compare',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'compareRuns', summary: 'Pages that differ between two runs' },
        params: projectParams,
        querystring: compareQuery,
        response: { 200: ComparedList },
      },
    },
    async ({ params, query: { outcome: outcomes, part: parts, ...asking } }, reply) => {
      const asked = untilGone(deps, reply);
      return await compareProjectRuns(asked, await findProject(asked, params.id), {
        outcomes,
        parts,
        ...asking,
      });
    },
  );
}

/** Of this request, with another cursor where one is given. */
export function addressOf({ protocol, host, url }: FastifyRequest, cursor: string | null): string {
  const address = new URL(url, `${protocol}://${host}`);
  if (cursor !== null) address.searchParams.set('cursor', cursor);
  return address.href;
}
