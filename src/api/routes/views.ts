/** Saved queries of a project. */
import { z } from 'zod';
import { findProject } from '../../answers/find-project.ts';
import { createViewKeeper } from '../../answers/keep-views.ts';
import { projectParams } from '../../contract/lists.ts';
import { noQuery, plainListQuery, viewParams } from '../../contract/page-parts.ts';
import { NewView, View, ViewChange, ViewList } from '../../contract/views.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { changeVersion, markVersion } from '../entity-tags.ts';

const TAGS = ['Views'];

export function registerViewRoutes(app: ApiServer, deps: ApiDeps): void {
  const views = createViewKeeper(deps);

  app.get(
    '/projects/:id/views',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listViews', summary: 'Saved queries, by name' },
        params: projectParams,
        querystring: plainListQuery,
        response: { 200: ViewList },
      },
    },
    async ({ params, query }) => await views.list((await findProject(deps, params.id)).uid, query),
  );

  app.post(
    '/projects/:id/views',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'createView', summary: 'Save a query' },
        params: projectParams,
        body: NewView,
        response: { 201: View },
      },
    },
    async ({ params, body }, reply) => {
      const { uid } = await findProject(deps, params.id);
      const view = await views.create(uid, body);
      markVersion(reply, view.version);
      return reply.code(201).header('location', `/api/v1/projects/${uid}/views/${view.id}`).send(view);
    },
  );

  app.get(
    '/projects/:id/views/:viewId',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getView', summary: 'A saved query' },
        params: viewParams,
        querystring: noQuery,
        response: { 200: View },
      },
    },
    async ({ params }, reply) => {
      const view = await views.get((await findProject(deps, params.id)).uid, params.viewId);
      markVersion(reply, view.version);
      return view;
    },
  );

  for (const { method, body, operationId, summary } of CHANGES)
    app.route({
      method,
      url: '/projects/:id/views/:viewId',
      schema: {
        ...{ tags: TAGS, operationId, summary },
        params: viewParams,
        body,
        response: { 200: View },
      },
      handler: async (request, reply) => {
        const { uid } = await findProject(deps, request.params.id);
        const { version } = await views.get(uid, request.params.viewId);
        const view = await changeVersion(request, version, (ifVersion) =>
          views.change(uid, request.params.viewId, request.body, ifVersion),
        );
        markVersion(reply, view.version);
        return view;
      },
    });

  app.delete(
    '/projects/:id/views/:viewId',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'deleteView', summary: 'Delete a saved query' },
        params: viewParams,
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      const { uid } = await findProject(deps, request.params.id);
      const { version } = await views.get(uid, request.params.viewId);
      await changeVersion(request, version, (ifVersion) =>
        views.remove(uid, request.params.viewId, ifVersion),
      );
      return reply.code(204).send(null);
    },
  );
}

const CHANGES = [
  { method: 'PATCH', body: ViewChange, operationId: 'changeView', summary: 'Change what is given' },
  { method: 'PUT', body: NewView, operationId: 'replaceView', summary: 'Replace a saved query' },
] as const;
