/**
 * The server of the service: who may ask, how mistakes are answered, how much one request may be, and every route. A route checks,
 * calls one function and answers; what holds for all of them is here. It listens to nothing by itself.
 */
import { maxHeaderSize } from 'node:http';
import fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { serializerCompiler } from 'fastify-type-provider-zod';
import type { z } from 'zod';
import { createAccessTokens } from '../answers/access-tokens.ts';
import { sumiError } from '../errors.ts';
import type { ApiDeps, ApiServer } from './api-deps.ts';
import { mayUse, refuseUnseen, type Scope } from './caller.ts';
import { tagAnswer } from './entity-tags.ts';
import { createOriginCheck } from './host-rules.ts';
import { createIdempotency } from './idempotency.ts';
import {
  HEADERS_MS,
  IDLE_MS,
  MOST_BODY_BYTES,
  MOST_CONNECTIONS,
  MOST_HEADER_BYTES,
  REQUEST_MS,
} from './limits.ts';
import { describeApi } from './open-api.ts';
import { createErrorHandler, invalidFields, problemForSocket, withoutQuery } from './problems.ts';
import { createRateLimits } from './rate-limits.ts';
import { readBodiesOf } from './read-body.ts';
import { registerRoutes } from './register-routes.ts';
import { noteRoutes } from './route-list.ts';
import { addressOf, anybody, createWhoAsks, refusedParameter, type WhoAsks } from './who-asks.ts';
import { fieldsOfIssues } from './zod-fields.ts';

const SECURITY_HEADERS = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
};

/** Of an address, in failed sign-ins: ten at once, then one in six seconds. */
const FAILED_TRIES = { perSecond: 1 / 6, burst: 10 };
/** So many seconds' worth of requests may come at once. */
const BURST_SECONDS = 10;

export function createServer(deps: ApiDeps): ApiServer {
  const { clock, random, records, options, log } = deps;
  const app = fastify({
    logger: false,
    http: { maxHeaderSize: Math.min(maxHeaderSize, MOST_HEADER_BYTES), headersTimeout: HEADERS_MS },
    bodyLimit: MOST_BODY_BYTES,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: IDLE_MS,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 1000 },
    frameworkErrors: (error, request, reply) => void refuseEarly(error, request, reply as FastifyReply),
    clientErrorHandler(error, socket) {
      if (error.code === 'ECONNRESET' || !socket.writable) return;
      socket.end(problemForSocket(error.code));
    },
  }) as unknown as ApiServer;
  app.server.maxConnections = MOST_CONNECTIONS;
  const handleError = createErrorHandler(log);
  function refuseEarly(error: Error, request: FastifyRequest, reply: FastifyReply): FastifyReply {
    return handleError(error, request, reply.headers(SECURITY_HEADERS));
  }

  const tokens = createAccessTokens({ records, clock, random });
  const whoAsks = createWhoAsks({
    tokens,
    requiresToken: options.requiresToken,
    failedTries: createRateLimits(clock, FAILED_TRIES),
  });
  app.decorateRequest('caller');
  app.decorateRequest('idempotent', null);
  app.decorateReply('resourceVersion', null);
  app.setSerializerCompiler(serializerCompiler);
  app.setValidatorCompiler(({ schema, httpPart }) => checkPart(schema as z.ZodType, httpPart));
  app.setErrorHandler(handleError);
  const routes = noteRoutes(app);
  app.setNotFoundHandler((request, reply) => {
    const path = withoutQuery(request.url);
    const allowed = routes.methodsOf(path);
    if (allowed.length === 0 || allowed.includes(request.method)) throw sumiError('route-unknown', { path });
    reply.header('allow', allowed.join(', '));
    throw sumiError('method-refused', { path, method: request.method, allowed: allowed.join(', ') });
  });
  readBodiesOf(app);
  guard(app, deps, whoAsks);
  rememberAnswers(app, deps);
  dropExpired(app, deps);
  describeApi(app);
  app.register(async (api) => registerRoutes(api as unknown as ApiServer, deps, { tokens, whoAsks }));
  return app;
}

