/**
 * What every route file gets: the answers, and what the service was started with. A route file exports `registerXRoutes(app,
 * deps)`; its paths are relative to /api/v1 (`/projects/:id/pages`), and register-routes.ts calls it.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { Answering } from '../answers/answering.ts';
import type { EgressGuard } from '../fetch/egress.ts';
import type { Clock } from '../primitives/clock.ts';
import type { Caller } from './caller.ts';

/** A fastify whose routes take their types from their zod schemas. */
export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export interface ServiceOptions {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** Names beside the own ones under which the service may be called, as NAME or NAME:PORT. */
  allowedHosts: readonly string[];
  /** Tokens are needed even where only this machine reaches the service. */
  requiresToken: boolean;
  maxPagesLimit: number;
  /** The operator lets projects set respect_robots_txt to false. */
  allowsIgnoringRobots: boolean;
  keyFile: string;
  /** Requests a second of one token or address; 0: no limit. */
  rateLimit: number;
  maxRunning: number;
  concurrency: number;
}

/** Tools for agents over HTTP (src/mcp): who asks has been found out, and the body has been read. */
export interface McpDoor {
  answer(request: Request, asked: { caller: Caller; body: unknown }): Promise<Response>;
  close(): Promise<void>;
}

export interface ApiDeps extends Answering {
  /** Null or absent: no /mcp. */
  readonly mcp?: McpDoor | null;
  readonly clock: Clock;
  /** Unpredictable bytes, for tokens and ids. */
  readonly random: (bytes: number) => Buffer;
  readonly options: ServiceOptions;
  readonly egress: EgressGuard;
  /** For the operator: defects, and what was refused. Never a token, a cookie or a body. */
  readonly log: (line: string) => void;
}
