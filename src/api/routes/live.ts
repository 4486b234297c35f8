/** What happens, as it happens: WebSocket for any number of projects, Server-Sent Events for one. */
import fastifyWebsocket from '@fastify/websocket';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { findProject } from '../../answers/find-project.ts';
import { projectParams } from '../../contract/lists.ts';
import { type LiveRequest, liveRequest } from '../../contract/live.ts';
import { sumiError } from '../../errors.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import { refuseUnseen } from '../caller.ts';
import { MOST_LIVE } from '../limits.ts';
import { serveEventStream } from '../live/event-stream.ts';
import { createLiveHub } from '../live/live-hub.ts';
import { createLiveShares } from '../live/live-shares.ts';
import { serveLiveSocket } from '../live/web-socket.ts';
import type { WhoAsks } from '../who-asks.ts';
import { fieldsOfIssues } from '../zod-fields.ts';

/** A request of a client is a line. */
const MOST_MESSAGE_BYTES = 16 * 1024;
const TAGS = ['Live'];

export async function registerLiveRoutes(app: ApiServer, deps: ApiDeps, whoAsks: WhoAsks): Promise<void> {
  const { engine, clock, log } = deps;
  const hub = createLiveHub(engine);
  const admit = oncePerProject((projectId) => findProject(deps, projectId));
  const shares = createLiveShares(MOST_LIVE);
  const takeSocket = async ({ caller, raw }: FastifyRequest) =>
    void raw.socket.once('close', shares.take(caller.key));
  /** Its connection may be kept for other requests. */
  const takeStream = async ({ caller }: FastifyRequest, reply: FastifyReply) =>
    void reply.raw.once('close', shares.take(caller.key));
  app.addHook('preClose', async () => hub.close());
  await app.register(fastifyWebsocket, {
    options: { maxPayload: MOST_MESSAGE_BYTES, perMessageDeflate: false },
    errorHandler: (_error, socket) => socket.terminate(),
  });

  app.get('/ws', { websocket: true, preHandler: takeSocket }, (socket, request) => {
    serveLiveSocket({
      ...{ socket, hub, clock, log, read: readRequest },
      async admit(projectId) {
        refuseUnseen(request.caller, projectId);
        await admit(projectId);
      },
      isStillAdmitted: () => isStill(whoAsks(request.raw)),
    });
  });

  app.get(
    '/projects/:id/events',
    {
      // A HEAD would hear nothing, and never end.
      exposeHeadRoute: false,
      preHandler: takeStream,
      schema: {
        ...{ tags: TAGS, operationId: 'streamEvents', summary: 'Events of a project, as Server-Sent Events' },
        description:
          'Each event has its number as its id. With Last-Event-ID the stream goes on after that event; where it is no ' +
          'longer kept the first event is `reset`, with the phase: read again what is shown.',
        params: projectParams,
        produces: ['text/event-stream'],
      },
    },
    async ({ params, headers, raw }, reply) => {
      const project = await findProject(deps, params.id);
      const afterSeq = readEventId(headers['last-event-id']);
      reply.hijack();
      for (const [name, value] of Object.entries(reply.getHeaders()))
        if (value !== undefined) reply.raw.setHeader(name, value);
      const stream = { response: reply.raw, projectId: project.uid, afterSeq, hub, engine, clock };
      try {
        await serveEventStream({ ...stream, isStillAdmitted: () => isStill(whoAsks(raw)) });
      } catch (error) {
        log(`A stream of events was closed: ${error instanceof Error ? error.message : String(error)}`);
        reply.raw.destroy();
      }
    },
  );
}

/** Of many that ask for one project at the same moment, one asks the store: each question of many takes a thread. */
function oncePerProject(ask: (projectId: string) => Promise<unknown>) {
  const asking = new Map<string, Promise<unknown>>();
  return async (projectId: string): Promise<void> => {
    let answer = asking.get(projectId);
    if (answer === undefined) {
      answer = ask(projectId).finally(() => asking.delete(projectId));
      asking.set(projectId, answer);
    }
    await answer;
  };
}

/** Who may not ask any more hears no more. */
const isStill = (asking: Promise<unknown>) =>
  asking.then(
    () => true,
    () => false,
  );

function readRequest(text: string): LiveRequest {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch (error) {
    throw sumiError('live-message', { reason: 'it is no JSON' }, error);
  }
  const read = liveRequest.safeParse(message);
  if (read.success) return read.data;
  const [problem] = fieldsOfIssues(liveRequest, read.error.issues);
  throw sumiError('live-message', { reason: `${problem.pointer || 'the message'}: ${problem.detail}` });
}

/** What is no number of ours is an event that is not kept. */
function readEventId(given: string | string[] | undefined): number | null {
  if (given === undefined) return null;
  const text = [given].flat()[0];
  return /^\d{1,16}$/.test(text) ? Number(text) : -1;
}
