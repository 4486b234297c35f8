/**
 * /mcp: tools for agents over HTTP. The frame has found out who asks and read the body; what the protocol answers goes out as
 * it is, streams too. Outside of /api/v1, because clients of the protocol expect the plain path.
 */
import { Readable } from 'node:stream';
import type { ReadableStream } from 'node:stream/web';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ApiDeps, ApiServer, McpDoor } from '../api-deps.ts';
import { invalidFields } from '../problems.ts';

/** Messages in one request: each is worked on, but the request counts once. */
const MOST_AT_ONCE = 20;

export function registerMcpRoute(app: ApiServer, { mcp }: ApiDeps): void {
  if (mcp === undefined || mcp === null) return;
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    // Which tools need more is decided by each tool.
    config: { scope: 'read', ignoresIdempotency: true },
    schema: { hide: true },
    handler: (request, reply) => answer(mcp, request, reply),
  });
  app.addHook('preClose', () => mcp.close());
}

async function answer(mcp: McpDoor, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  if (Array.isArray(request.body) && request.body.length > MOST_AT_ONCE)
    throw invalidFields([
      { pointer: '', detail: `Expected at most ${MOST_AT_ONCE} messages in one request.` },
    ]);
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort();
  });
  const response = await mcp.answer(toWebRequest(request, gone.signal), {
    caller: request.caller,
    body: request.body,
  });
  reply.code(response.status);
  response.headers.forEach((value, name) => {
    reply.header(name, value);
  });
  if (response.body === null) return reply.send();
  return reply.send(Readable.fromWeb(response.body as ReadableStream));
}

/** Its body goes beside it; the secrets of its headers are nobody's business any more. */
function toWebRequest({ headers, method, host, url }: FastifyRequest, signal: AbortSignal): Request {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers))
    if (!SECRETS.has(name) && value !== undefined)
      kept.set(name, Array.isArray(value) ? value.join(', ') : value);
  return new Request(`http://${host}${url}`, { method, headers: kept, signal });
}

const SECRETS: ReadonlySet<string> = new Set([
  'authorization',
  'cookie',
  'content-length',
  'transfer-encoding',
]);
