/**
 * The origins of recent requests (scheme, name, port): the connections of each, the route to it (direct, through a
 * proxy in absolute form, through a tunnel), and the fields of every request. An origin that was forgotten is opened
 * again with its next request. Never decides whether or when a request may be sent.
 */
import { isIP } from 'node:net';
import {
  type Attempts,
  type Connector,
  createCachedLookup,
  createDial,
  createJudgedAuthority,
  type Dial,
  namedAuthority,
  withConnectTimeout,
} from './connect.ts';
import { ConnectionReuse } from './connection-reuse.ts';
import { acceptEncoding } from './decode-body.ts';
import type { FetcherOptions } from './fetcher-options.ts';
import { Http1Client, type Http1Settings, headerLines } from './http1-client.ts';
import { createHttp1HeadReader } from './http1-head.ts';
import { createHttp2Client } from './http2-client.ts';
import { type OriginClient, OriginClients } from './origin-clients.ts';
import { createProxyChoice, dialProxy, dialTunnel, type HttpProxy } from './proxy.ts';

export interface Origin {
  clients: OriginClients;
  /** Put before the path in the request line: the origin, if a proxy is asked in absolute form. */
  pathPrefix: string;
  hostname: string;
}

/** Without the brackets of an IPv6 address. */
const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, '');

const DEFAULT_ACCEPT = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const READ_BUFFER_BYTES = 64 * 1024;

export function createOriginTable(open: (url: URL) => Origin) {
  const origins = new Map<string, Origin>();
  const keysByHost = new Map<string, Set<string>>();

  function forget(key: string, { clients, hostname }: Origin): void {
    origins.delete(key);
    const keys = keysByHost.get(hostname);
    keys?.delete(key);
    if (keys?.size === 0) keysByHost.delete(hostname);
    clients.forget();
  }

  return {
    known: (key: string) => origins.get(key),
    of(url: URL): Origin {
      const key = url.origin;
      const known = origins.get(key);
      if (known !== undefined) return known;
      const origin = open(url);
      origins.set(key, origin);
      const keys = keysByHost.get(url.hostname);
      if (keys === undefined) keysByHost.set(url.hostname, new Set([key]));
      else keys.add(key);
      return origin;
    },
    forgetHost(hostname: string): void {
      for (const key of keysByHost.get(hostname) ?? []) forget(key, origins.get(key)!);
    },
    /** Forgets origins that have been idle since before `beforeMs` of the coarse clock. */
    forgetIdle(beforeMs: number): void {
      for (const [key, origin] of origins) {
        if (origin.clients.isIdle && origin.clients.usedMs < beforeMs) forget(key, origin);
      }
    },
    destroy(): void {
      for (const { clients } of origins.values()) clients.destroy();
      origins.clear();
      keysByHost.clear();
    },
  };
}

/** Makes the clients of an origin: direct, through a proxy in absolute form (http), or through its tunnel (https). */
export function createOriginOpener(options: FetcherOptions, attempts: Attempts): (url: URL) => Origin {
  const { clock, connectTimeoutMs } = options;
  const proxyFor = createProxyChoice(options.proxy);
  const { egress, resolve, ca } = options;
  const lookup = createCachedLookup(clock, egress?.lookup);
  // Proxies are the operator's: they are connected to without the guard.
  const dial = createDial({ resolve, ca, lookup });
  const judged = egress === undefined ? dial : createDial({ resolve, ca, lookup, egress });
  const findAuthority =
    egress === undefined ? namedAuthority : createJudgedAuthority({ resolve, lookup, egress });
  const headers = ['user-agent', options.userAgent, 'accept', options.accept ?? DEFAULT_ACCEPT];
  if (options.acceptLanguage) headers.push('accept-language', options.acceptLanguage);
  headers.push('accept-encoding', options.compress ? acceptEncoding : 'identity');

  // Shared by all clients of one route, with TLS sessions and DNS answers.
  const limited = (road: Dial) => withConnectTimeout(road, connectTimeoutMs, clock, attempts);
  const direct = limited(judged);
  const roads = new Map<HttpProxy, { absolute: Connector; tunnel: Connector }>();
  function roadsOf(proxy: HttpProxy) {
    let road = roads.get(proxy);
    if (road === undefined) {
      road = {
        absolute: limited(dialProxy(dial, proxy, findAuthority)),
        tunnel: limited(dialTunnel(dial, proxy, findAuthority)),
      };
      roads.set(proxy, road);
    }
    return road;
  }

  const { keepsFields = false } = options;
  const heads = createHttp1HeadReader(keepsFields);
  const readBuffer = Buffer.allocUnsafeSlow(READ_BUFFER_BYTES);
  function makeHttp1Clients(
    url: URL,
    connect: Connector,
    own: string[],
    reuse: ConnectionReuse,
  ): () => OriginClient {
    const { keepAlive } = options;
    const { protocol, host, port } = url;
    const settings: Http1Settings = {
      connect,
      target: { protocol, host, port, hostname: hostOf(url) },
      headerLines: headerLines(['host', host, 'connection', keepAlive ? 'keep-alive' : 'close', ...own]),
      keepAlive,
      clock,
      heads,
      reuse,
      readBuffer,
    };
    return () => new Http1Client(settings);
  }

  return (url) => {
    const proxy = proxyFor(url);
    // A proxy makes the Host field of what it is asked for: with the judged address in the place of a name, the site
    // would not know which host is meant. A tunnel leaves the field alone.
    const mayNameHost = egress === undefined || (isIP(hostOf(url)) !== 0 && !resolve.has(hostOf(url)));
    const isAbsolute = proxy !== null && url.protocol === 'http:' && mayNameHost;
    const connect = proxy === null ? direct : isAbsolute ? roadsOf(proxy).absolute : roadsOf(proxy).tunnel;
    const authorization = isAbsolute ? proxy.authorization : null;
    const own = [...headers, ...(options.originHeaders?.get(url.origin) ?? [])];
    if (authorization !== null) own.push('proxy-authorization', authorization);
    const { keepAlive } = options;
    const reuse = new ConnectionReuse();
    const http2Settings = { origin: url.origin, connect, headers: own, keepAlive, keepsFields, clock, reuse };
    // HTTP/2 is negotiated by TLS; without TLS it is always HTTP/1.1.
    const makeClient =
      options.http2 && url.protocol === 'https:'
        ? () => createHttp2Client(http2Settings)
        : makeHttp1Clients(url, connect, own, reuse);
    return {
      clients: new OriginClients(options.perHost, makeClient),
      pathPrefix: isAbsolute ? url.origin : '',
      hostname: url.hostname,
    };
  };
}
