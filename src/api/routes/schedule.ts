/** The schedule of a project: when it is crawled by itself. */
import { z } from 'zod';
import { findProject } from '../../answers/find-project.ts';
import { projectParams } from '../../contract/lists.ts';
import { phase } from '../../contract/phases.ts';
import { Schedule, ScheduleChange } from '../../contract/schedules.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { changeVersion, markVersion } from '../entity-tags.ts';

const TAGS = ['Schedule'];
const PATH = '/projects/:id/schedule';

export function registerScheduleRoutes(app: ApiServer, deps: ApiDeps): void {
  const { schedules, runs } = deps.engine;

  app.get(
    PATH,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getSchedule', summary: 'The schedule; off where none was set' },
        params: projectParams,
        response: { 200: Schedule },
      },
    },
    async ({ params }, reply) => {
      const schedule = await schedules.get((await findProject(deps, params.id)).uid);
      markVersion(reply, schedule.version);
      return schedule;
    },
  );

  app.put(
    PATH,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'setSchedule', summary: 'Set the whole schedule' },
        params: projectParams,
        body: ScheduleChange,
        response: { 200: Schedule },
      },
    },
    async (request, reply) => {
      const { uid } = await findProject(deps, request.params.id);
      const { version } = await schedules.get(uid);
      const schedule = await changeVersion(request, version, (ifVersion) =>
        schedules.set(uid, request.body, ifVersion),
      );
      markVersion(reply, schedule.version);
      return schedule;
    },
  );

  app.post(
    `${PATH}/run-now`,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'runSchedule', summary: 'Begin now what the schedule would begin' },
        params: projectParams,
        body: z.strictObject({}).optional(),
        response: { 202: phase },
      },
    },
    async ({ params }, reply) => {
      const { uid } = await findProject(deps, params.id);
      await schedules.runNow(uid);
      reply.header('location', `/api/v1/projects/${uid}/phases/crawl/status`);
      return reply.code(202).send(await runs.phase(uid));
    },
  );
}
