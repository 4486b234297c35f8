/** Starting and steering the crawl of a project. Every answer is the phase as it is then; the run goes on behind it. */
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { findProject } from '../../answers/find-project.ts';
import { readSettingsOf } from '../../answers/read-settings.ts';
import { projectParams } from '../../contract/lists.ts';
import { adjustRequest, phase, runRequest } from '../../contract/phases.ts';
import type { Phase, RunOrder } from '../../running/phase.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { invalidFields } from '../problems.ts';

const TAGS = ['Phases'];
const PATH = '/projects/:id/phases/crawl';
/** A POST that needs no body takes an empty object as well. */
const nothing = z.strictObject({}).optional();

const STEPS = [
  { name: 'pause', about: 'Hosts go back; the run stays and can be resumed.' },
  { name: 'resume', about: 'The same run goes on.' },
  { name: 'stop', about: 'The run is over; what waited is skipped.' },
] as const;

export function registerPhaseRoutes(app: ApiServer, deps: ApiDeps): void {
  const { runs } = deps.engine;

  function accepted(reply: FastifyReply, standing: Phase): FastifyReply {
    reply.header('location', `/api/v1/projects/${standing.project_id}/phases/crawl/status`);
    return reply.code(202).send(standing);
  }

  app.get(
    `${PATH}/status`,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getPhase', summary: 'How the crawl stands' },
        params: projectParams,
        response: { 200: phase },
      },
      config: { hasTag: true },
    },
    async ({ params }) => {
      const project = await findProject(deps, params.id);
      return await runs.phase(project.uid);
    },
  );

  app.post(
    `${PATH}/run`,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'startRun', summary: 'Start a run, or put it in the queue' },
        params: projectParams,
        body: runRequest.optional(),
        response: { 202: phase },
      },
    },
    async ({ params, body }, reply) => {
      const project = await findProject(deps, params.id);
      return accepted(reply, await runs.start(project.uid, orderOf(body ?? {}, deps)));
    },
  );

  for (const { name, about } of STEPS)
    app.post(
      `${PATH}/${name}`,
      {
        schema: {
          ...{ tags: TAGS, operationId: `${name}Run`, summary: about },
          params: projectParams,
          body: nothing,
          response: { 202: phase },
        },
      },
      async ({ params }, reply) => {
        const project = await findProject(deps, params.id);
        return accepted(reply, await runs[name](project.uid));
      },
    );

  app.post(
    `${PATH}/adjust`,
    {
      schema: {
        ...{ tags: TAGS, operationId: 'adjustRun' },
        summary: 'New settings for the run under way; waiting pages are judged by them',
        params: projectParams,
        body: adjustRequest,
        response: { 202: phase },
      },
    },
    async ({ params, body }, reply) => {
      const project = await findProject(deps, params.id);
      return accepted(reply, await runs.adjust(project.uid, readSettingsOf(body.settings, deps.options)));
    },
  );
}

function orderOf(asked: z.infer<typeof runRequest>, { options }: ApiDeps): RunOrder {
  const { max_pages: maxPages, fetch_only_urls: urls, mode, fresh, meta } = asked;
  if (maxPages !== undefined && maxPages > options.maxPagesLimit)
    throw invalidFields([
      { pointer: '/max_pages', detail: `Expected a whole number from 1 to ${options.maxPagesLimit}.` },
    ]);
  const bad = (urls ?? []).flatMap((url, index) =>
    isWebUrl(url)
      ? []
      : [{ pointer: `/fetch_only_urls/${index}`, detail: 'Expected an address with http or https.' }],
  );
  if (bad.length > 0) throw invalidFields(bad);
  return {
    type: 'manual',
    ...(mode !== undefined && { mode }),
    ...(maxPages !== undefined && { maxPages }),
    ...(urls !== undefined && urls !== null && { fetchOnlyUrls: urls }),
    ...(fresh !== undefined && { fresh }),
    ...(meta !== undefined && { meta }),
  };
}

function isWebUrl(text: string): boolean {
  if (!URL.canParse(text.trim())) return false;
  const { protocol, username, password } = new URL(text.trim());
  return /^https?:$/.test(protocol) && username === '' && password === '';
}
