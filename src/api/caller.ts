/** Who makes a request, and what that allows. Every request has a caller before any route sees it. */
import { sumiError } from '../errors.ts';

export const SCOPES = ['read', 'write', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

export interface Caller {
  /** open: no token is needed on this service, which only programs of this machine can reach. */
  kind: 'open' | 'token' | 'session' | 'none';
  /** For limits and kept answers: the token, or the address where there is none. */
  key: string;
  tokenId: string | null;
  name: string | null;
  scopes: readonly Scope[];
  /** UUIDs; null: every project. */
  projects: readonly string[] | null;
  /** Wall milliseconds; null: never. */
  expiresAt: number | null;
}

/** admin includes write, write includes read. */
export function mayUse({ scopes }: Caller, scope: Scope): boolean {
  const needed = SCOPES.indexOf(scope);
  return scopes.some((given) => SCOPES.indexOf(given) >= needed);
}

export function maySee({ projects }: Caller, projectId: string): boolean {
  return projects === null || projects.includes(projectId.toLowerCase());
}

/** What a caller may not see does not exist for it. */
export function refuseUnseen(caller: Caller, projectId: string): void {
  if (!maySee(caller, projectId)) throw sumiError('project-unknown', { id: projectId });
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
  }
  interface FastifyContextConfig {
    /** Unless said: read for GET and HEAD, write for the rest. public: nobody has to say who asks. */
    scope?: Scope | 'public';
    /** Answers of GET carry an ETag. */
    hasTag?: true;
    /** A POST that is not made to be repeated: an Idempotency-Key changes nothing. */
    ignoresIdempotency?: true;
  }
}
