/**
 * ETags of single resources: `"VERSION.HASH"`. The hash is of the whole representation, for If-None-Match. The version is that of
 * what can be changed by programs, for If-Match: figures that move while a project is crawled do not break a change.
 */
import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SumiError, sumiError } from '../errors.ts';
import { withoutQuery } from './problems.ts';

declare module 'fastify' {
  interface FastifyReply {
    /** Set by `markVersion`. */
    resourceVersion: string | null;
  }
}

/** What is answered has this version: a number that grows, or a time. */
export function markVersion(reply: FastifyReply, version: number | string): void {
  reply.resourceVersion = String(version);
}

/** As a hook before sending. The answer: what is to be sent. */
export function tagAnswer(request: FastifyRequest, reply: FastifyReply, payload: unknown): unknown {
  const isTagged = reply.resourceVersion !== null || request.routeOptions.config.hasTag === true;
  if (!isTagged || typeof payload !== 'string' || reply.statusCode < 200 || reply.statusCode > 299)
    return payload;
  const hash = createHash('sha256').update(payload).digest('base64url').slice(0, 22);
  const tag = `"${reply.resourceVersion ?? '0'}.${hash}"`;
  reply.header('etag', tag);
  const isRead = request.method === 'GET' || request.method === 'HEAD';
  const { 'if-none-match': known } = request.headers;
  if (!isRead || known === undefined || !matches(known, (one) => one === tag)) return payload;
  reply.code(304).removeHeader('content-type').removeHeader('content-length');
  return '';
}

/** True where the request is to change only what it has seen. */
function asksForVersion(request: FastifyRequest): boolean {
  return request.headers['if-match'] !== undefined;
}

/** Throws `precondition-failed` where If-Match names another version than this. */
export function checkVersion(request: FastifyRequest, version: number | string): void {
  const { 'if-match': wanted } = request.headers;
  if (wanted === undefined) return;
  if (!matches(wanted, (tag) => tag.slice(1).split('.', 1)[0] === String(version)))
    throw sumiError('precondition-failed', { path: withoutQuery(request.url), tag: `"${version}.…"` });
}

/** What the engine and the records say when somebody else was faster. */
const CHANGED: ReadonlySet<string> = new Set(['project-changed', 'record-changed']);

/**
 * Makes a change to what has this version now. The change gets the version to expect, undefined where the request has no
 * If-Match; when another one was faster the answer is 412.
 */
export async function changeVersion<Result>(
  request: FastifyRequest,
  version: number,
  change: (ifVersion: number | undefined) => Promise<Result>,
): Promise<Result> {
  checkVersion(request, version);
  const isAsked = asksForVersion(request);
  try {
    return await change(isAsked ? version : undefined);
  } catch (error) {
    if (isAsked && error instanceof SumiError && CHANGED.has(error.code))
      throw sumiError(
        'precondition-failed',
        { path: withoutQuery(request.url), tag: `"${version}.…"` },
        error,
      );
    throw error;
  }
}

/** `*` is any; weak tags are compared as strong ones. */
function matches(header: string, isIt: (tag: string) => boolean): boolean {
  if (header.trim() === '*') return true;
  return [...header.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, tag]) => isIt(tag));
}
