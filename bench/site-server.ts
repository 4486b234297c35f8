// The synthetic site in a process of its own, so that the crawler's CPU is measured alone and a killed crawler does
// not take its judge along. Talks to start-site.ts over IPC; ends when its parent does.
import { respondFromGraph, type Site, serveSite } from '../src/demo/serve-site.ts';
import { createSiteGraph, type SiteGraphOptions } from '../src/demo/site-graph.ts';
import { earliestArrivals, startBeats } from '../test/faults/beats.ts';
import { createTerrainWeb, type TerrainWeb, type TerrainWebOptions } from './terrain-web.ts';

export type WebOptions = SiteGraphOptions | TerrainWebOptions;

/** What the parent gets of a request. */
export interface SeenRequest {
  atMs: number;
  /** The earliest moment at which it can have arrived: a busy server sees requests late. */
  earliestMs: number;
  host: number;
  method: string;
  path: string;
  status: number;
}

export type Order =
  | { id: number; kind: 'serve'; web: WebOptions; keepLog: boolean; latencyMs: number }
  | { id: number; kind: 'reached'; requests: number }
  | { id: number; kind: 'mark' }
  | { id: number; kind: 'log' }
  | { id: number; kind: 'forget' };

const beats = startBeats();
let site: Site | undefined;
let waiting: { id: number; requests: number }[] = [];

const reply = (id: number, value: unknown) => process.send!({ id, value });

/** Looked at a few times a millisecond at most: the log has no call-back, and a kill needs no finer moment. */
function tellWaiting() {
  const length = site!.log.length;
  for (const { id } of waiting.filter(({ requests }) => length >= requests)) reply(id, length);
  waiting = waiting.filter(({ requests }) => length < requests);
  if (waiting.length > 0) setTimeout(tellWaiting, 1);
}

function createWeb(web: WebOptions): Pick<TerrainWeb, 'hosts' | 'respond'> {
  if ('quality' in web) return createTerrainWeb(web);
  const graph = createSiteGraph(web);
  return { hosts: graph.hosts, respond: respondFromGraph(graph) };
}

/** Every answer comes so much later, as from a distant server. */
function serve({ web, keepLog, latencyMs }: Extract<Order, { kind: 'serve' }>): Promise<Site> {
  const made = createWeb(web);
  return serveSite({
    keepLog,
    hosts: made.hosts,
    respond(at) {
      const respond = made.respond(at);
      if (latencyMs === 0) return respond;
      return (...exchange) => void setTimeout(() => respond(...exchange), latencyMs);
    },
  });
}

async function obey(order: Order): Promise<void> {
  if (order.kind === 'serve') {
    site = await serve(order);
    reply(order.id, { port: site.port, origins: site.origins });
  } else if (order.kind === 'reached') {
    waiting.push({ id: order.id, requests: order.requests });
    tellWaiting();
  } else if (order.kind === 'mark') {
    // Two turns of the loop: what a killed crawler had written is read from the sockets first.
    setImmediate(() => setImmediate(() => reply(order.id, site!.log.length)));
  } else if (order.kind === 'log') {
    const arrivals = earliestArrivals(site!.log, beats);
    const seen: SeenRequest[] = site!.log.map(({ atMs, host, method, path, status }, i) => ({
      atMs,
      earliestMs: arrivals[i],
      host,
      method,
      path,
      status,
    }));
    reply(order.id, seen);
  } else {
    site!.log.length = 0;
    waiting = [];
    reply(order.id, null);
  }
}

process.on('message', (order: Order) => void obey(order));
process.once('disconnect', () => process.exit(0));