/** Before any route: where the request comes from, who makes it, how often, and what it may. */
function guard(app: ApiServer, { clock, options }: ApiDeps, whoAsks: WhoAsks): void {
  const checkOrigin = createOriginCheck(options);
  const burst = options.rateLimit * BURST_SECONDS;
  const rates = createRateLimits(clock, { perSecond: options.rateLimit, burst });

  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    // Somebody, before it is known who: the answer to a refusal asks for it as well.
    request.caller = anybody(addressOf(request.raw), 'none');
    const refused = checkOrigin(request.headers, request.method) ?? refusedParameter(request.url);
    if (refused !== null) throw refused;
    const scope = scopeOf(request);
    if (scope !== 'public') request.caller = await whoAsks(request.raw);
    const seconds = rates.take(request.caller.key);
    if (seconds > 0) throw sumiError('too-many-requests', { seconds });
    if (scope !== 'public' && !mayUse(request.caller, scope)) throw sumiError('scope-missing', { scope });
    const { id } = (request.params ?? {}) as { id?: string };
    if (request.routeOptions.url?.includes('/projects/:id') && id !== undefined)
      refuseUnseen(request.caller, id);
  });

  // The server no longer knows a connection that was to become a WebSocket: one that was refused would stay open.
  app.addHook('onResponse', async ({ headers, raw }) => {
    if (headers.upgrade !== undefined) raw.socket.destroy();
  });

  app.addHook('preValidation', async (request) => {
    const named = [
      ...Object.entries((request.query ?? {}) as object),
      ...Object.entries((request.params ?? {}) as object),
    ];
    const withNul = named.filter(([name, value]) => `${name}${value}`.includes('\0'));
    if (withNul.length > 0)
      throw invalidFields(
        withNul.map(([name]) => ({
          pointer: `/${name.replaceAll('\0', '')}`,
          detail: 'A text cannot hold the character NUL.',
        })),
      );
  });
}

/** What is at no route needs nobody's name: everybody may know which routes there are. */
function scopeOf(request: FastifyRequest): Scope | 'public' {
  if (request.is404) return 'public';
  const { scope } = request.routeOptions.config;
  return scope ?? (request.method === 'GET' || request.method === 'HEAD' ? 'read' : 'write');
}

function rememberAnswers(app: ApiServer, { records, clock, random }: ApiDeps): void {
  const idempotency = createIdempotency({ records, clock, random });
  app.addHook('preHandler', async (request, reply) => {
    if (await idempotency.begin(request, reply)) return reply;
  });
  app.addHook('onSend', async (request, reply, payload) => {
    const answer = tagAnswer(request, reply, payload);
    await idempotency.keep(request, reply, answer);
    return answer;
  });
}

const EXPIRED_EVERY_MS = 600_000;

/** Sessions, tokens and kept answers that are over; what was expired counts as absent long before. */
function dropExpired(app: ApiServer, { records, clock, log }: ApiDeps): void {
  const drop = () => {
    records.removeExpired().catch((error: unknown) => log(`records that expired stay: ${String(error)}`));
    cancel = clock.after(EXPIRED_EVERY_MS, drop);
  };
  let cancel = clock.after(EXPIRED_EVERY_MS, drop);
  app.addHook('onClose', async () => cancel());
}

/** A part of a request by its schema: every field that is wrong is named. */
function checkPart(schema: z.ZodType, part: string | undefined) {
  return (data: unknown) => {
    // A request without a body has null in its place.
    const read = schema.safeParse(part === 'body' ? (data ?? undefined) : data);
    if (read.success) return { value: read.data };
    // A part of the path that cannot be: nothing is there.
    if (part === 'params')
      return { error: sumiError('route-unknown', { path: JSON.stringify(data).slice(0, 200) }) };
    return { error: invalidFields(fieldsOfIssues(schema, read.error.issues)) };
  };
}
