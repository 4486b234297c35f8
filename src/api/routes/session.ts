/** Sessions of browsers: a token is exchanged for a cookie that no script can read and no other site can use. */
import { z } from 'zod';
import type { AccessTokens } from '../../answers/access-tokens.ts';
import { session, signIn } from '../../contract/access.ts';
import type { ApiDeps, ApiServer } from '../api-deps.ts';
import type { Caller } from '../caller.ts';
import { createRateLimits } from '../rate-limits.ts';
import { addressOf, refuseTry, SESSION_COOKIE, sessionOf } from '../who-asks.ts';

const TAGS = ['Session'];
/** Of an address: ten tries at once, then one in six seconds. */
const TRIES = { perSecond: 1 / 6, burst: 10 };

export function registerSessionRoutes(app: ApiServer, { clock }: ApiDeps, tokens: AccessTokens): void {
  const tries = createRateLimits(clock, TRIES);

  app.get(
    '/session',
    {
      schema: {
        ...{ tags: TAGS, operationId: 'getSession', summary: 'Who makes the request, and what that allows' },
        response: { 200: session },
      },
    },
    async ({ caller }) => describeCaller(caller),
  );

  app.post(
    '/session',
    {
      config: { scope: 'public', ignoresIdempotency: true },
      schema: {
        ...{ tags: TAGS, operationId: 'signIn', summary: 'Exchange a token for a cookie' },
        security: [],
        body: signIn,
        response: { 201: session },
      },
    },
    async (request, reply) => {
      const made = await tokens.signIn(request.body.token);
      if (made === null) throw refuseTry(tries, addressOf(request.raw));
      const { token, expiresAt } = made.session;
      // Set behind a proxy that ends TLS; who lies about it only harms itself.
      const isSecure = request.protocol === 'https' || request.headers['x-forwarded-proto'] === 'https';
      const maxAge = Math.floor((expiresAt - clock.now()) / 1000);
      reply.header('set-cookie', cookie(made.sessionSecret, maxAge, isSecure)).code(201);
      return describeCaller({
        ...{ kind: 'session', key: '', tokenId: token.id, name: token.name },
        ...{ scopes: token.scopes, projects: token.projects, expiresAt },
      });
    },
  );

  app.delete(
    '/session',
    {
      config: { scope: 'read' },
      schema: {
        ...{ tags: TAGS, operationId: 'signOut', summary: 'End the session' },
        response: { 204: z.null() },
      },
    },
    async (request, reply) => {
      const secret = sessionOf(request.headers.cookie);
      if (secret !== null) await tokens.signOut(secret);
      return reply
        .header('set-cookie', cookie('', 0, false))
        .code(204)
        .send(null);
    },
  );
}

function cookie(value: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : '';
  return `${SESSION_COOKIE}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeSeconds}${secure}`;
}

function describeCaller({ kind, name, scopes, projects, expiresAt }: Caller): z.infer<typeof session> {
  return {
    signed_in: kind === 'session',
    kind: kind === 'none' ? 'open' : kind,
    name,
    scopes: [...scopes],
    projects: projects && [...projects],
    expires_at: expiresAt === null ? null : new Date(expiresAt).toISOString(),
  };
}
