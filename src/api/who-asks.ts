/**
 * Finds out who makes a request: a token, a session of a browser, or anybody where the service needs no token. Failed tries
 * are counted by address, so that secrets cannot be tried out. Never logs or answers a secret.
 */
import type { IncomingMessage } from 'node:http';
import type { AccessTokens, Token } from '../answers/access-tokens.ts';
import { type SumiError, sumiError } from '../errors.ts';
import type { Caller } from './caller.ts';
import type { RateLimits } from './rate-limits.ts';

export const SESSION_COOKIE = 'sumi_session';

export interface WhoAsksParts {
  tokens: AccessTokens;
  /** Even this machine needs a token. */
  requiresToken: boolean;
  failedTries: RateLimits;
}

/** Throws where a token is needed and missing, or is none. The raw request: WebSocket upgrades are asked too. */
export type WhoAsks = (request: IncomingMessage) => Promise<Caller>;

/** Who it is where a request says nothing and does not have to. */
export function anybody(address: string, kind: 'open' | 'none'): Caller {
  return {
    ...{ kind, key: `address ${address}`, tokenId: null, name: null },
    scopes: kind === 'open' ? ['admin'] : [],
    projects: null,
    expiresAt: null,
  };
}

function callerOf(token: Token, kind: 'token' | 'session'): Caller {
  return {
    ...{ kind, key: `token ${token.id}`, tokenId: token.id, name: token.name },
    ...{ scopes: token.scopes, projects: token.projects, expiresAt: token.expiresAt },
  };
}

export function createWhoAsks({ tokens, requiresToken, failedTries }: WhoAsksParts): WhoAsks {
  return async (request) => {
    const address = addressOf(request);
    const { authorization, cookie } = request.headers;
    if (authorization === undefined) {
      const sessionSecret = sessionOf(cookie);
      const session = sessionSecret === null ? null : await tokens.findSession(sessionSecret);
      if (session !== null) return { ...callerOf(session.token, 'session'), expiresAt: session.expiresAt };
      if (!requiresToken && !(await tokens.areNeeded())) return anybody(address, 'open');
      throw sumiError(sessionSecret === null ? 'token-missing' : 'token-refused');
    }
    const secret = /^Bearer +([\w.~+/=-]{1,200})$/i.exec(authorization)?.[1];
    const token = secret === undefined ? null : await tokens.find(secret);
    if (token !== null) return callerOf(token, 'token');
    throw refuseTry(failedTries, address);
  };
}

/** Behind a proxy many share an address: whoever has a token gets in, however often others fail. */
export function refuseTry(failedTries: RateLimits, address: string): SumiError {
  const seconds = failedTries.take(address);
  return seconds > 0 ? sumiError('too-many-requests', { seconds }) : sumiError('token-refused');
}

export function addressOf(request: IncomingMessage): string {
  return request.socket.remoteAddress ?? 'unknown';
}

export function sessionOf(cookie: string | undefined): string | null {
  const found = /(?:^|;\s*)sumi_session=([\w-]{20,100})(?:;|$)/.exec(cookie ?? '');
  return found?.[1] ?? null;
}

const TOKEN_PARAMETERS = ['token', 'access_token', 'api_key', 'apikey', 'bearer', 'session'];

/** A secret in an address ends up in logs. */
export function refusedParameter(url: string): SumiError | null {
  const cut = url.indexOf('?');
  if (cut === -1) return null;
  for (const name of new URLSearchParams(url.slice(cut + 1)).keys())
    if (TOKEN_PARAMETERS.includes(name.toLowerCase())) return sumiError('token-in-url', { name });
  return null;
}
