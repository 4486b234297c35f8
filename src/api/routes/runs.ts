/** Runs of a project and of all projects, with what is kept of their events. */
import { findProject } from '../../answers/find-project.ts';
import { listChangesOf } from '../../answers/list-changes.ts';
import { findRunOf, listAllRuns, listRunLog, listRuns, readRun } from '../../answers/read-runs.ts';
import { ChangeList } from '../../contract/changes.ts';
import { projectParams } from '../../contract/lists.ts';
import {
  noQuery,
  plainListQuery,
  runChangesQuery,
  runListQuery,
  runParams,
} from '../../contract/page-parts.ts';
import { Run, RunList, RunLogList } from '../../contract/runs.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { maySee } from '../caller.ts';
import { untilGone } from '../until-gone.ts';

const TAGS = ['Runs'];

/** Under both names. */
const LISTS = [
  { path: '/projects/:id/runs', operationId: 'listRuns' },
  { path: '/projects/:id/crawl-history', operationId: 'listCrawlHistory' },
] as const;

export function registerRunRoutes(app: ApiServer, deps: ApiDeps): void {
  const { clock } = deps;

  for (const { path, operationId } of LISTS)
    app.get(
      path,
      {
        schema: {
          ...{ tags: TAGS, operationId, summary: 'Runs of a project, newest first' },
          params: projectParams,
          querystring: runListQuery,
          response: { 200: RunList },
        },
      },
      async ({ params, query: { state: states, ...place } }, reply) => {
        const asked = untilGone(deps, reply);
        return await listRuns(asked, await findProject(asked, params.id), { states, ...place }, clock.now());
      },
    );

  app.get(
    '/runs',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listAllRuns', summary: 'Runs of all projects, newest first' },
        querystring: runListQuery,
        response: { 200: RunList },
      },
    },
    async ({ query: { state: states, ...place }, caller }, reply) => {
      const asked = untilGone(deps, reply);
      const projects = (await asked.side.projects()).filter(
        ({ uid, deleted_at }) => deleted_at === null && maySee(caller, uid),
      );
      return await listAllRuns(asked, projects, { states, ...place }, clock.now());
    },
  );

  app.get(
    '/projects/:id/runs/:run',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getRun', summary: 'A run' },
        params: runParams,
        querystring: noQuery,
        response: { 200: Run },
      },
      config: { hasTag: true },
    },
    async ({ params }, reply) => {
      const asked = untilGone(deps, reply);
      return await readRun(asked, await findProject(asked, params.id), params.run, clock.now());
    },
  );

  app.get(
    '/projects/:id/runs/:run/log',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getRunLog', summary: 'Kept events of a run, oldest first' },
        params: runParams,
        querystring: plainListQuery,
        response: { 200: RunLogList },
      },
    },
    async ({ params, query }, reply) => {
      const asked = untilGone(deps, reply);
      return await listRunLog(asked, await findProject(asked, params.id), params.run, query);
    },
  );

  app.get(
    '/projects/:id/runs/:run/changes',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'listRunChanges', summary: 'What a run found changed' },
        params: runParams,
        querystring: runChangesQuery,
        response: { 200: ChangeList },
      },
    },
    async ({ params, query: { outcome: outcomes, part: parts, ...place } }, reply) => {
      const asked = untilGone(deps, reply);
      const project = await findProject(asked, params.id);
      const { run } = await findRunOf(asked, project, params.run);
      return await listChangesOf(asked, project, { since: { only: run }, outcomes, parts, ...place });
    },
  );
}
