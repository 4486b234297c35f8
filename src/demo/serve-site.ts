// A loopback web server with a diary: it answers with what `respond` gives (a site graph's pages unless said) and
// writes down when each request arrived. Promises: it listens on 127.x.y.z addresses only, one host an address, all on
// one port; the log's times are monotonic and taken when the head of the request was there. Never: the outside world.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SiteGraph } from './site-graph.ts';

/** One request as the server saw it. */
export interface LoggedRequest {
  /** Monotonic milliseconds when the request line and the headers had arrived. */
  atMs: number;
  /** Monotonic milliseconds when the answer was out or the connection gone; undefined while it is open. */
  endedMs: number | undefined;
  /** Which of the site's addresses was asked, counted from 0. */
  host: number;
  localAddress: string;
  remotePort: number;
  method: string;
  /** Path with its query, as it stood in the request line. */
  path: string;
  /** 0 when no head was sent through the HTTP layer. */
  status: number;
  userAgent: string;
  headers: Readonly<Record<string, string | string[] | undefined>>;
}

type Respond = (request: IncomingMessage, response: ServerResponse, entry: LoggedRequest) => void;

export interface Site {
  port: number;
  origins: readonly string[];
  url(path: string, host?: number): string;
  /** In order of arrival; empty when the site keeps no log. */
  log: LoggedRequest[];
  close(): Promise<void>;
}

export interface ServeOptions {
  respond: (site: Pick<Site, 'origins' | 'port'>) => Respond;
  /** How many hosts, at 127.0.0.1, 127.0.0.2, … (1). */
  hosts?: number;
  /** 0, the default, takes a free one. */
  port?: number;
  /** Off for the longest runs, where the log would be the memory (true). */
  keepLog?: boolean;
}

/** Address of a host: 250 to the last number, so that no broadcast-like address is used. */
const loopbackAddress = (host: number): string => `127.0.${Math.floor(host / 250)}.${(host % 250) + 1}`;

/** Answers for a graph: pages with validators, 304 when they match, 404 for the rest. */
export function respondFromGraph(graph: SiteGraph): ServeOptions['respond'] {
  return ({ origins }) =>
    (request, response, entry) => {
      const index = graph.indexOf(entry.host % graph.hosts, entry.path);
      if (index < 0) {
        response.writeHead(404, { 'content-type': 'text/html; charset=utf-8' });
        response.end('<!DOCTYPE html><title>Not found</title><h1>Not found</h1>');
        return;
      }
      const etag = graph.etagOf(index);
      const validators = { etag, 'last-modified': graph.lastModifiedOf(index) };
      if (request.headers['if-none-match'] === etag) {
        response.writeHead(304, validators).end();
        return;
      }
      const body = graph.render(index, origins);
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-length': body.length,
        ...validators,
      });
      if (request.method === 'HEAD') response.end();
      else response.end(body);
    };
}

export const serveGraph = (
  graph: SiteGraph,
  options: Omit<ServeOptions, 'respond' | 'hosts'> = {},
): Promise<Site> => serveSite({ ...options, hosts: graph.hosts, respond: respondFromGraph(graph) });

export async function serveSite(options: ServeOptions): Promise<Site> {
  const hosts = options.hosts ?? 1;
  const keepLog = options.keepLog ?? true;
  const log: LoggedRequest[] = [];
  let respond: Respond = (_request, response) => void response.destroy();

  const listen = (host: number, port: number): Promise<Server> =>
    new Promise((resolve, reject) => {
      const localAddress = loopbackAddress(host);
      const server = createServer({ keepAliveTimeout: 65_000 }, (request, response) => {
        const entry = enter(request, response, host, localAddress);
        if (keepLog) log.push(entry);
        respond(request, response, entry);
      });
      server.once('error', reject);
      server.listen({ port, host: localAddress, backlog: 4096 }, () => resolve(server));
    });

  const servers = await listenOnOnePort(listen, hosts, options.port ?? 0);
  const { port } = servers[0].address() as AddressInfo;
  const origins = servers.map((_, host) => `http://${loopbackAddress(host)}:${port}`);
  respond = options.respond({ origins, port });
  return {
    port,
    origins,
    log,
    url: (path, host = 0) => origins[host] + path,
    close: () => closeAll(servers),
  };
}

function enter(request: IncomingMessage, response: ServerResponse, host: number, localAddress: string) {
  const entry: LoggedRequest = {
    atMs: performance.now(),
    endedMs: undefined,
    host,
    localAddress,
    remotePort: request.socket.remotePort ?? 0,
    method: request.method ?? '',
    path: request.url ?? '',
    status: 0,
    userAgent: request.headers['user-agent'] ?? '',
    headers: request.headers,
  };
  response.once('close', () => {
    entry.endedMs = performance.now();
    if (response.headersSent) entry.status = response.statusCode;
  });
  return entry;
}

/** A port that is free at the first address may be taken at another: then the whole set moves to another port. */
async function listenOnOnePort(
  listen: (host: number, port: number) => Promise<Server>,
  hosts: number,
  wanted: number,
): Promise<Server[]> {
  for (let attempt = 1; ; attempt++) {
    const servers = [await listen(0, wanted)];
    const { port } = servers[0].address() as AddressInfo;
    try {
      for (let host = 1; host < hosts; host++) servers.push(await listen(host, port));
      return servers;
    } catch (error) {
      await closeAll(servers);
      const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
      if (!isTaken || wanted !== 0 || attempt === 20) throw error;
    }
  }
}

async function closeAll(servers: readonly Server[]): Promise<void> {
  await Promise.all(
    servers.map(
      (server) =>
        new Promise<void>((resolve, reject) => {
          server.close((error) => (error === undefined ? resolve() : reject(error)));
          server.closeAllConnections();
        }),
    ),
  );
}
