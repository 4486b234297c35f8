// The fake web: a loopback server for tests with a seeded site behind it, single pages in front of it and misbehaviours
// by name. It promises that what a test did not ask for is a plain 404, that robots.txt is missing unless given, and
// that its log is the judge: which requests came, when, on which host. Never the public network.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type LoggedRequest, respondFromGraph, serveSite } from '../../src/demo/serve-site.ts';
import { createSiteGraph, type SiteGraph, type SiteGraphOptions } from '../../src/demo/site-graph.ts';
import { type Clock, systemClock } from '../../src/primitives/clock.ts';

/** One request on its way to an answer, with what a handler may want to know about it. */
export interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  /** Path without the query. */
  path: string;
  query: URLSearchParams;
  host: number;
  /** 1 for the first request to this path of this host, then 2, … */
  nth: number;
  clock: Clock;
  port: number;
  url(path: string, host?: number): string;
}

export type Handler = (exchange: Exchange) => void;

export interface FixedAnswer {
  status?: number;
  headers?: Record<string, string | string[]>;
  body?: string | Uint8Array;
}

/** A handler, an answer, or the HTML of a page. */
type FakePage = Handler | FixedAnswer | string;

export interface FakeWebOptions {
  graph?: SiteGraph | SiteGraphOptions;
  /** By path; a path that ends in `*` takes everything below it. `1:/a` is the page of host 1 only. */
  pages?: Record<string, FakePage>;
  /** The text of robots.txt on every host, or its handler (404). */
  robots?: string | Handler;
  /** Hosts at 127.0.0.1, 127.0.0.2, … (the graph's number, else 1). */
  hosts?: number;
  port?: number;
  clock?: Clock;
}

export interface FakeWeb {
  origin: string;
  origins: readonly string[];
  port: number;
  graph: SiteGraph | undefined;
  log: LoggedRequest[];
  url(path: string, host?: number): string;
  requestsTo(path: string, host?: number): LoggedRequest[];
  /** Milliseconds between the arrivals of one request and the next, robots.txt included. */
  gapsMs(host?: number): number[];
  /** Resolves as soon as the path was asked so many times. */
  asked(path: string, times?: number): Promise<void>;
  close(): Promise<void>;
}

const HTML = 'text/html; charset=utf-8';

/** Sends a whole answer; HTML unless the headers say otherwise. */
export function answer({ request, response }: Exchange, page: FixedAnswer): void {
  const body = Buffer.from(page.body ?? '');
  const names = new Set(Object.keys(page.headers ?? {}).map((name) => name.toLowerCase()));
  const headers: Record<string, string | string[]> = { ...page.headers };
  if (!names.has('content-type')) headers['content-type'] = HTML;
  if (!names.has('content-length') && !names.has('transfer-encoding'))
    headers['content-length'] = `${body.length}`;
  response.writeHead(page.status ?? 200, headers);
  if (request.method === 'HEAD') response.end();
  else response.end(body);
}

const toHandler = (page: FakePage): Handler => {
  if (typeof page === 'function') return page;
  if (typeof page === 'string') return (exchange) => answer(exchange, { body: page });
  return (exchange) => answer(exchange, page);
};

const toRobots = (robots: string | Handler): Handler =>
  typeof robots === 'function'
    ? robots
    : (exchange) => answer(exchange, { headers: { 'content-type': 'text/plain' }, body: robots });

/** Exact paths first, then the longest prefix; a page of one host before a page of all. */
function createRoutes(options: FakeWebOptions): (host: number, path: string) => Handler | undefined {
  const routes = new Map(Object.entries(options.pages ?? {}).map(([key, page]) => [key, toHandler(page)]));
  if (options.robots !== undefined && !routes.has('/robots.txt')) {
    routes.set('/robots.txt', toRobots(options.robots));
  }
  const prefixes = [...routes.keys()]
    .filter((key) => key.endsWith('*'))
    .map((key) => key.slice(0, -1))
    .sort((a, b) => b.length - a.length);
  return (host, path) => {
    const exact = routes.get(`${host}:${path}`) ?? routes.get(path);
    if (exact !== undefined) return exact;
    const own = `${host}:${path}`;
    const prefix =
      prefixes.find((start) => own.startsWith(start)) ?? prefixes.find((start) => path.startsWith(start));
    return prefix === undefined ? undefined : routes.get(`${prefix}*`);
  };
}

/** Counts requests per path, and tells those who wait for a number of them. */
function createTally() {
  const perHost = new Map<string, number>();
  const perPath = new Map<string, number>();
  let waiting: { path: string; times: number; resolve: () => void }[] = [];
  const count = (map: Map<string, number>, key: string) => {
    const next = (map.get(key) ?? 0) + 1;
    map.set(key, next);
    return next;
  };
  return {
    enter(host: number, path: string): number {
      const total = count(perPath, path);
      const isReached = (entry: { path: string; times: number }) =>
        entry.path === path && total >= entry.times;
      for (const entry of waiting.filter(isReached)) entry.resolve();
      waiting = waiting.filter((entry) => !isReached(entry));
      return count(perHost, `${host}:${path}`);
    },
    reached: (path: string, times: number): Promise<void> =>
      new Promise((resolve) => {
        if ((perPath.get(path) ?? 0) >= times) resolve();
        else waiting.push({ path, times, resolve });
      }),
  };
}

const isGraph = (graph: SiteGraph | SiteGraphOptions): graph is SiteGraph => 'render' in graph;

export async function startFakeWeb(options: FakeWebOptions = {}): Promise<FakeWeb> {
  const given = options.graph;
  const graph = given === undefined || isGraph(given) ? given : createSiteGraph(given);
  const clock = options.clock ?? systemClock;
  const routeOf = createRoutes(options);
  const tally = createTally();
  const site = await serveSite({
    hosts: options.hosts ?? graph?.hosts ?? 1,
    port: options.port,
    respond: ({ origins, port }) => {
      const url = (path: string, host = 0) => origins[host] + path;
      const fromGraph = graph === undefined ? undefined : respondFromGraph(graph)({ origins, port });
      return (request, response, entry) => {
        const [path, search = ''] = entry.path.split('?', 2);
        const { host } = entry;
        const query = new URLSearchParams(search);
        const nth = tally.enter(host, path);
        const exchange: Exchange = { request, response, path, query, host, nth, clock, port, url };
        const handler = routeOf(host, path);
        if (handler !== undefined) handler(exchange);
        else if (fromGraph !== undefined) fromGraph(request, response, entry);
        else answer(exchange, { status: 404, body: '<title>Not found</title>' });
      };
    },
  });
  const isAt = (host: number | undefined) => (entry: LoggedRequest) =>
    host === undefined || entry.host === host;
  return {
    origin: site.origins[0],
    origins: site.origins,
    port: site.port,
    graph,
    log: site.log,
    url: site.url,
    requestsTo: (path, host) => site.log.filter((entry) => entry.path === path).filter(isAt(host)),
    gapsMs: (host = 0) => {
      const times = site.log.filter(isAt(host)).map((entry) => entry.atMs);
      return times.slice(1).map((atMs, n) => atMs - times[n]);
    },
    asked: (path, times = 1) => tally.reached(path, times),
    close: site.close,
  };
}
