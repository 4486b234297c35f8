/** Tokens: only for callers of the scope admin who see every project. The secret is answered once, when a token is made. */
import { z } from 'zod';
import type { AccessTokens, Token } from '../../answers/access-tokens.ts';
import { findProject } from '../../answers/find-project.ts';
import { createdToken, newToken, token } from '../../contract/access.ts';
import { listParams, listSchema } from '../../contract/lists.ts';
import { sumiError } from '../../errors.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import type { Caller } from '../caller.ts';
import { invalidFields } from '../problems.ts';

const TAGS = ['Tokens'];
const config = { scope: 'admin' } as const;

export function registerTokenRoutes(app: ApiServer, deps: ApiDeps, tokens: AccessTokens): void {
  app.get(
    '/tokens',
    {
      config,
      schema: {
        ...{ tags: TAGS, operationId: 'listTokens', summary: 'List tokens, oldest first' },
        querystring: z.strictObject(listParams),
        response: { 200: listSchema(token) },
      },
    },
    async ({ caller, query }) => {
      refuseLimited(caller);
      const all = await tokens.list();
      return {
        ...windowOf(all, query),
        ...(query.count === true && { total: all.length, total_is_exact: true }),
      };
    },
  );

  app.post(
    '/tokens',
    {
      config,
      schema: {
        ...{
          tags: TAGS,
          operationId: 'createToken',
          summary: 'Make a token; from then on everybody needs one',
        },
        body: newToken,
        response: { 201: createdToken },
      },
    },
    async ({ body, caller }, reply) => {
      refuseLimited(caller);
      const projects = body.projects ?? null;
      for (const id of projects ?? []) await findProject(deps, id);
      const expiresAt = typeof body.expires_at === 'string' ? Date.parse(body.expires_at) : null;
      if (expiresAt !== null && expiresAt <= deps.clock.now())
        throw invalidFields([{ pointer: '/expires_at', detail: 'Expected a time that is to come.' }]);
      const made = await tokens.create({
        ...{ name: body.name, scopes: body.scopes ?? ['read'], expiresAt },
        projects: projects?.map((id) => id.toLowerCase()) ?? null,
      });
      reply.code(201).header('location', `/api/v1/tokens/${made.token.id}`);
      return { ...wireToken(made.token), token: made.secret };
    },
  );

  app.delete(
    '/tokens/:tokenId',
    {
      config,
      schema: {
        ...{ tags: TAGS, operationId: 'revokeToken', summary: 'Revoke a token; its sessions end with it' },
        params: z.strictObject({ tokenId: z.string() }),
        response: { 204: z.null() },
      },
    },
    async ({ params, caller }, reply) => {
      refuseLimited(caller);
      await tokens.revoke(params.tokenId);
      return reply.code(204).send(null);
    },
  );
}

/** A token of some projects could make itself one of all. */
function refuseLimited({ projects }: Caller): void {
  if (projects !== null) throw sumiError('projects-only');
}

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

export function wireToken({ id, name, scopes, projects, createdAt, expiresAt, lastUsedAt }: Token) {
  return {
    ...{ id, name, scopes: [...scopes], projects: projects && [...projects] },
    ...{
      created_at: new Date(createdAt).toISOString(),
      expires_at: iso(expiresAt),
      last_used_at: iso(lastUsedAt),
    },
  };
}

/** A cursor is the token before, or after, the page of results: one that was revoked meanwhile begins anew. */
function windowOf(all: readonly Token[], { limit = 50, cursor }: { limit?: number; cursor?: string }) {
  const found = /^(after|before)-([0-9a-f-]{36})$/.exec(cursor ?? '');
  if (cursor !== undefined && found === null)
    throw sumiError('cursor-unreadable', {
      cursor: cursor.slice(0, 40),
      errors: [{ pointer: '/cursor', detail: 'Expected a cursor of this list.' }],
    });
  const at = all.findIndex(({ id }) => id === found?.[2]);
  const begin = found === null ? 0 : found[1] === 'after' ? at + 1 : Math.max(0, at - limit);
  const end = found?.[1] === 'before' ? Math.max(0, at) : begin + limit;
  const some = all.slice(begin, end);
  return {
    items: some.map(wireToken),
    next_cursor: end < all.length && some.length > 0 ? `after-${some.at(-1)!.id}` : null,
    prev_cursor: begin > 0 && some.length > 0 ? `before-${some[0].id}` : null,
  };
}
