/** Projects: made, listed, changed, deleted, restored and purged. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { createProjectDescriber } from '../../answers/describe-projects.ts';
import { findProject } from '../../answers/find-project.ts';
import { listProjects } from '../../answers/list-projects.ts';
import { readSettingsOf } from '../../answers/read-settings.ts';
import { readWebsiteUrl } from '../../answers/read-website-url.ts';
import { listSchema, projectParams } from '../../contract/lists.ts';
import {
  deleteQuery,
  newProject,
  type Project,
  project,
  projectChange,
  projectListQuery,
} from '../../contract/projects.ts';
import { SumiError, sumiError } from '../../errors.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { changeVersion, checkVersion, markVersion } from '../entity-tags.ts';

const TAGS = ['Projects'];
const location = (id: string) => `/api/v1/projects/${id}`;

export function registerProjectRoutes(app: ApiServer, deps: ApiDeps): void {
  const { engine, egress, options } = deps;
  const describe = createProjectDescriber(deps, options);

  async function answer(id: string, reply: FastifyReply): Promise<Project> {
    const row = await findProject(deps, id, { deleted: true });
    markVersion(reply, Date.parse(row.updated_at));
    return await describe.one(row);
  }

  app.post(
    '/projects',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'createProject', summary: 'Make a project' },
        body: newProject,
        response: { 201: project },
      },
    },
    async ({ body, caller }, reply) => {
      if (caller.projects !== null) throw sumiError('projects-only');
      const settings = readSettingsOf(body.settings ?? {}, options);
      const websiteUrl = await readWebsiteUrl(body.website_url, egress);
      const id = await pointAtName(engine.projects.create({ name: body.name, websiteUrl, settings }));
      return reply
        .code(201)
        .header('location', location(id))
        .send(await answer(id, reply));
    },
  );

  app.get(
    '/projects',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listProjects', summary: 'List projects' },
        querystring: projectListQuery,
        response: { 200: listSchema(project) },
      },
    },
    async ({ query, caller }) => {
      const { items, ...rest } = await listProjects(deps, query, caller.projects);
      return { items: await describe.many(items), ...rest };
    },
  );

  app.get(
    '/projects/:id',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getProject', summary: 'A project, deleted ones too' },
        params: projectParams,
        response: { 200: project },
      },
    },
    async ({ params }, reply) => await answer(params.id, reply),
  );

  app.patch(
    '/projects/:id',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'changeProject', summary: 'Change what is given' },
        params: projectParams,
        body: projectChange,
        response: { 200: project },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      const row = await findProject(deps, params.id);
      const seen = Date.parse(row.updated_at);
      checkVersion(request, seen);
      const settings = body.settings === undefined ? undefined : readSettingsOf(body.settings, options);
      const websiteUrl =
        body.website_url === undefined ? undefined : await readWebsiteUrl(body.website_url, egress);
      await changeVersion(request, seen, (ifUpdatedAt) =>
        pointAtName(engine.projects.change(row.uid, { name: body.name, websiteUrl, settings, ifUpdatedAt })),
      );
      return await answer(row.uid, reply);
    },
  );

  app.delete(
    '/projects/:id',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'deleteProject' },
        summary: 'Delete a project; it can be restored until it is purged',
        params: projectParams,
        querystring: deleteQuery,
        response: { 202: z.strictObject({}), 204: z.null() },
      },
    },
    async ({ params, query, caller }, reply) => {
      if (query.purge === true) {
        if (caller.projects !== null) throw sumiError('projects-only');
        const row = await findProject(deps, params.id, { deleted: true });
        await engine.projects.purge(row.uid);
        return reply.code(202).send({});
      }
      const row = await findProject(deps, params.id);
      await engine.projects.remove(row.uid);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/projects/:id/restore',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'restoreProject', summary: 'Take a deleted project back' },
        params: projectParams,
        body: z.strictObject({}).optional(),
        response: { 200: project },
      },
    },
    async ({ params }, reply) => {
      const row = await findProject(deps, params.id, { deleted: true });
      await engine.projects.restore(row.uid);
      return await answer(row.uid, reply);
    },
  );
}

/** Says which field a name that is taken stands in. */
async function pointAtName<Result>(change: Promise<Result>): Promise<Result> {
  try {
    return await change;
  } catch (error) {
    if (!(error instanceof SumiError) || error.code !== 'project-exists') throw error;
    throw new SumiError(error.code, {
      ...error.details,
      errors: [{ pointer: '/name', detail: error.message }],
    });
  }
}
