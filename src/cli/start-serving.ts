/**
 * Starts the service of a configuration and ends it again: the port first, then what answers, then the server. Ending accepts
 * nobody new, closes the live connections, then the engine, whose runs go on at the next start. Knows no terminal.
 */
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { createServer as createTcpServer, isIP, type Server, type Socket } from 'node:net';
import type { ServiceOptions } from '../api/api-deps.ts';
import { createServer } from '../api/create-server.ts';
import { isLoopback } from '../api/host-rules.ts';
import type { Config } from '../config/load-config.ts';
import { resolvedNames } from '../config/resolve-rules.ts';
import { sumiError } from '../errors.ts';
import { createEgressGuard } from '../fetch/egress.ts';
import { createMcpHttp } from '../mcp/create-mcp-http.ts';
import { systemClock } from '../primitives/clock.ts';
import { isSharedStore } from '../primitives/store-address.ts';
import { keyFileOf, type OpenAnswering, openAnswering } from './open-answering.ts';
import { storeFlag } from './store-flag.ts';
import { openTokens } from './token.ts';

const LAST_ANSWERS_MS = 1_000;

export interface ServingPlace {
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** For the operator. */
  log: (line: string) => void;
}

export interface Serving {
  url: string;
  answering: OpenAnswering;
  /** Resolves when the engine is gone: null after `close`, else why it ended. */
  ended: Promise<Error | null>;
  close(): Promise<void>;
}

export async function startServing(config: Config, { host, port, log }: ServingPlace): Promise<Serving> {
  if (!isLoopback(host)) await refuseWithoutToken(config, host);
  // The port is taken before anything is opened, and known to the engine before it connects anywhere.
  const place = await listen(host, port);
  // Who comes before everything is open waits.
  const early: Socket[] = [];
  place.on('connection', (socket) => early.push(socket));
  const ownPort = (place.address() as { port: number }).port;
  const onReport = (error: Error) => log(error.stack ?? error.message);
  const answering = await openAnswering(config, { ownPort, onReport }).catch((error: unknown) => {
    place.close();
    throw error;
  });
  const egress = createEgressGuard({ allow: config.egressAllow, ownPort, resolve: resolvedNames(config) });
  const options = serviceOptions(config, host, ownPort);
  const mcp = createMcpHttp({ ...answering, clock: systemClock, egress, limits: options, log });
  const app = createServer({
    ...answering,
    mcp,
    clock: systemClock,
    random: randomBytes,
    options,
    egress,
    log,
  });
  // Those that became WebSockets are no longer known to the server.
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await app.ready();
  app.server.listen(place);
  for (const socket of early) app.server.emit('connection', socket);
  return {
    url: `http://${isIP(host) === 6 ? `[${host}]` : host}:${ownPort}`,
    answering,
    ended: answering.ended,
    async close() {
      const closed = new Promise<void>((resolve) => app.server.close(() => resolve()));
      app.server.closeIdleConnections();
      // It waits for every answer, and for clients that keep their connection after it.
      const answered = Promise.all([app.close(), closed]);
      await Promise.race([answered, patience()]);
      for (const socket of sockets) socket.destroy();
      await answered;
      await answering.close();
    },
  };
}

/** For answers that are on their way. */
function patience(): Promise<void> {
  return new Promise((resolve) => void systemClock.after(LAST_ANSWERS_MS, resolve));
}

function serviceOptions(config: Config, host: string, port: number): ServiceOptions {
  return {
    ...{ host, port, allowedHosts: config.allowedHost },
    requiresToken: config.requireToken || !isLoopback(host),
    ...{ maxPagesLimit: config.maxPagesLimit, allowsIgnoringRobots: !config.robots },
    ...{ keyFile: keyFileOf(config), rateLimit: config.apiRate },
    ...{ maxRunning: config.maxRunning, concurrency: config.concurrency },
  };
}

/** Other machines are served only with a token that works. */
async function refuseWithoutToken(config: Config, host: string): Promise<void> {
  const refusal = sumiError('serve-needs-token', { host, store: storeFlag(config).trim() });
  // Asking would make the records of a store that is not there.
  const { storeAddress } = config;
  const isThere =
    isSharedStore(storeAddress) || [storeAddress, `${storeAddress}.service`].some((path) => existsSync(path));
  if (!isThere) throw refusal;
  const { tokens, close } = await openTokens(config);
  try {
    if ((await tokens.list()).length === 0) throw refusal;
  } finally {
    await close();
  }
}

function listen(host: string, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createTcpServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      const reason = REASONS[error.code ?? ''] ?? error.message;
      reject(sumiError('serve-address', { address: `${host}:${port}`, reason }, error));
    });
    server.listen({ host, port, exclusive: true }, () => resolve(server));
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'another program uses the port',
  EADDRNOTAVAIL: 'this machine has no such address',
  EACCES: 'this user may not use the port',
  ENOTFOUND: 'there is no such name',
};
