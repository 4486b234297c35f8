/** Questions that end with the connection of whoever asked: nobody computes for a client that has left, or does not read. */
import type { ServerResponse } from 'node:http';
import type { FastifyReply } from 'fastify';
import { sumiError } from '../errors.ts';
import type { ApiDeps } from './api-deps.ts';
import { STALLED_MS } from './limits.ts';

/** `gone`: aborted when the connection is closed before all was answered. Long questions are asked for the caller. */
export function untilGone(deps: ApiDeps, reply: FastifyReply): ApiDeps & { gone: AbortSignal } {
  const { key } = reply.request.caller;
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(sumiError('answer-unwanted'));
  });
  dropStalled(reply.raw, STALLED_MS);
  return {
    ...deps,
    side: deps.side.until(gone.signal),
    askProject: (project, question, signal) => deps.askProject(project, question, signal, key),
    gone: gone.signal,
  };
}

/** Whoever takes nothing for so long is cut off: what its answer holds is for others. An answer may take as long to be made. */
export function dropStalled(response: ServerResponse, stalledMs: number): void {
  response.setTimeout(stalledMs, () => {
    if (response.writableLength > 0) response.destroy();
  });
}
