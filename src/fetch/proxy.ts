/**
 * HTTP proxies: which request uses which proxy (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), and the CONNECT tunnel for https.
 * http requests go to the proxy in absolute form, over the fetcher's own clients; a proxy that is told the address (egress
 * guard) gets CONNECT for them, too. An error of the proxy has
 * PROXY_ERROR_CODE, so that it does not count against a site. Passwords never appear in messages.
 */
import { BlockList, isIPv4, isIPv6, type Socket } from 'node:net';
import { sumiError } from '../errors.ts';
import {
  type Dial,
  type DialCallback,
  type DialTarget,
  type FindAuthority,
  namedAuthority,
} from './connect.ts';
import { messageOf, PROXY_ERROR_CODE } from './failure.ts';

export interface ProxyOptions {
  http?: string;
  https?: string;
  no?: string;
}

export interface HttpProxy {
  url: URL;
  /** The value of Proxy-Authorization; null without user and password. */
  authorization: string | null;
}

/** The proxy for a URL, null for a direct connection. Throws at once for a proxy URL that cannot be used. */
export function createProxyChoice(options: ProxyOptions): (url: URL) => HttpProxy | null {
  const http = readProxy(options.http, 'proxy for http');
  const https = readProxy(options.https, 'proxy for https');
  if (http === null && https === null) return () => null;
  const isExempt = createNoProxyRule(options.no ?? '');
  return (url) => {
    const proxy = url.protocol === 'https:' ? https : http;
    return proxy === null || isExempt(url) ? null : proxy;
  };
}

function readProxy(value: string | undefined, place: string): HttpProxy | null {
  if (value === undefined || value.trim() === '') return null;
  const text = value.trim();
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
    if (!/^https?:$/.test(url.protocol)) throw new TypeError(`scheme ${url.protocol}`);
    const credentials = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    return {
      url,
      authorization: credentials === ':' ? null : `Basic ${Buffer.from(credentials).toString('base64')}`,
    };
  } catch {
    // The message of `new URL` contains its input, with the password, so it is not kept as the cause.
    throw sumiError('proxy-malformed', { value: text.replace(/[^/]*@/, ''), place });
  }
}

/**
 * NO_PROXY as curl reads it: a list with commas or spaces of `*`, names (with all their subdomains; a leading dot or
 * `*.` is allowed), addresses and IPv4 networks, each with an optional port.
 */
export function createNoProxyRule(list: string): (url: URL) => boolean {
  const names: { name: string; port: string | null }[] = [];
  const networks = new BlockList();
  let isAll = false;
  for (const entry of list.toLowerCase().split(/[\s,]+/)) {
    const network = /^(\d+\.\d+\.\d+\.\d+)\/(\d+)$/.exec(entry);
    if (entry === '') continue;
    if (entry === '*') isAll = true;
    else if (network) {
      // An invalid network (300.1.1.1/99) exempts nothing.
      if (isIPv4(network[1]) && Number(network[2]) <= 32) networks.addSubnet(network[1], Number(network[2]));
    } else names.push(readName(entry));
  }
  return (url) => {
    if (isAll) return true;
    const hostname = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
    const port = url.port || (url.protocol === 'https:' ? '443' : '80');
    if (isIPv4(hostname) && networks.check(hostname)) return true;
    return names.some(
      (rule) =>
        (rule.port === null || rule.port === port) &&
        (hostname === rule.name || (!isIPv4(hostname) && hostname.endsWith(`.${rule.name}`))),
    );
  };
}

function readName(entry: string): { name: string; port: string | null } {
  if (isIPv6(entry)) return { name: entry, port: null };
  const [, host, port] = /^(.*?)(?::(\d+))?$/.exec(entry)!;
  return { name: host.replace(/^\*?\./, '').replace(/^\[|\]$/g, ''), port: port ?? null };
}

function proxyError(message: string, cause?: unknown): Error {
  return Object.assign(new Error(message, { cause }), { code: PROXY_ERROR_CODE });
}

/** Connects to the proxy instead of the host, for requests in absolute form; only where an address for the host is found. */
export function dialProxy(dial: Dial, proxy: HttpProxy, findAuthority = namedAuthority): Dial {
  return whereFound(findAuthority, (target, _, callback) => connectToProxy(dial, proxy, target, callback));
}

/** Finds the authority before anything is connected to. */
function whereFound(
  findAuthority: FindAuthority,
  open: (target: DialTarget, authority: string, callback: DialCallback) => ReturnType<Dial>,
): Dial {
  return (target, callback) => {
    let attempt: ReturnType<Dial> | null = null;
    let isAborted = false;
    findAuthority(target, (error, authority) => {
      if (isAborted) return;
      if (error) callback(error, null);
      else attempt = open(target, authority, callback);
    });
    return {
      abort(error) {
        isAborted = true;
        attempt?.abort(error);
      },
    };
  };
}

function connectToProxy(
  dial: Dial,
  { url }: HttpProxy,
  { onread }: Pick<DialTarget, 'onread'>,
  callback: DialCallback,
): ReturnType<Dial> {
  const { protocol, port } = url;
  const hostname = url.hostname.replace(/^\[|\]$/g, '');
  return dial({ hostname, protocol, port, onread }, (...result) => {
    const [error, socket] = result;
    if (error) callback(proxyError(`proxy ${url.host}: ${messageOf(error)}`, error), null);
    else callback(null, socket);
  });
}

/** Opens a tunnel through the proxy by CONNECT, then speaks with the host itself, with TLS for https. */
export function dialTunnel(dial: Dial, proxy: HttpProxy, findAuthority = namedAuthority): Dial {
  return whereFound(findAuthority, (options, authority, callback) => {
    // node:http reads the answer of the tunnel and the client continues from there, so our buffer is not used.
    const target = { ...options, onread: undefined };
    let attempt = connectToProxy(dial, proxy, target, (...result) => {
      const [error, socket] = result;
      if (error) return callback(error, null);
      openTunnel(socket, authority, proxy, (...opened) => {
        const [refused, tunnel] = opened;
        if (refused) callback(refused, null);
        else if (target.protocol === 'http:') callback(null, tunnel);
        else attempt = dial({ ...target, httpSocket: tunnel }, callback);
      });
    });
    return { abort: (error) => attempt.abort(error) };
  });
}

function openTunnel(
  socket: Socket,
  target: string,
  { url, authorization }: HttpProxy,
  callback: DialCallback,
): void {
  // Loaded with the first tunnel only.
  const request = process.getBuiltinModule('node:http').request({
    method: 'CONNECT',
    path: target,
    headers: { host: target, ...(authorization === null ? {} : { 'proxy-authorization': authorization }) },
    createConnection: () => socket,
    setHost: false,
  });
  request.once('error', (error) =>
    callback(proxyError(`proxy ${url.host}: ${messageOf(error)}`, error), null),
  );
  // For CONNECT every final answer comes here, also a refusal.
  request.once('connect', (answer, tunnel, head) => {
    const status = answer.statusCode ?? 0;
    if (status < 200 || status > 299) {
      tunnel.destroy();
      callback(proxyError(`proxy ${url.host} answered ${status} to CONNECT ${target}`), null);
      return;
    }
    if (head.length > 0) tunnel.unshift(head);
    callback(null, tunnel as Socket);
  });
  request.end();
}
